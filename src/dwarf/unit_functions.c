#include "dwarf/unit_functions.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "dwarf/dwarf_ranges.h"
#include "dwarf/unit_top.h"

/* Deeper entries are made to exhaust a reader, not to describe a program. */
#define DEPTH_LIMIT 256U

bool tally_unit_names_are_linkage(uint64_t language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_Fortran77:
	case DW_LANG_Pascal83:
	case DW_LANG_PLI:
	case DW_LANG_UPC:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

struct scan {
	const struct dwarf_unit *unit;
	const struct abbreviations *abbreviations;
	const struct dwarf_file *alternate;
	struct tally_budget *budget;
	struct unit_functions *functions;
};

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_entry_point;
}

static struct unit_function *add_function(struct scan *scan, int *error)
{
	struct unit_functions *functions = scan->functions;

	if (functions->count == functions->room) {
		size_t room = functions->room ? functions->room * 2 : 32;

		*error = -EFBIG;
		if (room >= UINT32_MAX ||
		    !budget_take(scan->budget, (room - functions->room) * sizeof(*functions->list)))
			return NULL;
		*error = -ENOMEM;
		if (!array_resize(&functions->list, room, sizeof(*functions->list)))
			return NULL;
		functions->room = room;
	}
	functions->list[functions->count] = (struct unit_function){.name = NULL};
	*error = 0;
	return &functions->list[functions->count++];
}

/* --- ranges --- */

/* Ranges that go on where one before ended, or end where one started, are one, as their sizes
 * decide which function is the innermost. */
struct range {
	uint64_t low, high;
};

struct ranges {
	struct scan *scan;
	uint32_t index; /* of the function */
	struct range few[32];
	size_t count;
	bool more; /* some were added already */
};

static bool is_joined(struct ranges *ranges, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < ranges->count; i++) {
		if (low == ranges->few[i].high) {
			ranges->few[i].high = high;
			return true;
		}
		if (high == ranges->few[i].low) {
			ranges->few[i].low = low;
			return true;
		}
	}
	return false;
}

static int take_range(void *context, uint64_t low, uint64_t high)
{
	struct ranges *ranges = context;
	int error = 0;

	if (low == high)
		return budget_take(ranges->scan->budget, DWARF_EMPTY_COST) ? 0 : -EFBIG;
	if (!budget_take(ranges->scan->budget, 3 * sizeof(struct tally_span)))
		return -EFBIG;
	if (is_joined(ranges, low, high))
		return 0;
	if (ranges->count == sizeof(ranges->few) / sizeof(ranges->few[0])) {
		const struct range *last = &ranges->few[--ranges->count]; /* it is final */

		ranges->more = true;
		error = tally_spans_add(&ranges->scan->functions->spans, last->low, last->high,
					ranges->index);
	}
	ranges->few[ranges->count++] = (struct range){.low = low, .high = high};
	return error;
}

static int add_ranges(struct scan *scan, const struct dwarf_place *place,
		      struct unit_function *function)
{
	struct ranges ranges = {.scan = scan, .index = (uint32_t)scan->functions->count - 1};
	int error = tally_dwarf_ranges(scan->unit, place, take_range, &ranges);

	if (error == -EBADMSG)
		error = 0; /* what was read until then counts */
	if (ranges.count) {
		function->low = ranges.few[0].low;
		function->high = ranges.few[0].high;
		function->scattered = ranges.count > 1 || ranges.more;
	}
	for (size_t i = 0; i < ranges.count && !error; i++)
		error = tally_spans_add(&scan->functions->spans, ranges.few[i].low,
					ranges.few[i].high, ranges.index);
	return error;
}

/* --- entries --- */

static void take_field(const struct scan *scan, const struct abbreviation_field *field,
		       const struct dwarf_value *value, struct unit_function *function,
		       struct dwarf_place *place)
{
	const char *name;

	switch (field->name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		name = tally_dwarf_text(value, scan->alternate);
		if (name) {
			function->name = name;
			function->linkage = true;
		}
		break;
	case DW_AT_name:
		name = tally_dwarf_text(value, scan->alternate);
		if (name && !function->linkage)
			function->name = name;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		/* the former goes before the latter */
		if ((value->class == CLASS_REFERENCE || value->class == CLASS_ALTERNATE) &&
		    (field->name == DW_AT_abstract_origin || !function->refers_class)) {
			function->refers = value->number;
			function->refers_class = (uint8_t)value->class;
		}
		break;
	case DW_AT_call_file:
		function->has_call_file = value->class == CLASS_CONSTANT;
		function->call_file =
		    value->number < UINT32_MAX ? (uint32_t)value->number : UINT32_MAX;
		break;
	case DW_AT_call_line:
		function->call_line = value->class == CLASS_CONSTANT ? (uint32_t)value->number : 0;
		break;
	default:
		tally_dwarf_place_take(place, field->name, value);
		break;
	}
}

