#include "parquet/element_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "parquet/chunk.h"
#include "parquet/encodings.h"

void tally_element_list_done(struct element_list *list)
{
	free(list->values);
	free(list->slots);
	free(list->numbers);
	free(list->lengths);
	free(list->places);
	tally_buf_done(&list->levels);
	*list = (struct element_list){0};
}

/* --- elements --- */

static uint64_t hash_of(const struct element_list *list, const uint64_t *values)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < list->field_count; i++)
		hash = hash_mix(hash, values[i]);
	return hash;
}

static bool make_room(struct element_list *list)
{
	uint32_t room = array_room(list->known_room, list->known + 1, 256);

	if (room != list->known_room &&
	    !array_resize(&list->values, room, list->field_count * sizeof(*list->values)))
		return false;
	list->known_room = room;
	return true;
}

static bool make_slots(struct element_list *list)
{
	uint64_t *slots;

	if (list->slot_room == (uint64_t)list->known_room * 2)
		return true;
	if (list->known_room > UINT32_MAX / 4)
		return false;
	slots = tally_table_tagged(list->slots, list->slot_room, list->known_room * 2);
	if (!slots)
		return false;
	free(list->slots);
	list->slots = slots;
	list->slot_room = list->known_room * 2;
	return true;
}

int64_t tally_element_list_another(struct element_list *list, const uint64_t *values)
{
	if (list->known == UINT32_MAX || !make_room(list))
		return -ENOMEM;
	memcpy(&list->values[(size_t)list->known * list->field_count], values,
	       list->field_count * sizeof(*values));
	return list->known++;
}

int64_t tally_element_list_number(struct element_list *list, const uint64_t *values)
{
	uint32_t tag = (uint32_t)(hash_of(list, values) >> 32), at;
	size_t size = list->field_count * sizeof(*values);
	int64_t number;

	if (!make_room(list) || !make_slots(list))
		return -ENOMEM;
	for (at = tag & (list->slot_room - 1); list->slots[at];
	     at = (at + 1) & (list->slot_room - 1)) {
		uint32_t known = (uint32_t)list->slots[at] - 1;

		if (list->slots[at] >> 32 == tag &&
		    !memcmp(&list->values[(size_t)known * list->field_count], values, size))
			return known;
	}
	number = tally_element_list_another(list, values);
	if (number >= 0)
		list->slots[at] = (uint64_t)tag << 32 | list->known;
	return number;
}

/* --- lists --- */

int tally_element_list_add(struct element_list *list, const uint32_t *numbers, uint32_t count)
{
	uint32_t room = array_room(list->room, list->count + count, 1024);
	uint32_t rows = array_room(list->row_room, list->rows + 1, 1024);

	if ((room != list->room && !array_resize(&list->numbers, room, sizeof(*list->numbers))))
		return -ENOMEM;
	list->room = room;
	if (rows != list->row_room && !array_resize(&list->lengths, rows, sizeof(*list->lengths)))
		return -ENOMEM;
	list->row_room = rows;
	if (count)
		memcpy(&list->numbers[list->count], numbers, count * sizeof(*numbers));
	list->count += count;
	list->lengths[list->rows++] = count;
	return 0;
}

/* Levels with their length in front. */
static void put_levels(struct element_list *list, const uint32_t *levels)
{
	size_t at = list->levels.size;

	tally_buf_u32(&list->levels, 0);
	tally_parquet_runs(levels, list->level_count, 1, &list->levels);
	if (!list->levels.failed)
		store_u32(list->levels.data + at, (uint32_t)(list->levels.size - at - 4));
}

/* Where rows begin (repetition 0), and which of them have elements (definition 1). */
static int make_levels(struct element_list *list)
{
	uint32_t *levels = array_new(list->count + (size_t)list->rows + 1, sizeof(*levels));
	uint32_t at = 0;

	if (!levels)
		return -ENOMEM;
	for (uint32_t row = 0; row < list->rows; row++) {
		levels[at++] = 0;
		for (uint32_t i = 1; i < list->lengths[row]; i++)
			levels[at++] = 1;
	}
	list->level_count = at;
	put_levels(list, levels);
	at = 0;
	for (uint32_t row = 0; row < list->rows; row++) {
		levels[at++] = list->lengths[row] > 0;
		for (uint32_t i = 1; i < list->lengths[row]; i++)
			levels[at++] = 1;
	}
	put_levels(list, levels);
	free(levels);
	return list->levels.failed;
}

int tally_element_list_finish(struct element_list *list, struct parquet_chunk *fields)
{
	uint32_t used = 0;
	int result = make_levels(list);

	if (!result && list->known &&
	    !array_reach(&list->places, &list->place_room, list->known - 1, 256,
			 sizeof(*list->places)))
		result = -ENOMEM;
	for (uint32_t i = 0; i < list->count && !result; i++) {
		uint32_t number = list->numbers[i], *place = &list->places[number];
		const uint64_t *values = &list->values[(size_t)number * list->field_count];

		for (uint32_t field = 0; field < list->field_count && !*place && !result; field++)
			result = parquet_chunk_add(&fields[field], values[field]);
		if (!*place)
			*place = ++used;
		list->numbers[i] = *place - 1;
	}
	return result;
}

void tally_element_list_next(struct element_list *list)
{
	if (list->place_room)
		memset(list->places, 0, list->place_room * sizeof(*list->places));
	tally_buf_clear(&list->levels);
	list->count = list->rows = list->level_count = 0;
}
