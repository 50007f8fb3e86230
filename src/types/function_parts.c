/* The answers of one function: its entry, variables and code put together. */
#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "types/data_types_state.h"
#include "types/type_shape.h"

/* Ranges of a function's code, and bytes of one. */
#define RANGES_MOST 32
#define RANGE_MOST  (1U << 20)
/* Bytes of an answer. */
#define ANSWER_COST (sizeof(uint32_t) + sizeof(struct data_access))

struct range {
	uint64_t low, high;
};

struct ranges {
	struct range list[RANGES_MOST];
	size_t count;
};

/* --- variables of the program --- */

/* By its own unit; else by the symbol at the address, which the unit declares. */
static bool find_global(void *context, bool of_thread, int64_t address, type_ref *ret_type,
			uint64_t *ret_offset)
{
	const struct data_types *types = context;
	const struct unit_names *names = &types->unit->names;
	const struct unit_variable *variable;
	uint64_t at = (uint64_t)address, start = 0;
	const char *name;

	if (types->options.relocated)
		return false;
	if (of_thread && !tally_thread_place(types->program->symbol_file, address, &at))
		return false;
	variable = tally_unit_variable_at(names, of_thread, at);
	if (variable) {
		*ret_type = variable->type;
		*ret_offset = at - variable->address;
		return true;
	}
	name = tally_global_symbol_at(&types->globals, of_thread, at, &start);
	*ret_type = name ? tally_unit_variable_named(names, name) : 0;
	*ret_offset = at - start;
	return *ret_type != 0;
}

/* --- code --- */

static int take_range(void *context, uint64_t low, uint64_t high)
{
	struct ranges *ranges = context;

	if (low != high && ranges->count < RANGES_MOST)
		ranges->list[ranges->count++] = (struct range){low, high};
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->low < right->low ? -1 : left->low > right->low;
}

static int read_range(struct data_types *types, const struct range *range, struct code_blocks *ret)
{
	uint64_t size = range->high - range->low;
	uint8_t *bytes;
	int64_t got;
	int error = -ENOENT;

	size = size < RANGE_MOST ? size : RANGE_MOST;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	got = types->options.read(types->options.context, range->low - types->shift, bytes, size);
	if (got > 0)
		error = tally_code_blocks_add(ret, types->insns, bytes, (size_t)got, range->low);
	free(bytes);
	return error;
}

/* 0; -ENOENT: none can be read; -ENOMEM. */
static int read_code(struct data_types *types, const struct ranges *ranges, struct code_blocks *ret)
{
	uint64_t end = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->list[i];

		if (range->low < end)
			continue;
		end = range->high;
		if (read_range(types, range, ret) == -ENOMEM)
			return -ENOMEM;
	}
	return ret->insn_count ? tally_code_blocks_cut(ret) : -ENOENT;
}

/* --- answers --- */

struct function_part *tally_function_part_new(struct data_types *types, uint64_t low, uint64_t high,
					      enum access_outcome outcome)
{
	struct function_part *part = budget_take(&types->reader.budget, sizeof(*part))
					 ? tally_arena_alloc(&types->arena, sizeof(*part))
					 : NULL;

	if (part)
		*part =
		    (struct function_part){.low = low, .high = high, .outcome = (uint8_t)outcome};
	return part;
}

static struct data_access answer_of(struct data_types *types, const struct access_found *found)
{
	struct data_access answer = {.outcome = found->outcome};
	int64_t number;

	if (found->outcome != ACCESS_FOUND)
		return answer;
	number = tally_type_table_put(&types->table, &types->reader, found->type);
	if (number < 0)
		return (struct data_access){.outcome = ACCESS_NO_TYPE};
	answer.type = (uint32_t)number;
	answer.offset = found->offset;
	return answer;
}

static struct function_part *keep(struct data_types *types, const struct code_blocks *code,
				  const struct access_found *found, const struct range *range)
{
	struct function_part *part =
	    tally_function_part_new(types, range->low, range->high, ACCESS_NO_FUNCTION);
	size_t first = 0, last;

	while (first < code->insn_count && code->insns[first].address < range->low)
		first++;
	for (last = first; last < code->insn_count && code->insns[last].address < range->high;)
		last++;
	if (!part || first == last ||
	    !budget_take(&types->reader.budget, (last - first) * ANSWER_COST))
		return part;
	part->places = tally_arena_alloc(&types->arena, (last - first) * sizeof(*part->places));
	part->found = tally_arena_alloc(&types->arena, (last - first) * sizeof(*part->found));
	if (!part->places || !part->found)
		return NULL;
	for (size_t i = first; i < last; i++) {
		part->places[part->count] = (uint32_t)(code->insns[i].address - range->low);
		part->found[part->count++] = answer_of(types, &found[i]);
	}
	return part;
}

static struct function_part *analyse(struct data_types *types, const struct type_entry *function,
				     const struct ranges *ranges, const struct range *range)
{
	const struct access_globals globals = {.find = find_global, .context = types};
	struct function_variables variables = {0};
	struct code_blocks code = {0};
	struct access_found *found = NULL;
	struct function_part *part = NULL;
	struct access_function of = {
	    .reader = &types->reader,
	    .code = &code,
	    .variables = &variables,
	    .globals = &globals,
	    .entry = ranges->list[0].low,
	    .arm64 = types->options.machine.machine == EM_AARCH64,
	};
	int error = types->insns ? read_code(types, ranges, &code) : -ENOENT;

	(void)tally_dwarf_address(&function->unit->unit, &function->place.low, &of.entry);
	if (!error) {
		(void)tally_function_variables_read(&types->reader, function, &variables);
		found = calloc(code.insn_count + 1, sizeof(*found));
		error = found ? tally_access_types(&of, found) : -ENOMEM;
	}
	if (!error)
		part = keep(types, &code, found, range);
	else if (error == -ENOENT)
		part = tally_function_part_new(types, range->low, range->high, ACCESS_NO_CODE);
	free(found);
	tally_function_variables_done(&variables);
	tally_code_blocks_done(&code);
	return part;
}

/* The entry's first range is where it is entered, if it says no other. */
static struct function_part *make(struct data_types *types, const struct type_entry *function,
				  const struct ranges *ranges, const struct range *range)
{
	bool added;
	uint64_t *known = tally_map_put(&types->by_start, range->low, &added);
	struct function_part *part;

	if (!known)
		return NULL;
	if (!added)
		return (struct function_part *)(uintptr_t)*known;
	part = analyse(types, function, ranges, range);
	*known = (uintptr_t)part;
	return part;
}

struct function_part *tally_function_part(struct data_types *types, uint64_t address)
{
	type_ref ref = tally_unit_function_at(&types->unit->names, address);
	struct ranges ranges = {.count = 0};
	struct type_entry function;
	const struct range *range = NULL;

	types->reader.steps = FUNCTION_STEPS;
	if (!ref || !tally_type_entry(&types->reader, ref, &function))
		return tally_function_part_new(types, address, address + 1, ACCESS_NO_FUNCTION);
	(void)tally_dwarf_ranges(&function.unit->unit, &function.place, take_range, &ranges);
	qsort(ranges.list, ranges.count, sizeof(*ranges.list), by_low);
	for (size_t i = 0; i < ranges.count; i++)
		if (address >= ranges.list[i].low && address < ranges.list[i].high)
			range = &ranges.list[i];
	return range ? make(types, &function, &ranges, range)
		     : tally_function_part_new(types, address, address + 1, ACCESS_NO_FUNCTION);
}
