#include "dwarf/unit_top.h"

#include <dwarf.h>
#include <errno.h>

const char *tally_dwarf_text(const struct dwarf_value *value, const struct dwarf_file *alternate)
{
	if (value->class == CLASS_TEXT)
		return value->text;
	if (value->class == CLASS_ALT_TEXT && alternate)
		return dwarf_text_at(alternate->sections[DWARF_STR], value->number);
	return NULL;
}

/* What numbers of the other fields are relative to; these stand in any order. */
static void take_base(struct dwarf_unit *unit, unsigned name, const struct dwarf_value *value)
{
	if (value->class != CLASS_CONSTANT)
		return;
	switch (name) {
	case DW_AT_str_offsets_base:
		unit->string_base = value->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->address_base = value->number;
		break;
	case DW_AT_rnglists_base:
		unit->list_base = value->number;
		break;
	case DW_AT_loclists_base:
		unit->location_base = value->number;
		break;
	case DW_AT_GNU_dwo_id:
		unit->id = value->number;
		break;
	default:
		break;
	}
}

static void take(struct unit_top *top, unsigned name, const struct dwarf_value *value,
		 const struct dwarf_file *alternate)
{
	switch (name) {
	case DW_AT_stmt_list:
		top->has_lines = value->class == CLASS_CONSTANT;
		top->lines = value->number;
		break;
	case DW_AT_comp_dir:
		top->folder = tally_dwarf_text(value, alternate);
		break;
	case DW_AT_language:
		top->language = value->number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		top->split_name = tally_dwarf_text(value, alternate);
		break;
	case DW_AT_GNU_ranges_base:
		top->split_ranges = value->number;
		break;
	default:
		tally_dwarf_place_take(&top->place, name, value);
		break;
	}
}

int tally_unit_top_read(struct dwarf_unit *unit, const struct abbreviations *abbreviations,
			const struct dwarf_file *alternate, struct unit_top *ret)
{
	struct dwarf_cursor start = dwarf_cursor_of(unit->file, DWARF_INFO, unit->entries), cursor;
	const struct abbreviation *abbreviation;
	struct unit_top top = {0};
	uint64_t low = 0;

	if (start.failed)
		return -EBADMSG;
	start.end = unit->file->sections[DWARF_INFO].data + unit->end;
	abbreviation = tally_abbreviation_find(abbreviations, cursor_uleb(&start));
	if (!abbreviation)
		return -EBADMSG;
	top.tag = abbreviation->tag;
	for (int turn = 0; turn < 2; turn++) {
		cursor = start;
		for (uint32_t i = 0; i < abbreviation->count; i++) {
			const struct abbreviation_field *field =
			    &abbreviations->fields[abbreviation->first + i];
			struct dwarf_value value = tally_dwarf_value(unit, &cursor, field);

			if (!turn)
				take_base(unit, field->name, &value);
			else
				take(&top, field->name, &value, alternate);
		}
		if (cursor.failed)
			return -EBADMSG;
	}
	if (top.place.has_low && tally_dwarf_address(unit, &top.place.low, &low))
		unit->low = low;
	*ret = top;
	return 0;
}
