#include "unwind/cfi.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "unwind/cfi_program.h"
#include "unwind/cfi_sets.h"

/* Functions whose rules are compiled at once: some ten microseconds of work. */
#define GROUP_FUNCTIONS 16U
/* Of the offset of an entry: it is in .debug_frame. */
#define ENTRY_DEBUG (1U << 31)
/* There are far fewer different rules than bytes that describe them: they may take as many bytes
 * as the sections, and this number more; code with others is as if its entries were damaged. */
#define RULES_LEAST ((size_t)1 << 19)
#define RULES_MOST  ((size_t)1 << 26)

/* In place of the offset of a set. */
#define ROW_NONE    UINT32_MAX
#define ROW_DAMAGED (UINT32_MAX - 1)

const struct cfi_rules tally_cfi_none = {.cfa = {.how = CFI_UNDEFINED}};
const struct cfi_rules tally_cfi_damaged = {.cfa = {.how = CFI_UNDEFINED}};

const struct cfi_rules tally_cfi_outermost = {
    .cfa = {.column = 7, .how = CFI_REGISTER, .value = 8},
    .count = 1,
    .return_column = 16,
    .plain = true,
    .rules = {{.column = 16, .how = CFI_UNDEFINED}},
};

struct cfi_row {
	uint32_t from; /* address less the table's base; valid up to the next row */
	uint32_t set;  /* its offset; ROW_* */
};

struct cfi_group {
	size_t count;
	struct cfi_row rows[];
};

struct tally_cfi {
	struct cfi_section sections[2]; /* .eh_frame, .debug_frame */
	unsigned word;
	uint64_t base;     /* the first function's start */
	uint32_t *starts;  /* of functions, less the base, ascending */
	uint32_t *entries; /* where each is described; ENTRY_DEBUG */
	size_t count;
	_Atomic(struct cfi_group *) *groups; /* NULL: not compiled yet */
	size_t group_count;
	pthread_mutex_t lock; /* of what follows */
	struct cfi_window windows[2];
	struct cfi_entries commons;
	struct tally_buf code; /* instructions of one function: of its common part, its entry */
	struct cfi_sets sets;
	/* The common part that was run last, and its rules. */
	uint32_t last_common;
	int last_usable;
	struct cfi_state last_state;
	/* Rows of the group that is being compiled. */
	struct cfi_row *rows;
	size_t row_count, row_room, bytes;
};

static int add_row(struct tally_cfi *cfi, uint64_t from, uint32_t set)
{
	struct cfi_row *last = cfi->row_count ? &cfi->rows[cfi->row_count - 1] : NULL;

	if (last && last->set == set)
		return 0;
	/* Gaps that turned out empty. */
	if (last && last->from == from - cfi->base) {
		last->set = set;
		return 0;
	}
	if (!array_next(&cfi->rows, &cfi->row_room, cfi->row_count, 256, sizeof(*cfi->rows)))
		return -ENOMEM;
	cfi->rows[cfi->row_count++] =
	    (struct cfi_row){.from = (uint32_t)(from - cfi->base), .set = set};
	return 0;
}

struct taking {
	struct tally_cfi *cfi;
	const struct cfi_section *section;
	const struct cfi_common *common;
};

static int take_row(void *context, uint64_t from, uint64_t until, const struct cfi_state *state)
{
	const struct taking *taking = context;
	int64_t set =
	    tally_cfi_sets_add(&taking->cfi->sets, taking->section, taking->common, state);
	int result;

	(void)until;
	if (set == -ENOMEM)
		return -ENOMEM;
	result = add_row(taking->cfi, from, set < 0 ? ROW_DAMAGED : (uint32_t)set);
	/* Without room the rest of the function has no rules either. */
	return !result && set == -ENOSPC ? -EINVAL : result;
}

/* The rules at the start of all functions of a common part, whose instructions `code` begins with.
 */
static void run_common(struct tally_cfi *cfi, const struct cfi_section *code, uint32_t number,
		       uint32_t size)
{
	struct cfi_run run = {
	    .section = code, .common = &cfi->commons.commons[number], .word = cfi->word};
	uint64_t unused;

	if (cfi->last_common == number)
		return;
	cfi->last_common = number;
	cfi->last_state = (struct cfi_state){.cfa = {.how = CFI_UNDEFINED}};
	cfi->last_usable = tally_cfi_program_run(&run, (struct cfi_span){0, size}, 0, UINT64_MAX,
						 &cfi->last_state, &unused);
}

