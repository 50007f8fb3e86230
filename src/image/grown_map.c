#include "image/grown_map.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "image/image_state.h"

void tally_grown_done(struct tally_grown_map *grown)
{
	tally_map_done(&grown->numbers);
	free(grown->by_row);
	free(grown->by_number);
	*grown = (struct tally_grown_map){0};
}

int64_t tally_grown_number(const struct tally_image *image, int64_t row)
{
	if (row < 0 || !image->grown.by_row)
		return row;
	return image->grown.by_row[row];
}

int64_t tally_grown_row(const struct tally_image *image, size_t number)
{
	const struct tally_grown_map *grown = &image->grown;

	if (!grown->by_row)
		return (int64_t)number;
	if (grown->by_number[number] == TALLY_GROWN_GONE)
		return -ENOENT;
	return grown->by_number[number];
}

size_t tally_grown_count(const struct tally_image *image)
{
	return image->grown.by_row ? image->grown.count : image->table->count;
}

/* The number of a name, a new one if need be; UINT32_MAX: out of memory. */
static uint32_t number_of(struct tally_grown_map *grown, uint32_t name)
{
	bool added;
	uint64_t *number = tally_map_put(&grown->numbers, (uint64_t)name + 1, &added);

	if (!number)
		return UINT32_MAX;
	if (!added)
		return (uint32_t)*number;
	if (grown->count == grown->room) {
		size_t room = grown->room ? grown->room * 2 : 256;

		if (room >= UINT32_MAX ||
		    !array_resize(&grown->by_number, room, sizeof(*grown->by_number)))
			return UINT32_MAX;
		grown->room = room;
	}
	grown->by_number[grown->count] = TALLY_GROWN_GONE;
	*number = grown->count++;
	return (uint32_t)*number;
}

/* The rows of a table have these numbers from now on. */
static int number_rows(struct tally_grown_map *grown, const struct tally_symbol_table *table)
{
	uint32_t *by_row = malloc((table->count + 1) * sizeof(*by_row));

	if (!by_row)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		by_row[i] = number_of(grown, table->names[i]);
		if (by_row[i] == UINT32_MAX) {
			free(by_row);
			return -ENOMEM;
		}
		grown->by_number[by_row[i]] = (uint32_t)i;
	}
	free(grown->by_row);
	grown->by_row = by_row;
	return 0;
}

/* Symbols that the next table lacks are shown by what this one says. */
static int keep_gone(struct tally_image *image, const struct tally_symbol_table *next, bool other)
{
	struct tally_grown_map *grown = &image->grown;
	uint8_t *stays = calloc(grown->count + 1, 1);
	int result = stays ? 0 : -ENOMEM;

	for (size_t i = 0; !result && !other && i < next->count; i++) {
		const uint64_t *number =
		    tally_map_find(&grown->numbers, (uint64_t)next->names[i] + 1);

		if (number)
			stays[*number] = 1;
	}
	for (size_t i = 0; !result && i < grown->count; i++) {
		if (stays[i] || grown->by_number[i] == TALLY_GROWN_GONE)
			continue;
		result = tally_shown_keep(image, i);
		grown->by_number[i] = TALLY_GROWN_GONE;
	}
	free(stays);
	return result;
}

int tally_grown_take(struct tally_image *image, struct tally_symbol_table *table, bool other)
{
	struct tally_grown_map *grown = &image->grown;
	int result = grown->by_row ? 0 : number_rows(grown, &image->own);

	if (!result)
		result = keep_gone(image, table, other);
	if (!result && other)
		tally_map_done(&grown->numbers);
	if (!result)
		result = number_rows(grown, table);
	if (!result)
		result = tally_shown_grow(&image->shown, grown->count);
	if (result) {
		tally_symbol_table_done(table);
		return result;
	}
	tally_symbol_table_done(&image->own);
	image->own = *table;
	tally_symbol_steps_done(&image->steps);
	tally_symbol_steps_init(&image->steps, image->table);
	return 0;
}
