#include "types/type_reader.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include "dwarf/unit_top.h"

/* Origins of origins: a definition's declaration, an inlined function's abstract one. */
#define ORIGINS_MOST 4

void tally_type_reader_init(struct type_reader *reader, const struct line_program *program,
			    uint64_t allowed)
{
	*reader = (struct type_reader){.program = program, .budget.left = allowed};
}

void tally_type_reader_done(struct type_reader *reader)
{
	for (size_t i = 0; i < reader->units.room; i++) {
		struct type_unit *unit =
		    (struct type_unit *)(uintptr_t)reader->units.slots[i].value;

		if (reader->units.slots[i].key && unit)
			tally_abbreviations_done(&unit->abbreviations);
	}
	if (reader->units.has_zero && reader->units.zero_value)
		tally_abbreviations_done(
		    &((struct type_unit *)(uintptr_t)reader->units.zero_value)->abbreviations);
	tally_map_done(&reader->units);
	tally_arena_done(&reader->arena);
	*reader = (struct type_reader){0};
}

/* --- units --- */

static void read_unit(struct type_reader *reader, const struct dwarf_unit *found,
		      struct type_unit *unit)
{
	const struct dwarf_file *alternate =
	    reader->program->has_alternate ? &reader->program->alternate : NULL;
	uint64_t read = 0;
	struct unit_top top;
	int error;

	unit->unit = *found;
	error = tally_abbreviations_read(found, 0, reader->budget.left / 16, &unit->abbreviations,
					 &read);
	reader->no_memory |= error == -ENOMEM;
	unit->is_valid =
	    !error &&
	    budget_take(&reader->budget,
			unit->abbreviations.room * sizeof(*unit->abbreviations.list) +
			    unit->abbreviations.field_room * sizeof(*unit->abbreviations.fields)) &&
	    !tally_unit_top_read(&unit->unit, &unit->abbreviations, alternate, &top);
}

/* The unit around an entry; NULL: none, or it is damaged. */
static const struct type_unit *unit_of(struct type_reader *reader, type_ref ref)
{
	bool other = ref & TYPE_REF_ALTERNATE, added;
	uint64_t offset = (ref & ~TYPE_REF_ALTERNATE) - 1, *known;
	struct dwarf_unit found;
	struct type_unit *unit;

	if (!ref || (other && !reader->program->has_alternate) ||
	    !tally_dwarf_unit_around(other ? &reader->program->alternate_units
					   : &reader->program->units,
				     offset, &found) ||
	    offset < found.entries)
		return NULL;
	known = tally_map_put(&reader->units, found.offset * 2 + other, &added);
	if (!known) {
		reader->no_memory = true;
		return NULL;
	}
	unit = (struct type_unit *)(uintptr_t)*known;
	if (!unit) {
		unit = budget_take(&reader->budget, sizeof(*unit))
			   ? tally_arena_alloc(&reader->arena, sizeof(*unit))
			   : NULL;
		if (!unit)
			return NULL;
		*known = (uintptr_t)unit;
		read_unit(reader, &found, unit);
	}
	return unit->is_valid ? unit : NULL;
}

/* --- entries --- */

static type_ref ref_of(const struct type_entry *entry, const struct dwarf_value *value)
{
	if (value->class == CLASS_REFERENCE && value->number < TYPE_REF_ALTERNATE - 1)
		return (value->number + 1) | (entry->self & TYPE_REF_ALTERNATE);
	if (value->class == CLASS_ALTERNATE && value->number < TYPE_REF_ALTERNATE - 1)
		return (value->number + 1) | TYPE_REF_ALTERNATE;
	return 0;
}

/* Before version 4 an offset may be an expression that adds it.  Source: DWARF 3, 5.6.6. */
static bool member_offset(const struct type_entry *entry, const struct dwarf_value *value,
			  uint64_t *ret)
{
	struct dwarf_cursor cursor;

	if (value->class == CLASS_CONSTANT) {
		*ret = value->number;
		return true;
	}
	if (value->class != CLASS_BLOCK)
		return false;
	cursor = cursor_at((struct dwarf_bytes){value->block, (size_t)value->number}, 0,
			   entry->unit->unit.file->swap);
	if (cursor_u8(&cursor) != DW_OP_plus_uconst)
		return false;
	*ret = cursor_uleb(&cursor);
	return !cursor.failed && !cursor_left(&cursor);
}

static void take_bits(struct type_entry *entry, unsigned name, uint64_t number)
{
	if (name == DW_AT_bit_size) {
		entry->bits = number;
		entry->has_bits = true;
	} else if (number < UINT32_MAX) { /* DW_AT_data_bit_offset */
		entry->bit_offset = number % 8;
		entry->offset = number / 8;
		entry->has_offset = true;
	}
}

static void take_number(struct type_entry *entry, unsigned name, const struct dwarf_value *value)
{
	if (name == DW_AT_data_member_location) {
		entry->has_offset |= member_offset(entry, value, &entry->offset);
		return;
	}
	if (value->class != CLASS_CONSTANT)
		return;
	switch (name) {
	case DW_AT_declaration:
		entry->declaration = value->number != 0;
		break;
	case DW_AT_byte_size:
		entry->has_size = true;
		entry->size = value->number;
		break;
	case DW_AT_bit_size:
	case DW_AT_data_bit_offset:
		take_bits(entry, name, value->number);
		break;
	case DW_AT_count:
		entry->has_count = true;
		entry->count = value->number;
		break;
	case DW_AT_upper_bound: /* of an array without elements it is -1 */
		entry->has_count = true;
		entry->count = value->number + 1;
		break;
	default:
		break;
	}
}