static int compile_function(struct tally_cfi *cfi, const struct cfi_section *entry,
			    const struct cfi_function *function, uint64_t next)
{
	uint64_t end = function->end < next ? function->end : next;
	const struct cfi_common *common = &cfi->commons.commons[function->common];
	uint32_t before = common->program.until - common->program.from;
	struct cfi_span program = {before + function->program.from,
				   before + function->program.until};
	struct cfi_section code;
	struct taking taking = {.cfi = cfi, .section = &code, .common = common};
	struct cfi_state state;
	struct cfi_run run = {.section = &code,
			      .common = common,
			      .initial = &cfi->last_state,
			      .word = cfi->word,
			      .row = take_row,
			      .context = &taking};
	uint64_t from = function->start;
	int result = -EINVAL;

	tally_buf_clear(&cfi->code);
	if (before)
		tally_buf_add(&cfi->code, cfi->commons.programs.data + common->program.from,
			      before);
	tally_buf_add(&cfi->code, entry->bytes, entry->size);
	if (cfi->code.failed)
		return -ENOMEM;
	code = (struct cfi_section){
	    .bytes = cfi->code.data, .size = cfi->code.size, .address = entry->address - before};
	run_common(cfi, &code, function->common, before);
	state = cfi->last_state;
	if (!cfi->last_usable)
		result = tally_cfi_program_run(&run, program, function->start, end, &state, &from);
	if (result == -EINVAL)
		result = from < end ? add_row(cfi, from, ROW_DAMAGED) : 0;
	return result || end == next ? result : add_row(cfi, end, ROW_NONE);
}

static int compile_at(struct tally_cfi *cfi, size_t index)
{
	bool debug = cfi->entries[index] & ENTRY_DEBUG;
	struct cfi_section entry;
	struct cfi_function function;
	uint64_t next = index + 1 < cfi->count ? cfi->base + cfi->starts[index + 1] : UINT64_MAX;
	int result = tally_cfi_entries_one(&cfi->commons, &cfi->windows[debug], debug, cfi->word,
					   cfi->entries[index] & ~ENTRY_DEBUG, &function, &entry);

	if (result)
		return result == -ENOENT ? 0 : result;
	return compile_function(cfi, &entry, &function, next);
}

static const struct cfi_group *compile_group(struct tally_cfi *cfi, size_t number)
{
	size_t first = number * GROUP_FUNCTIONS, until = first + GROUP_FUNCTIONS;
	struct cfi_group *group = NULL;
	int result = 0;

	cfi->row_count = 0;
	for (size_t i = first; i < until && i < cfi->count && !result; i++)
		result = compile_at(cfi, i);
	if (!result)
		group = malloc(sizeof(*group) + cfi->row_count * sizeof(*group->rows));
	if (!group)
		return NULL;
	group->count = cfi->row_count;
	if (group->count)
		memcpy(group->rows, cfi->rows, group->count * sizeof(*group->rows));
	cfi->bytes += sizeof(*group) + group->count * sizeof(*group->rows);
	atomic_store_explicit(&cfi->groups[number], group, memory_order_release);
	return group;
}

/* NULL: out of memory. */
static const struct cfi_group *group_at(struct tally_cfi *cfi, size_t number)
{
	const struct cfi_group *group =
	    atomic_load_explicit(&cfi->groups[number], memory_order_acquire);

	if (group)
		return group;
	pthread_mutex_lock(&cfi->lock);
	group = atomic_load_explicit(&cfi->groups[number], memory_order_relaxed);
	if (!group)
		group = compile_group(cfi, number);
	pthread_mutex_unlock(&cfi->lock);
	return group;
}

/* Keeps of each function where it starts and where it is described. */
static int take_functions(struct tally_cfi *cfi)
{
	struct cfi_entries *entries = &cfi->commons;
	const struct cfi_function *functions = entries->functions;
	size_t count = entries->function_count;

	cfi->base = count ? functions[0].start : 0;
	while (count && functions[count - 1].end - cfi->base > UINT32_MAX)
		count--;
	cfi->group_count = (count + GROUP_FUNCTIONS - 1) / GROUP_FUNCTIONS;
	cfi->starts = malloc(count * sizeof(*cfi->starts) + 1);
	cfi->entries = malloc(count * sizeof(*cfi->entries) + 1);
	cfi->groups = calloc(cfi->group_count + 1, sizeof(*cfi->groups));
	if (!cfi->starts || !cfi->entries || !cfi->groups)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		cfi->starts[i] = (uint32_t)(functions[i].start - cfi->base);
		cfi->entries[i] = functions[i].at | (functions[i].debug ? ENTRY_DEBUG : 0);
	}
	cfi->count = count;
	cfi->bytes = count * (sizeof(*cfi->starts) + sizeof(*cfi->entries)) +
		     cfi->group_count * sizeof(*cfi->groups);
	free(entries->functions);
	entries->functions = NULL;
	entries->function_count = entries->function_room = 0;
	return 0;
}

