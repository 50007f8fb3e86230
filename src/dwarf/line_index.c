#include "dwarf/line_index.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dwarf/dwarf_ranges.h"
#include "dwarf/line_index_file.h"
#include "dwarf/unit_lines_build.h"
#include "dwarf/unit_top.h"

/* At most so many units without address ranges are searched for an address. */
#define UNPLACED_MOST 4096U

/* ns of this thread's processor time */
static uint64_t time_spent(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* --- from the program --- */

/* perf turns places into addresses by .text alone, wherever the place is. */
static uint64_t shift_of(const struct tally_elf *elf)
{
	const struct tally_elf_section *text = tally_elf_find(elf, ".text", SHT_NULL);

	return text ? text->header.sh_addr - text->header.sh_offset : 0;
}

static int take_program(struct line_index *index)
{
	struct tally_elf binary = {.fd = -1}, debug = {.fd = -1};
	int error = index->options.open(index->options.context, &binary, &debug);

	if (error)
		return error;
	error = tally_line_program_open(&index->program, &binary, &debug);
	if (error) {
		tally_elf_close(&binary);
		tally_elf_close(&debug);
		return error;
	}
	index->program_open = true;
	index->budget.left = index->allowed = index->program.allowed;
	return 0;
}

/* For its symbols. */
static int open_program(struct line_index *index)
{
	uint64_t start;
	int error;

	if (index->program_open)
		return 0;
	if (!index->options.open)
		return -ENOENT;
	start = time_spent(); /* a system call */
	error = take_program(index);
	index->spent += time_spent() - start;
	return error;
}

/* For its units, too. */
static int open_units(struct line_index *index)
{
	int error = open_program(index);
	uint64_t start;

	if (error || index->program.units_open)
		return error ? error : index->program.units_error;
	start = time_spent();
	error = tally_line_program_open_units(&index->program);
	index->budget.spent |= index->program.left_out;
	index->spent += time_spent() - start;
	return error;
}

static int read_ranges(struct line_index *index)
{
	const struct tally_elf *elf = index->program.symbol_file;

	index->ranges = calloc(elf->section_count + 1, sizeof(*index->ranges));
	if (!index->ranges)
		return -ENOMEM;
	for (size_t i = 1; i < elf->section_count; i++) {
		const GElf_Shdr *header = &elf->sections[i].header;

		/* those of .tbss are taken by what follows it */
		if (elf->sections[i].scn && header->sh_flags & SHF_ALLOC &&
		    !(header->sh_flags & SHF_TLS))
			index->ranges[index->range_count++] =
			    (struct line_range){header->sh_addr, header->sh_addr + header->sh_size};
	}
	return 0;
}

struct placing {
	struct line_index *index;
	uint32_t unit;
	bool placed;
};

static int place(void *context, uint64_t low, uint64_t high)
{
	struct placing *placing = context;

	if (low == high)
		return budget_take(&placing->index->budget, DWARF_EMPTY_COST) ? 0 : -EFBIG;
	placing->placed = true;
	if (!budget_take(&placing->index->budget, 2 * sizeof(struct tally_span)))
		return -EFBIG;
	return tally_spans_add(&placing->index->spans, low, high, placing->unit);
}

/* Where a unit's code is.  -EFBIG, -ENOMEM. */
static int read_unit(struct line_index *index, uint32_t number, uint64_t *left)
{
	const struct line_program *program = &index->program;
	struct placing placing = {index, number, false};
	struct line_unit *unit = &index->units[number];
	uint64_t offset = program->units.offsets[number], size;
	struct abbreviations abbreviations = {0};
	struct dwarf_unit found;
	struct dwarf_cursor first;
	struct unit_top top;
	int error = 0;

	*unit = (struct line_unit){.offset = offset, .state = LINE_UNIT_USELESS};
	if (tally_dwarf_unit_next(&program->file, &offset, &found) || found.type == DW_UT_type ||
	    found.type == DW_UT_partial)
		return 0;
	first = dwarf_cursor_of(&program->file, DWARF_INFO, found.entries);
	error = tally_abbreviations_read(&found, cursor_uleb(&first), *left, &abbreviations, &size);
	*left -= size < *left ? size : *left;
	if (!error)
		error =
		    tally_unit_top_read(&found, &abbreviations,
					program->has_alternate ? &program->alternate : NULL, &top);
	if (!error && top.has_lines &&
	    (top.tag == DW_TAG_compile_unit || top.tag == DW_TAG_skeleton_unit)) {
		unit->state = LINE_UNIT_UNREAD;
		error = tally_dwarf_ranges(&found, &top.place, place, &placing);
		unit->unplaced = !placing.placed;
	}
	tally_abbreviations_done(&abbreviations);
	return error == -EBADMSG ? 0 : error;
}

static int read_units(struct line_index *index)
{
	size_t count = index->program.units.count;
	uint64_t left = index->allowed; /* bytes of abbreviations to be read */
	int error = 0;

	if (!index->program.has_units || !count)
		return 0;
	if (!budget_take(&index->budget, count * sizeof(*index->units)))
		return 0;
	index->units = calloc(count, sizeof(*index->units));
	if (!index->units)
		return -ENOMEM;
	index->unit_count = count;
	for (size_t i = 0; i < count && !error; i++)
		error = read_unit(index, (uint32_t)i, &left);
	if (error == -EFBIG) { /* nothing of it is used */
		index->budget.spent = true;
		index->unit_count = 0;
		tally_spans_done(&index->spans);
		error = 0;
	}
	tally_spans_finish(&index->spans);
	return error;
}

static int make(struct line_index *index)
{
	int error = open_units(index);
	uint64_t start = time_spent();

	if (error)
		return error;
	index->base = index->program.base;
	index->shift =
	    shift_of(index->program.binary.elf ? &index->program.binary : &index->program.debug);
	error = read_ranges(index);
	if (!error)
		error = read_units(index);
	index->spent += time_spent() - start;
	return error;
}

int tally_line_index_open(struct line_index *index, const struct line_index_options *options)
{
	int error;

	*index = (struct line_index){.options = *options,
				     .lock = PTHREAD_MUTEX_INITIALIZER,
				     .ready = PTHREAD_COND_INITIALIZER,
				     .names = LINE_NAMES_INITIALIZER};
	error = tally_line_index_load(index);
	if (error && error != -ENOMEM)
		error = make(index);
	if (error)
		tally_line_index_close(index);
	return error;
}

/* What lacks a file that may be installed later is not kept. */
static bool is_worth_keeping(struct line_index *index)
{
	bool took_long = (index->changed && index->spent >= index->options.least) ||
			 tally_line_names_added(&index->names) >= LINE_INDEX_NAMES;

	return took_long && index->options.folder && index->options.id_size &&
	       !index->budget.spent && !index->program.lacks;
}

void tally_line_index_close(struct line_index *index)
{
	if (is_worth_keeping(index))
		(void)tally_line_index_save(index); /* else it is made again */
	for (size_t i = 0; i < index->unit_count; i++)
		free(index->units[i].made);
	free(index->units);
	free(index->ranges);
	tally_spans_done(&index->spans);
	if (index->program_open)
		tally_line_program_close(&index->program);
	tally_line_names_done(&index->names);
	tally_fs_unmap(&index->file);
	pthread_cond_destroy(&index->ready);
	pthread_mutex_destroy(&index->lock);
}

/* --- units --- */

/* Makes a unit's block, without the lock: the unit is busy. */
static int build(struct line_index *index, struct line_unit *unit, uint64_t allowed)
{
	uint64_t start = time_spent(), spent;
	void *block = NULL;
	size_t size = 0;
	int error;

	pthread_mutex_unlock(&index->lock);
	error = tally_unit_lines_build(&index->program, unit->offset, allowed, &block, &size);
	if (!error)
		error = tally_unit_lines_take(block, size, &unit->lines);
	spent = time_spent() - start;
	pthread_mutex_lock(&index->lock);
	index->spent += spent;
	unit->state = LINE_UNIT_USELESS;
	if (error == -EFBIG || (!error && !budget_take(&index->budget, size))) {
		index->budget.spent = true;
		free(block);
		error = 0;
	} else if (error) {
		free(block);
		index->changed |= error == -ENOENT;
	} else {
		unit->state = LINE_UNIT_READY;
		unit->checked = true;
		unit->block = unit->made = block;
		unit->size = size;
		index->changed = true;
	}
	pthread_cond_broadcast(&index->ready);
	return error == -ENOMEM ? error : 0;
}

/* The lock is held, and a unit that is not busy has its block or is useless after this.  0 or
 * -ENOMEM. */
static int need_unit(struct line_index *index, struct line_unit *unit)
{
	int error;

	while (unit->state == LINE_UNIT_BUSY)
		pthread_cond_wait(&index->ready, &index->lock);
	if (unit->state == LINE_UNIT_READY && !unit->checked) {
		unit->checked = true;
		if (tally_line_index_check(unit)) /* it is damaged: make it again */
			unit->state = LINE_UNIT_UNREAD;
	}
	if (unit->state != LINE_UNIT_UNREAD)
		return 0;
	error = open_units(index);
	if (error) {
		unit->state = LINE_UNIT_USELESS;
		return error == -ENOMEM ? error : 0;
	}
	unit->state = LINE_UNIT_BUSY;
	return build(index, unit, index->budget.left);
}

static int find_in(struct line_index *index, uint32_t number, uint64_t address,
		   struct line_found *ret)
{
	struct line_unit *unit = &index->units[number];
	int error = need_unit(index, unit);

	if (error)
		return error;
	if (unit->state != LINE_UNIT_READY || address < index->base ||
	    address - index->base > UINT32_MAX ||
	    !tally_unit_lines_find(&unit->lines, (uint32_t)(address - index->base), &ret->at))
		return -ENOENT;
	ret->lines = &unit->lines;
	return 0;
}

/* The units that say they hold the address, in the order of the file. */
static int find_placed(struct line_index *index, uint64_t address, struct line_found *ret)
{
	uint32_t looked_at = 0;

	for (uint64_t after = 0;;) {
		uint64_t next = UINT64_MAX;
		int error;

		for (const struct tally_span *span =
			 tally_spans_first(&index->spans, address, &looked_at);
		     span; span = tally_spans_next(&index->spans, span, address, &looked_at))
			if (span->index >= after && span->index < next)
				next = span->index;
		if (next == UINT64_MAX)
			return -ENOENT;
		error = find_in(index, (uint32_t)next, address, ret);
		if (error != -ENOENT)
			return error;
		after = next + 1;
	}
}

static int find_unplaced(struct line_index *index, uint64_t address, struct line_found *ret)
{
	unsigned looked_at = 0;

	for (uint32_t i = 0; i < index->unit_count && looked_at < UNPLACED_MOST; i++) {
		int error;

		if (!index->units[i].unplaced || index->units[i].state == LINE_UNIT_USELESS)
			continue;
		looked_at++;
		error = find_in(index, i, address, ret);
		if (error != -ENOENT)
			return error;
	}
	return -ENOENT;
}

static bool is_in_memory(const struct line_index *index, uint64_t address)
{
	for (size_t i = 0; i < index->range_count; i++)
		if (address >= index->ranges[i].low && address < index->ranges[i].high)
			return true;
	return false;
}

int tally_line_index_find(struct line_index *index, uint64_t address, struct line_found *ret)
{
	struct line_found found = {.lines = NULL};
	int error;

	pthread_mutex_lock(&index->lock);
	error = is_in_memory(index, address) ? find_placed(index, address, &found) : -ENOENT;
	if (error == -ENOENT && is_in_memory(index, address)) {
		error = find_unplaced(index, address, &found);
		if (error == -ENOENT)
			error = 0;
	}
	pthread_mutex_unlock(&index->lock);
	if (!error)
		*ret = found;
	return error;
}

int tally_line_index_unit(struct line_index *index, uint64_t address,
			  const struct line_program **ret, uint64_t *ret_offset)
{
	const struct tally_span *span;
	uint32_t looked_at = 0;
	int error;

	pthread_mutex_lock(&index->lock);
	error = open_units(index);
	if (!error && !index->program.has_units)
		error = -ENOENT;
	if (!error)
		error = tally_line_program_open_locations(&index->program);
	span = error ? NULL : tally_spans_first(&index->spans, address, &looked_at);
	if (span) {
		*ret = &index->program;
		*ret_offset = index->units[span->index].offset;
	}
	pthread_mutex_unlock(&index->lock);
	return error ? error : span ? 0 : -ENOENT;
}

const struct tally_line_symbol *tally_line_index_symbol(struct line_index *index, uint64_t address)
{
	const struct tally_line_symbol *symbol = NULL;
	uint32_t section;

	pthread_mutex_lock(&index->lock);
	if (!open_program(index)) {
		section = tally_line_section(index->program.symbol_file, address);
		if (section)
			symbol = tally_line_symbols_find(&index->program.symbols, section, address);
	}
	pthread_mutex_unlock(&index->lock);
	return symbol;
}

bool tally_line_index_is_short(struct line_index *index)
{
	bool spent;

	pthread_mutex_lock(&index->lock);
	spent = index->budget.spent;
	pthread_mutex_unlock(&index->lock);
	return spent;
}