static void take_reference(struct type_entry *entry, unsigned name, const struct dwarf_value *value)
{
	type_ref ref = ref_of(entry, value);

	switch (name) {
	case DW_AT_type:
		entry->type = ref;
		break;
	case DW_AT_specification:
		entry->origin = entry->origin ? entry->origin : ref;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_call_origin:
		entry->origin = ref;
		break;
	case DW_AT_sibling:
		entry->sibling = ref;
		break;
	default:
		break;
	}
}

static void take_field(struct type_entry *entry, const struct dwarf_file *alternate, unsigned name,
		       const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_name:
		entry->name = tally_dwarf_text(value, alternate);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		entry->linkage_name = tally_dwarf_text(value, alternate);
		break;
	case DW_AT_location:
	case DW_AT_frame_base:
		entry->location = *value;
		break;
	case DW_AT_call_return_pc:
		entry->returns = *value;
		break;
	case DW_AT_const_value:
		entry->constant = *value;
		break;
	default:
		tally_dwarf_place_take(&entry->place, name, value);
		take_number(entry, name, value);
		take_reference(entry, name, value);
		break;
	}
}

/* False: nothing there, of a unit that was found. */
static bool read_entry(struct type_reader *reader, const struct type_unit *unit, type_ref ref,
		       struct type_entry *ret)
{
	const struct dwarf_file *file = unit->unit.file;
	const struct dwarf_file *alternate =
	    reader->program->has_alternate && !(ref & TYPE_REF_ALTERNATE)
		? &reader->program->alternate
		: NULL;
	uint64_t offset = (ref & ~TYPE_REF_ALTERNATE) - 1;
	struct dwarf_cursor cursor = dwarf_cursor_of(file, DWARF_INFO, offset);
	const struct abbreviation *abbreviation;
	struct type_entry entry = {.self = ref, .unit = unit};

	if (!reader->steps || cursor.failed || offset < unit->unit.entries ||
	    offset >= unit->unit.end)
		return false;
	reader->steps--;
	cursor.end = file->sections[DWARF_INFO].data + unit->unit.end;
	abbreviation = tally_abbreviation_find(&unit->abbreviations, cursor_uleb(&cursor));
	if (!abbreviation)
		return false;
	entry.tag = abbreviation->tag;
	entry.children = abbreviation->children;
	for (uint32_t i = 0; i < abbreviation->count; i++) {
		const struct abbreviation_field *field =
		    &unit->abbreviations.fields[abbreviation->first + i];
		struct dwarf_value value = tally_dwarf_value(&unit->unit, &cursor, field);

		take_field(&entry, alternate, field->name, &value);
	}
	if (cursor.failed)
		return false;
	entry.next = (uint64_t)(cursor.at - file->sections[DWARF_INFO].data);
	*ret = entry;
	return true;
}

bool tally_type_entry(struct type_reader *reader, type_ref ref, struct type_entry *ret)
{
	const struct type_unit *unit = unit_of(reader, ref);

	return unit && read_entry(reader, unit, ref, ret);
}

static type_ref ref_at(const struct type_entry *entry, uint64_t offset)
{
	return (offset + 1) | (entry->self & TYPE_REF_ALTERNATE);
}

bool tally_type_unit_top(struct type_reader *reader, uint64_t offset, struct type_entry *ret)
{
	struct dwarf_unit unit;

	return tally_dwarf_unit_around(&reader->program->units, offset, &unit) &&
	       tally_type_entry(reader, unit.entries + 1, ret);
}

bool tally_type_child(struct type_reader *reader, const struct type_entry *entry,
		      struct type_entry *ret)
{
	return entry->children && read_entry(reader, entry->unit, ref_at(entry, entry->next), ret);
}

bool tally_type_walk(struct type_reader *reader, const struct type_entry *entry, uint32_t *depth,
		     struct type_entry *ret)
{
	const struct type_unit *unit = entry->unit;
	struct dwarf_cursor cursor = dwarf_cursor_of(unit->unit.file, DWARF_INFO, entry->next);

	if (cursor.failed)
		return false;
	*depth += entry->children;
	cursor.end = unit->unit.file->sections[DWARF_INFO].data + unit->unit.end;
	while (cursor_left(&cursor) && !*cursor.at) { /* a list of children ends */
		cursor_u8(&cursor);
		if (!*depth)
			return false;
		--*depth;
	}
	return cursor_left(&cursor) &&
	       read_entry(reader, unit,
			  ref_at(entry, (uint64_t)(cursor.at -
						   unit->unit.file->sections[DWARF_INFO].data)),
			  ret);
}

bool tally_type_sibling(struct type_reader *reader, const struct type_entry *entry,
			struct type_entry *ret)
{
	struct type_entry at = *entry;
	uint32_t depth = 1;

	if (!entry->children)
		return read_entry(reader, entry->unit, ref_at(entry, entry->next), ret);
	if (entry->sibling > entry->self && !((entry->sibling ^ entry->self) & TYPE_REF_ALTERNATE))
		return read_entry(reader, entry->unit, entry->sibling, ret);
	while (tally_type_walk(reader, &at, &depth, &at))
		if (depth <= 1) {
			*ret = at;
			return depth == 1;
		}
	return false;
}

void tally_type_complete(struct type_reader *reader, struct type_entry *entry)
{
	struct type_entry origin = *entry;

	for (int i = 0; i < ORIGINS_MOST && (!entry->name || !entry->type); i++) {
		if (!origin.origin || !tally_type_entry(reader, origin.origin, &origin))
			return;
		if (!entry->name)
			entry->name = origin.name;
		if (!entry->type)
			entry->type = origin.type;
	}
}
