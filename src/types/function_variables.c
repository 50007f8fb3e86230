#include "types/function_variables.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "base/table.h"
#include "dwarf/dwarf_locations.h"
#include "types/type_shape.h"

/* Entries in a function that are looked at, and how deep scopes are in each other. */
#define ENTRIES_MOST (1U << 20)
#define SCOPES_MOST  128

struct scan {
	struct type_reader *reader;
	struct function_variables *variables;
	struct location frame;       /* the function's frame base */
	const struct type_entry *of; /* the variable */
	/* The code of the innermost scope around it, for what has one location in all of it. */
	uint64_t low, high;
	int error;
};

struct held tally_held_address(struct type_reader *reader, type_ref type, int64_t offset)
{
	struct type_entry bare;
	struct held held = {.kind = HELD_POINTER, .offset = offset};
	uint64_t size = 0;

	held.type = tally_type_element(reader, type);
	if (!held.type)
		return (struct held){.kind = HELD_NOTHING};
	held.moved = tally_type_bare(reader, type, &bare) && bare.tag == DW_TAG_array_type;
	held.record = tally_type_bare(reader, held.type, &bare) && tally_type_is_record(&bare);
	if (tally_type_size(reader, held.type, &size) && size <= INT32_MAX)
		held.size = (uint32_t)size;
	if (held.moved && held.size)
		held.offset = offset % (int64_t)held.size;
	return held;
}

struct held tally_held_of_type(struct type_reader *reader, type_ref type)
{
	type_ref target = tally_type_target(reader, type);

	return target ? tally_held_address(reader, target, 0) : (struct held){.kind = HELD_NOTHING};
}

/* --- places --- */

static bool take_budget(struct scan *scan, size_t bytes)
{
	if (!budget_take(&scan->reader->budget, bytes))
		scan->error = -EFBIG;
	return !scan->error;
}

static void add_place(struct scan *scan, uint64_t low, uint64_t high, struct location location)
{
	struct function_variables *variables = scan->variables;
	struct variable_place place = {
	    .low = low, .high = high, .location = location, .type = scan->of->type};

	if (location.kind == LOCATION_REGISTER) {
		place.held = tally_held_of_type(scan->reader, place.type);
		if (place.held.kind == HELD_NOTHING || location.reg >= INSN_REGISTERS)
			return;
		/* the register is the variable's value less the offset */
		place.held.offset = (int64_t)(0 - (uint64_t)location.offset);
	} else if (!tally_type_size(scan->reader, place.type, &place.size) || !place.size) {
		return;
	}
	if (variables->count >= UINT32_MAX / 2 || !take_budget(scan, sizeof(place)))
		return;
	if (!array_next(&variables->places, &variables->room, variables->count, 64,
			sizeof(*variables->places))) {
		scan->error = -ENOMEM;
		return;
	}
	variables->places[variables->count++] = place;
}

static int take_location(void *context, uint64_t low, uint64_t high, struct dwarf_bytes expression)
{
	struct scan *scan = context;
	struct location location;

	if (!take_budget(scan, DWARF_EMPTY_COST))
		return scan->error;
	if (low == high)
		return 0;
	location = tally_location_parse(&scan->of->unit->unit, expression);
	if (location.kind == LOCATION_FUNCTION) {
		int64_t offset = location.offset;

		location = scan->frame;
		if (location.kind == LOCATION_REGISTER) /* the base is the register's value */
			location.kind = LOCATION_BASED;
		location.offset = (int64_t)((uint64_t)location.offset + (uint64_t)offset);
	}
	if (location.kind != LOCATION_REGISTER && location.kind != LOCATION_BASED &&
	    location.kind != LOCATION_FRAME)
		return 0;
	if (low == 0 && high == UINT64_MAX) {
		low = scan->low;
		high = scan->high;
	}
	add_place(scan, low, high, location);
	return scan->error;
}

static void add_variable(struct scan *scan, const struct type_entry *entry)
{
	struct type_entry variable = *entry;
	int error;

	if (entry->location.class == CLASS_NONE)
		return;
	tally_type_complete(scan->reader, &variable);
	if (!variable.type)
		return;
	scan->of = &variable;
	error = tally_dwarf_locations(&entry->unit->unit, &entry->location, take_location, scan);
	scan->of = NULL;
	if (error && error != -EBADMSG)
		scan->error = error;
}

/* --- calls --- */

static void add_call(struct scan *scan, const struct type_entry *entry)
{
	struct function_variables *variables = scan->variables;
	const struct dwarf_value *returns =
	    entry->returns.class != CLASS_NONE ? &entry->returns : &entry->place.low;
	struct call_result call;
	struct type_entry called;

	if (!entry->origin || !tally_dwarf_address(&entry->unit->unit, returns, &call.returns_to) ||
	    !tally_type_entry(scan->reader, entry->origin, &called))
		return;
	tally_type_complete(scan->reader, &called);
	call.type = called.type;
	if (!call.type || !take_budget(scan, sizeof(call)))
		return;
	if (!array_next(&variables->calls, &variables->call_room, variables->call_count, 32,
			sizeof(*variables->calls))) {
		scan->error = -ENOMEM;
		return;
	}
	variables->calls[variables->call_count++] = call;
}

