#include "dwarf/abbreviations.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "base/table.h"

/* What of an entry has always the same size is passed over at once. */
static uint32_t fixed_size(const struct dwarf_unit *unit, const struct abbreviations *all,
			   const struct abbreviation *one)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < one->count; i++) {
		int of = tally_dwarf_form_size(unit, all->fields[one->first + i].form);

		if (of < 0 || size > UINT16_MAX)
			return UINT32_MAX;
		size += (uint32_t)of;
	}
	return size;
}

static bool has_room(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return true;
	if (count > UINT32_MAX / 2 || !array_resize(array, *room ? *room * 2 : 64, size))
		return false;
	*room = *room ? *room * 2 : 64;
	return true;
}

/* The fields of one, which end with two zeros. */
static int read_fields(struct dwarf_cursor *cursor, struct abbreviations *all,
		       struct abbreviation *one)
{
	one->first = (uint32_t)all->field_count;
	while (!cursor->failed) {
		uint64_t name = cursor_uleb(cursor), form = cursor_uleb(cursor);
		int64_t value = form == DW_FORM_implicit_const ? cursor_sleb(cursor) : 0;

		if (cursor->failed || name > UINT16_MAX || form > UINT16_MAX)
			return -EBADMSG;
		if (!name && !form)
			return 0;
		if (!has_room(&all->fields, all->field_count, &all->field_room,
			      sizeof(*all->fields)))
			return -ENOMEM;
		one->placed |= name == DW_AT_low_pc || name == DW_AT_ranges;
		all->fields[all->field_count++] =
		    (struct abbreviation_field){(uint16_t)name, (uint16_t)form, value};
		one->count++;
	}
	return -EBADMSG;
}

static int compare(const void *a, const void *b)
{
	const struct abbreviation *one = a, *other = b;

	return one->code < other->code ? -1 : one->code > other->code;
}

int tally_abbreviations_read(const struct dwarf_unit *unit, uint64_t code, uint64_t most,
			     struct abbreviations *ret, uint64_t *ret_read)
{
	struct dwarf_cursor cursor = dwarf_cursor_of(unit->file, DWARF_ABBREV, unit->abbreviations);
	const uint8_t *start = cursor.at;
	int error = 0;

	*ret = (struct abbreviations){.dense = true};
	*ret_read = 0;
	while (!error && !cursor.failed) {
		struct abbreviation one = {.code = cursor_uleb(&cursor)};
		uint64_t tag;

		if (!one.code || cursor.failed)
			break; /* a table may end where its section does */
		tag = cursor_uleb(&cursor);
		one.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
		one.children = cursor_u8(&cursor) == DW_CHILDREN_yes;
		error = read_fields(&cursor, ret, &one);
		if (!error && !has_room(&ret->list, ret->count, &ret->room, sizeof(*ret->list)))
			error = -ENOMEM;
		if (error)
			break;
		one.fixed = fixed_size(unit, ret, &one);
		ret->dense &= one.code == ret->count + 1;
		ret->list[ret->count++] = one;
		if ((uint64_t)(cursor.at - start) > most)
			error = -EFBIG;
		if (one.code == code)
			break;
	}
	*ret_read = cursor.at ? (uint64_t)(cursor.at - start) : 0;
	if (!ret->dense && ret->count)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare);
	return error;
}

void tally_abbreviations_done(struct abbreviations *abbreviations)
{
	free(abbreviations->list);
	free(abbreviations->fields);
	*abbreviations = (struct abbreviations){0};
}

const struct abbreviation *tally_abbreviation_find(const struct abbreviations *abbreviations,
						   uint64_t code)
{
	const struct abbreviation *list = abbreviations->list;
	size_t count = abbreviations->count, at = code - 1;

	if (!abbreviations->dense)
		at = SORTED_BOUND(middle, 0, count, list[middle].code < code);
	return at < count && list[at].code == code ? &list[at] : NULL;
}
