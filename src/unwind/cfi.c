#include "unwind/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "base/table.h"
#include "unwind/cfi_program.h"

/* There are far fewer different rules than bytes that describe them: a file may have one rule for
 * each eight bytes of its sections, and this number more; what exceeds that is not read. */
#define RULES_LEAST      (1U << 14)
#define RULES_MOST       (1U << 22)
#define EXPRESSIONS_MOST (1U << 24)
#define SECTION_MOST     ((size_t)1 << 30)

struct compiling {
	struct tally_cfi *cfi;
	const struct cfi_section *section; /* of the current function */
	const struct cfi_common *common;
	size_t row_room, set_room, rule_room, expression_room;
	size_t rules_most;
	bool full; /* there were too many: no more are read */
	/* Equal ones are kept once: hash -> number or index, + 1. */
	struct tally_map sets, expressions;
};

/* Appends to an array that doubles. The new element, or NULL. */
static void *append(void *array, size_t count, size_t *room, size_t more, size_t size)
{
	void *list;

	if (count + more > *room) {
		size_t wanted = *room ? *room * 2 : 64;

		while (wanted < count + more)
			wanted *= 2;
		if (!array_resize(array, wanted, size))
			return NULL;
		*room = wanted;
	}
	memcpy(&list, array, sizeof(list));
	return (char *)list + count * size;
}