/* --- all of it --- */

struct extent {
	uint64_t low, high;
};

static int widen(void *context, uint64_t low, uint64_t high)
{
	struct extent *extent = context;

	if (low == high)
		return 0;
	extent->low = low < extent->low ? low : extent->low;
	extent->high = high > extent->high ? high : extent->high;
	return 0;
}

/* From the first to the last of a scope's code; that around it where it says nothing. */
static struct extent extent_of(const struct type_entry *entry, struct extent around)
{
	struct extent extent = {UINT64_MAX, 0};

	if (entry->place.has_low || entry->place.has_ranges)
		tally_dwarf_ranges(&entry->unit->unit, &entry->place, widen, &extent);
	return extent.low < extent.high ? extent : around;
}

static int frame_base(void *context, uint64_t low, uint64_t high, struct dwarf_bytes expression)
{
	struct scan *scan = context;

	(void)low, (void)high;
	if (scan->frame.kind == LOCATION_UNKNOWN && expression.size)
		scan->frame = tally_location_parse(&scan->of->unit->unit, expression);
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct variable_place *left = a, *right = b;

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return left->high > right->high ? -1 : left->high < right->high;
}

static int by_return(const void *a, const void *b)
{
	const struct call_result *left = a, *right = b;

	return left->returns_to < right->returns_to ? -1 : left->returns_to > right->returns_to;
}

static void finish(struct scan *scan)
{
	struct function_variables *variables = scan->variables;

	if (variables->count)
		qsort(variables->places, variables->count, sizeof(*variables->places), by_low);
	if (variables->call_count)
		qsort(variables->calls, variables->call_count, sizeof(*variables->calls),
		      by_return);
	for (size_t i = 0; i < variables->count && !scan->error; i++) {
		const struct variable_place *place = &variables->places[i];
		struct tally_spans *spans = place->location.kind == LOCATION_REGISTER
						? &variables->in_registers[place->location.reg]
						: &variables->in_memory;

		scan->error = tally_spans_add(spans, place->low, place->high, (uint32_t)i);
	}
	for (int i = 0; i < INSN_REGISTERS; i++)
		tally_spans_finish(&variables->in_registers[i]);
	tally_spans_finish(&variables->in_memory);
}

static void take_entry(struct scan *scan, const struct type_entry *entry)
{
	switch (entry->tag) {
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
		add_variable(scan, entry);
		break;
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		add_call(scan, entry);
		break;
	default:
		break;
	}
}

bool tally_function_variables_read(struct type_reader *reader, const struct type_entry *function,
				   struct function_variables *ret)
{
	struct extent scopes[SCOPES_MOST] = {{0, 0}};
	struct scan scan = {.reader = reader, .variables = ret, .of = function};
	struct type_entry entry = *function;
	uint32_t depth = 0, entries = 0;

	*ret = (struct function_variables){0};
	scopes[0] = extent_of(function, (struct extent){0, UINT64_MAX});
	(void)tally_dwarf_locations(&function->unit->unit, &function->location, frame_base, &scan);
	while (!scan.error && entries++ < ENTRIES_MOST &&
	       tally_type_walk(reader, &entry, &depth, &entry) && depth) {
		struct extent around = scopes[depth < SCOPES_MOST ? depth - 1 : SCOPES_MOST - 1];

		scan.low = around.low;
		scan.high = around.high;
		take_entry(&scan, &entry);
		if (depth < SCOPES_MOST)
			scopes[depth] = extent_of(&entry, around);
	}
	finish(&scan);
	reader->no_memory |= scan.error == -ENOMEM;
	return !scan.error;
}

void tally_function_variables_done(struct function_variables *variables)
{
	for (int i = 0; i < INSN_REGISTERS; i++)
		tally_spans_done(&variables->in_registers[i]);
	tally_spans_done(&variables->in_memory);
	free(variables->places);
	free(variables->calls);
	*variables = (struct function_variables){0};
}

size_t tally_function_variables_from(const struct function_variables *variables, uint64_t address)
{
	return SORTED_BOUND(at, 0, variables->count, variables->places[at].low < address);
}

const struct call_result *tally_function_call(const struct function_variables *variables,
					      uint64_t returns_to)
{
	size_t low = SORTED_BOUND(at, 0, variables->call_count,
				  variables->calls[at].returns_to < returns_to);

	return low < variables->call_count && variables->calls[low].returns_to == returns_to
		   ? &variables->calls[low]
		   : NULL;
}