int tally_cfi_new(const struct cfi_section *eh_frame, const struct cfi_section *debug_frame,
		  unsigned word, struct tally_cfi **ret)
{
	struct tally_cfi *cfi = calloc(1, sizeof(*cfi));
	int result = 0;

	if (!cfi)
		return -ENOMEM;
	pthread_mutex_init(&cfi->lock, NULL);
	cfi->sections[0] = *eh_frame;
	cfi->sections[1] = *debug_frame;
	cfi->word = word;
	cfi->last_common = UINT32_MAX;
	cfi->sets.most = RULES_LEAST + eh_frame->size + debug_frame->size;
	if (cfi->sets.most > RULES_MOST)
		cfi->sets.most = RULES_MOST;
	for (int i = 0; i < 2 && !result; i++) {
		cfi->windows[i].section = &cfi->sections[i];
		if (cfi->sections[i].size)
			result = tally_cfi_entries_read(&cfi->commons, &cfi->sections[i], i, word);
	}
	if (!result)
		result = tally_cfi_entries_sort(&cfi->commons);
	if (!result)
		result = take_functions(cfi);
	if (result)
		tally_cfi_free(cfi);
	else
		*ret = cfi;
	return result;
}

void tally_cfi_free(struct tally_cfi *cfi)
{
	if (!cfi)
		return;
	for (size_t i = 0; cfi->groups && i < cfi->group_count; i++)
		free(atomic_load_explicit(&cfi->groups[i], memory_order_relaxed));
	free((void *)cfi->groups);
	free(cfi->starts);
	free(cfi->entries);
	free(cfi->rows);
	tally_cfi_entries_done(&cfi->commons);
	tally_buf_done(&cfi->code);
	for (int i = 0; i < 2; i++)
		tally_cfi_window_done(&cfi->windows[i]);
	tally_cfi_sets_done(&cfi->sets);
	pthread_mutex_destroy(&cfi->lock);
	free(cfi);
}

size_t tally_cfi_function_count(const struct tally_cfi *cfi)
{
	return cfi->count;
}

size_t tally_cfi_memory(struct tally_cfi *cfi)
{
	size_t bytes;

	pthread_mutex_lock(&cfi->lock);
	bytes = sizeof(*cfi) + cfi->bytes + cfi->row_room * sizeof(*cfi->rows) + cfi->sets.taken +
		cfi->sets.known.room * sizeof(*cfi->sets.known.slots) +
		cfi->commons.common_room * sizeof(*cfi->commons.commons) +
		cfi->commons.programs.room + cfi->code.room;
	for (int i = 0; i < 2; i++)
		bytes += cfi->windows[i].room + cfi->commons.known_commons[i].room *
						    sizeof(*cfi->commons.known_commons[i].slots);
	pthread_mutex_unlock(&cfi->lock);
	return bytes;
}

static const struct cfi_rules *rules_of(const struct tally_cfi *cfi, const struct cfi_row *row)
{
	if (row->set == ROW_NONE)
		return &tally_cfi_none;
	return row->set == ROW_DAMAGED ? &tally_cfi_damaged
				       : tally_cfi_sets_at(&cfi->sets, row->set);
}

const struct cfi_rules *tally_cfi_find_start(struct tally_cfi *cfi, uint64_t address,
					     bool *ret_begins)
{
	const uint32_t *starts = cfi->starts;
	const struct cfi_group *group;
	const struct cfi_row *rows;
	size_t count = cfi->count;
	uint64_t from = address - cfi->base;

	*ret_begins = true;
	if (!count || address < cfi->base || from > UINT32_MAX)
		return &tally_cfi_none;
	while (count > 1) {
		size_t half = count / 2;

		starts += starts[half] <= from ? half : 0;
		count -= half;
	}
	group = group_at(cfi, (size_t)(starts - cfi->starts) / GROUP_FUNCTIONS);
	if (!group || !group->count || group->rows[0].from > from)
		return group ? &tally_cfi_none : &tally_cfi_damaged;
	rows = group->rows;
	for (count = group->count; count > 1;) {
		size_t half = count / 2;

		rows += rows[half].from <= from ? half : 0;
		count -= half;
	}
	*ret_begins = rows->from == from;
	return rules_of(cfi, rows);
}

const struct cfi_rules *tally_cfi_find(struct tally_cfi *cfi, uint64_t address)
{
	bool begins;

	return tally_cfi_find_start(cfi, address, &begins);
}

int tally_cfi_each(struct tally_cfi *cfi,
		   int (*row)(void *context, uint64_t from, const struct cfi_rules *rules),
		   void *context)
{
	const struct cfi_rules *last = NULL;
	int result = 0;

	for (size_t number = 0; number < cfi->group_count && !result; number++) {
		const struct cfi_group *group = group_at(cfi, number);

		if (!group)
			return -ENOMEM;
		for (size_t i = 0; i < group->count && !result; i++) {
			const struct cfi_rules *rules = rules_of(cfi, &group->rows[i]);

			if (rules != last)
				result = row(context, cfi->base + group->rows[i].from, rules);
			last = rules;
		}
	}
	return result;
}
