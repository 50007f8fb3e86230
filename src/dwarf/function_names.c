#include "dwarf/function_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include "base/table.h"
#include "dwarf/unit_top.h"

/* What a function's entry may refer to before its name is found. */
#define REFER_LIMIT 16U

static bool is_reference(const struct dwarf_value *value)
{
	return value->class == CLASS_REFERENCE || value->class == CLASS_ALTERNATE;
}

static void close_unit(struct name_unit *unit)
{
	tally_abbreviations_done(&unit->abbreviations);
	*unit = (struct name_unit){.used = false};
}

/* The unit of a program that holds an entry, with its abbreviations. */
static struct name_unit *unit_of(struct function_names *names, bool alternate, uint64_t offset)
{
	const struct line_program *program = names->program;
	const struct dwarf_unit_list *list =
	    alternate ? &program->alternate_units : &program->units;
	struct name_unit *place;
	struct dwarf_unit unit;
	struct unit_top top;
	uint64_t read;
	int error;

	if ((alternate && !program->has_alternate) || !tally_dwarf_unit_around(list, offset, &unit))
		return NULL;
	place = &names->units[hash_u64(unit.offset * 2 + alternate) % NAME_UNITS];
	if (place->used && place->alternate == alternate && place->unit.offset == unit.offset)
		return place;
	if (place->used)
		close_unit(place);
	error =
	    tally_abbreviations_read(&unit, 0, names->budget->left, &place->abbreviations, &read);
	(void)budget_take(names->budget, read);
	if (error) {
		close_unit(place);
		return NULL;
	}
	place->used = true;
	place->alternate = alternate;
	if (!tally_unit_top_read(&unit, &place->abbreviations,
				 program->has_alternate ? &program->alternate : NULL, &top))
		place->names_are_linkage = tally_unit_names_are_linkage(top.language);
	place->unit = unit;
	return place;
}

struct entry {
	const char *name;
	bool is_linkers, names_are_linkage;
	struct dwarf_value next; /* what it refers to */
	bool alternate;          /* it is of the file that is shared */
};

static bool read_entry(struct function_names *names, const struct dwarf_value *reference,
		       bool alternate, struct entry *ret)
{
	const struct dwarf_file *shared =
	    names->program->has_alternate ? &names->program->alternate : NULL;
	const struct dwarf_unit *unit = names->unit;
	const struct abbreviations *abbreviations = names->abbreviations;
	struct entry entry = {.names_are_linkage = names->names_are_linkage};
	struct dwarf_value specification = {0};
	const struct abbreviation *abbreviation;
	struct dwarf_cursor cursor;

	entry.alternate = alternate || reference->class == CLASS_ALTERNATE;
	if (entry.alternate || reference->number < unit->offset || reference->number >= unit->end) {
		/* the units of a .dwo file do not refer to each other */
		struct name_unit *other =
		    unit->split ? NULL : unit_of(names, entry.alternate, reference->number);

		if (!other)
			return false;
		unit = &other->unit;
		abbreviations = &other->abbreviations;
		entry.names_are_linkage = other->names_are_linkage;
	}
	cursor = dwarf_cursor_of(unit->file, DWARF_INFO, reference->number);
	if (cursor.failed || reference->number < unit->entries)
		return false;
	cursor.end = unit->file->sections[DWARF_INFO].data + unit->end;
	abbreviation = tally_abbreviation_find(abbreviations, cursor_uleb(&cursor));
	for (uint32_t i = 0; abbreviation && i < abbreviation->count; i++) {
		const struct abbreviation_field *field =
		    &abbreviations->fields[abbreviation->first + i];
		struct dwarf_value value;
		const char *text;

		switch (field->name) {
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
		case DW_AT_name:
			value = tally_dwarf_value(unit, &cursor, field);
			text = entry.is_linkers ? NULL : tally_dwarf_text(&value, shared);
			if (text) {
				entry.name = text;
				entry.is_linkers = field->name != DW_AT_name;
			}
			break;
		case DW_AT_abstract_origin:
			entry.next = tally_dwarf_value(unit, &cursor, field);
			break;
		case DW_AT_specification:
			specification = tally_dwarf_value(unit, &cursor, field);
			break;
		default:
			tally_dwarf_skip(unit, &cursor, field->form);
			break;
		}
	}
	if (!is_reference(&entry.next))
		entry.next = specification;
	*ret = entry;
	return abbreviation && !cursor.failed;
}

/* Looks in the entry, then in what it is an instance or the definition of. */
static struct function_name follow(struct function_names *names, struct dwarf_value at)
{
	struct function_name name = {NULL, false, false};
	bool alternate = false;

	for (unsigned depth = 0; depth < REFER_LIMIT && is_reference(&at); depth++) {
		struct entry entry;

		if (!read_entry(names, &at, alternate, &entry))
			break;
		alternate = entry.alternate;
		if (entry.is_linkers)
			return (struct function_name){entry.name, true, true};
		if (entry.name && !name.text)
			name = (struct function_name){entry.name, entry.names_are_linkage, false};
		at = entry.next;
	}
	return name;
}

/* The same, made once. */
static struct function_name followed(struct function_names *names, const struct dwarf_value *at)
{
	uint64_t key = at->number * 2 + (at->class == CLASS_ALTERNATE);
	uint64_t *known = tally_map_find(&names->known, key);
	struct function_name found;
	bool added;

	if (known)
		return names->list[*known - 1];
	found = follow(names, *at);
	if (names->count == names->room) {
		size_t room = names->room ? names->room * 2 : 64;

		if (!budget_take(names->budget, (room - names->room) * 48) ||
		    !array_resize(&names->list, room, sizeof(*names->list)))
			return found; /* it is looked for again */
		names->room = room;
	}
	known = tally_map_put(&names->known, key, &added);
	if (known) {
		names->list[names->count++] = found;
		*known = names->count;
	}
	return found;
}

struct function_name tally_function_names_find(struct function_names *names,
					       const struct unit_function *function)
{
	const struct dwarf_value at = {.class = (enum dwarf_class)function->refers_class,
				       .number = function->refers};
	struct function_name own = {function->name, function->linkage, function->linkage}, other;

	own.linkage |= names->names_are_linkage;
	if (own.is_linkers || !is_reference(&at))
		return own;
	other = followed(names, &at);
	return other.is_linkers || !own.text ? other : own;
}

void tally_function_names_done(struct function_names *names)
{
	for (size_t i = 0; i < NAME_UNITS; i++)
		close_unit(&names->units[i]);
	tally_map_done(&names->known);
	free(names->list);
}