/* *around: the number of the function that the entry is in, + 1; becomes the entry's own. */
static int take_function(struct scan *scan, struct dwarf_cursor *cursor,
			 const struct abbreviation *abbreviation, uint32_t *around)
{
	const struct abbreviation_field *fields = &scan->abbreviations->fields[abbreviation->first];
	struct unit_function read = {.inlined = abbreviation->tag == DW_TAG_inlined_subroutine};
	struct dwarf_place place = {.has_low = false};
	struct unit_function *function;
	int error;

	for (uint32_t i = 0; i < abbreviation->count; i++) {
		struct dwarf_value value = tally_dwarf_value(scan->unit, cursor, &fields[i]);

		take_field(scan, &fields[i], &value, &read, &place);
	}
	if (cursor->failed)
		return 0;
	if (!read.inlined && !place.has_low && !place.has_ranges) {
		*around = 0; /* a declaration, or what others are inlined instances of */
		return 0;
	}
	read.caller = read.inlined ? *around : 0;
	function = add_function(scan, &error);
	if (!function)
		return error;
	*function = read;
	*around = (uint32_t)scan->functions->count;
	return add_ranges(scan, &place, function);
}

static void pass(const struct scan *scan, struct dwarf_cursor *cursor,
		 const struct abbreviation *abbreviation)
{
	if (abbreviation->fixed != UINT32_MAX) {
		cursor_take(cursor, abbreviation->fixed);
		return;
	}
	for (uint32_t i = 0; i < abbreviation->count; i++)
		tally_dwarf_skip(scan->unit, cursor,
				 scan->abbreviations->fields[abbreviation->first + i].form);
}

/* Not only declared, or what others are inlined instances of: most functions of C++ are. */
static bool is_made(const struct abbreviation *abbreviation)
{
	return abbreviation->placed || abbreviation->tag == DW_TAG_inlined_subroutine;
}

static int scan_entries(struct scan *scan)
{
	struct dwarf_cursor cursor =
	    dwarf_cursor_of(scan->unit->file, DWARF_INFO, scan->unit->entries);
	uint32_t arounds[DEPTH_LIMIT] = {0}, depth = 0;
	int error = 0;

	if (cursor.failed)
		return 0;
	cursor.end = scan->unit->file->sections[DWARF_INFO].data + scan->unit->end;
	while (cursor_left(&cursor) && !error) {
		uint64_t code = cursor_uleb(&cursor);
		const struct abbreviation *abbreviation;
		uint32_t around;

		if (!code) {
			if (depth <= 1)
				break;
			depth--;
			continue;
		}
		abbreviation = tally_abbreviation_find(scan->abbreviations, code);
		if (!abbreviation)
			break;
		around = arounds[depth < DEPTH_LIMIT ? depth : DEPTH_LIMIT - 1];
		if (depth < DEPTH_LIMIT && is_function(abbreviation->tag)) {
			if (is_made(abbreviation)) {
				error = take_function(scan, &cursor, abbreviation, &around);
			} else {
				pass(scan, &cursor, abbreviation);
				around = 0;
			}
		} else {
			pass(scan, &cursor, abbreviation);
		}
		if (abbreviation->children && ++depth < DEPTH_LIMIT)
			arounds[depth] = around;
		if (!depth)
			break; /* the unit's entry has nothing in it */
	}
	return error;
}

int tally_unit_functions_read(const struct dwarf_unit *unit,
			      const struct abbreviations *abbreviations,
			      const struct dwarf_file *alternate, struct tally_budget *budget,
			      struct unit_functions *ret)
{
	struct scan scan = {unit, abbreviations, alternate, budget, ret};

	*ret = (struct unit_functions){0};
	return scan_entries(&scan);
}

void tally_unit_functions_done(struct unit_functions *functions)
{
	free(functions->list);
	tally_spans_done(&functions->spans);
	*functions = (struct unit_functions){0};
}