static int add_row(struct compiling *compiling, uint64_t from, uint32_t rules)
{
	struct tally_cfi *cfi = compiling->cfi;
	struct cfi_row *row;

	if (cfi->row_count && cfi->rows[cfi->row_count - 1].rules == rules)
		return 0;
	/* Gaps that turned out empty. */
	if (cfi->row_count && cfi->rows[cfi->row_count - 1].from == from - cfi->base) {
		cfi->rows[cfi->row_count - 1].rules = rules;
		return 0;
	}
	row = append(&cfi->rows, cfi->row_count, &compiling->row_room, 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = (struct cfi_row){.from = (uint32_t)(from - cfi->base), .rules = rules};
	cfi->row_count++;
	return 0;
}

/* The offset of an expression in the table's, equal ones once; below 0: -ENOMEM, or -EINVAL for too
 * many. */
static int64_t intern_expression(struct compiling *compiling, const struct cfi_rule *rule)
{
	struct tally_cfi *cfi = compiling->cfi;
	const uint8_t *bytes = compiling->section->bytes + rule->value;
	uint64_t hash = hash_mix(tally_hash_bytes(bytes, rule->length), rule->length), *known;
	uint8_t *to;
	bool added;

	if (!rule->length)
		return 0;
	known = tally_map_find(&compiling->expressions, hash);
	if (known && *known - 1 + rule->length <= cfi->expression_size &&
	    !memcmp(cfi->expressions + *known - 1, bytes, rule->length))
		return (int64_t)(*known - 1);
	if (cfi->expression_size + rule->length > EXPRESSIONS_MOST)
		return -EINVAL;
	to = append(&cfi->expressions, cfi->expression_size, &compiling->expression_room,
		    rule->length, 1);
	known = to ? tally_map_put(&compiling->expressions, hash, &added) : NULL;
	if (!known)
		return -ENOMEM;
	memcpy(to, bytes, rule->length);
	*known = cfi->expression_size + 1;
	cfi->expression_size += rule->length;
	return (int64_t)(*known - 1);
}

static int place_expression(struct compiling *compiling, struct cfi_rule *rule)
{
	int64_t at;

	if (rule->how != CFI_AT_EXPRESSION && rule->how != CFI_IS_EXPRESSION)
		return 0;
	at = intern_expression(compiling, rule);
	if (at < 0)
		return (int)at;
	rule->value = at;
	return 0;
}

static uint64_t rule_hash(uint64_t hash, const struct cfi_rule *rule)
{
	hash = hash_mix(hash, (uint64_t)rule->value);
	return hash_mix(hash,
			(uint64_t)rule->length << 16 | (uint64_t)rule->how << 8 | rule->column);
}

static bool rule_same(const struct cfi_rule *one, const struct cfi_rule *other)
{
	return one->column == other->column && one->how == other->how &&
	       one->length == other->length && one->value == other->value;
}

static bool set_same(const struct tally_cfi *cfi, const struct cfi_rules *known,
		     const struct cfi_rules *set, const struct cfi_rule *rules)
{
	if (known->count != set->count || known->return_column != set->return_column ||
	    known->signal != set->signal || !rule_same(&known->cfa, &set->cfa))
		return false;
	for (uint32_t i = 0; i < set->count; i++)
		if (!rule_same(&cfi->rules[known->first + i], &rules[i]))
			return false;
	return true;
}

static int64_t keep_set(struct compiling *compiling, struct cfi_rules *set,
			const struct cfi_rule *rules)
{
	struct tally_cfi *cfi = compiling->cfi;
	struct cfi_rules *to;
	struct cfi_rule *rules_to;

	if (cfi->rule_count + set->count > compiling->rules_most ||
	    cfi->set_count >= compiling->rules_most) {
		compiling->full = true;
		return -EINVAL;
	}
	if (set->count) {
		rules_to = append(&cfi->rules, cfi->rule_count, &compiling->rule_room, set->count,
				  sizeof(*rules_to));
		if (!rules_to)
			return -ENOMEM;
		memcpy(rules_to, rules, set->count * sizeof(*rules));
	}
	to = append(&cfi->sets, cfi->set_count, &compiling->set_room, 1, sizeof(*to));
	if (!to)
		return -ENOMEM;
	set->first = cfi->rule_count;
	*to = *set;
	cfi->rule_count += set->count;
	return cfi->set_count++;
}

/* The number of these rules; -EINVAL: they cannot be kept; -ENOMEM. */
static int64_t intern_state(struct compiling *compiling, const struct cfi_state *state)
{
	struct cfi_rules set = {.cfa = state->cfa,
				.return_column = compiling->common->return_column,
				.signal = compiling->common->signal};
	struct cfi_rule rules[CFI_COLUMNS];
	uint64_t hash = (uint64_t)set.return_column << 1 | set.signal, *known;
	int64_t number;
	int result = place_expression(compiling, &set.cfa);
	bool added;

	if (!result && set.cfa.how != CFI_REGISTER && set.cfa.how != CFI_IS_EXPRESSION)
		return -EINVAL; /* no instruction has set the CFA */
	hash = rule_hash(hash, &set.cfa);
	for (uint64_t left = state->changed; left && !result; left &= left - 1) {
		struct cfi_rule *rule = &rules[set.count++];

		*rule = state->rules[__builtin_ctzll(left)];
		result = place_expression(compiling, rule);
		hash = rule_hash(hash, rule);
	}
	if (result)
		return result;
	known = tally_map_put(&compiling->sets, hash, &added);
	if (!known)
		return -ENOMEM;
	if (*known && set_same(compiling->cfi, &compiling->cfi->sets[*known - 1], &set, rules))
		return (int64_t)(*known - 1);
	number = keep_set(compiling, &set, rules);
	if (number >= 0)
		*known = (uint64_t)number + 1;
	return number;
}

static int take_row(void *context, uint64_t from, uint64_t until, const struct cfi_state *state)
{
	struct compiling *compiling = context;
	int64_t number = compiling->full ? -EINVAL : intern_state(compiling, state);

	(void)until;
	if (number == -ENOMEM)
		return -ENOMEM;
	return add_row(compiling, from, number < 0 ? CFI_DAMAGED : (uint32_t)number);
}

/* The rules at the start of all functions of a common part. */
static int run_common(const struct cfi_section *section, const struct cfi_common *common,
		      unsigned word, struct cfi_state *ret)
{
	struct cfi_run run = {.section = section, .common = common, .word = word};
	uint64_t unused;

	*ret = (struct cfi_state){.cfa = {.how = CFI_UNDEFINED}};
	return tally_cfi_program_run(&run, common->program, 0, UINT64_MAX, ret, &unused);
}

static int compile_function(struct compiling *compiling, const struct cfi_function *function,
			    const struct cfi_state *initial, unsigned word, uint64_t end)
{
	struct cfi_state state = *initial;
	struct cfi_run run = {.section = compiling->section,
			      .common = compiling->common,
			      .initial = initial,
			      .word = word,
			      .row = take_row,
			      .context = compiling};
	uint64_t from = 0;
	int result =
	    tally_cfi_program_run(&run, function->program, function->start, end, &state, &from);

	if (result == -EINVAL)
		result = from < end ? add_row(compiling, from, CFI_DAMAGED) : 0;
	return result ? result : add_row(compiling, end, CFI_NONE);
}

static int compile_all(struct compiling *compiling, const struct cfi_entries *entries,
		       const struct cfi_section *eh_frame, const struct cfi_section *debug_frame,
		       unsigned word)
{
	struct tally_cfi *cfi = compiling->cfi;
	const struct cfi_common *last = NULL;
	struct cfi_state initial;
	int result = 0, usable = 0;

	cfi->base = entries->function_count ? entries->functions[0].start : 0;
	for (size_t i = 0; i < entries->function_count && !result; i++) {
		const struct cfi_function *function = &entries->functions[i];
		uint64_t end = function->end;

		if (i + 1 < entries->function_count && entries->functions[i + 1].start < end)
			end = entries->functions[i + 1].start;
		if (end - cfi->base > UINT32_MAX)
			break;
		compiling->section = function->debug ? debug_frame : eh_frame;
		compiling->common = &entries->commons[function->common];
		if (compiling->common != last) {
			last = compiling->common;
			usable = run_common(compiling->section, last, word, &initial);
		}
		if (usable) {
			result = add_row(compiling, function->start, CFI_DAMAGED);
			if (!result)
				result = add_row(compiling, end, CFI_NONE);
		} else {
			result = compile_function(compiling, function, &initial, word, end);
		}
	}
	return result;
}

int tally_cfi_compile(const struct cfi_section *eh_frame, const struct cfi_section *debug_frame,
		      unsigned word, struct tally_cfi *ret)
{
	struct tally_cfi cfi = {0};
	struct compiling compiling = {.cfi = &cfi};
	struct cfi_entries entries = {0};
	int result = 0;

	compiling.rules_most = RULES_LEAST + (eh_frame->size + debug_frame->size) / 8;
	if (compiling.rules_most > RULES_MOST)
		compiling.rules_most = RULES_MOST;
	if (eh_frame->bytes && eh_frame->size <= SECTION_MOST)
		result = tally_cfi_entries_read(&entries, eh_frame, false, word);
	if (!result && debug_frame->bytes && debug_frame->size <= SECTION_MOST)
		result = tally_cfi_entries_read(&entries, debug_frame, true, word);
	if (!result) {
		tally_cfi_entries_sort(&entries);
		result = compile_all(&compiling, &entries, eh_frame, debug_frame, word);
	}
	tally_cfi_entries_done(&entries);
	tally_map_done(&compiling.sets);
	tally_map_done(&compiling.expressions);
	if (result)
		tally_cfi_done(&cfi);
	else
		*ret = cfi;
	return result;
}

void tally_cfi_done(struct tally_cfi *cfi)
{
	free(cfi->rows);
	free(cfi->sets);
	free(cfi->rules);
	free(cfi->expressions);
	*cfi = (struct tally_cfi){0};
}

uint32_t tally_cfi_find(const struct tally_cfi *cfi, uint64_t address)
{
	const struct cfi_row *rows = cfi->rows;
	size_t count = cfi->row_count;
	uint64_t from = address - cfi->base;

	if (!count || address < cfi->base || from > UINT32_MAX)
		return CFI_NONE;
	while (count > 1) {
		size_t half = count / 2;

		rows += rows[half].from <= from ? half : 0;
		count -= half;
	}
	return rows->rules;
}
