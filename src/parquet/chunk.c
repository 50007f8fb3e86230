#include "parquet/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "parquet/element_list.h"
#include "parquet/encodings.h"
#include "parquet/thrift.h"
#include "parquet/zstd_page.h"

/* Source of these numbers: parquet.thrift. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };

int tally_parquet_chunk_grow(struct parquet_chunk *chunk)
{
	uint32_t room = array_room(chunk->room, chunk->count + 1, 1024);

	if (!array_resize(&chunk->values, room, sizeof(*chunk->values)))
		return -ENOMEM;
	chunk->room = room;
	for (uint32_t i = 0; !chunk->varies && i < chunk->count; i++)
		chunk->values[i] = chunk->only;
	chunk->varies = true;
	return 0;
}

static bool is_narrow(const struct parquet_chunk *chunk)
{
	return chunk->type == PARQUET_I32;
}

/* --- the least and the greatest value --- */

static int compare(const struct parquet_chunk *chunk, const struct tally_strings *texts,
		   uint64_t left, uint64_t right)
{
	uint32_t size, other;
	int order;

	if (chunk->type == PARQUET_U64)
		return left < right ? -1 : left > right;
	if (chunk->type != PARQUET_TEXT)
		return (int64_t)left < (int64_t)right ? -1 : (int64_t)left > (int64_t)right;
	if (left == right)
		return 0;
	size = texts->length[left];
	other = texts->length[right];
	order = memcmp(texts->text[left], texts->text[right], size < other ? size : other);
	return order ? order : size < other ? -1 : size > other;
}

/* A value's bytes in a dictionary and in the bounds; of a text without its length. */
static void put_value(const struct parquet_chunk *chunk, const struct tally_strings *texts,
		      uint64_t value, struct tally_buf *to)
{
	if (chunk->type == PARQUET_TEXT)
		tally_buf_add(to, texts->text[value], texts->length[value]);
	else if (is_narrow(chunk))
		tally_buf_u32(to, (uint32_t)value);
	else
		tally_buf_u64(to, value);
}

static void put_bounds(const struct parquet_chunk *chunk, const struct tally_strings *texts,
		       const uint64_t *distinct, uint32_t count, struct tally_buf *bounds,
		       struct parquet_written *ret)
{
	uint64_t least, most;

	if (!count)
		return;
	least = most = distinct[0];
	for (uint32_t i = 1; i < count; i++) {
		if (compare(chunk, texts, distinct[i], least) < 0)
			least = distinct[i];
		if (compare(chunk, texts, distinct[i], most) > 0)
			most = distinct[i];
	}
	ret->bounded = true;
	ret->least = (uint32_t)bounds->size;
	put_value(chunk, texts, least, bounds);
	ret->most = (uint32_t)bounds->size;
	ret->least_size = ret->most - ret->least;
	put_value(chunk, texts, most, bounds);
	ret->most_size = (uint32_t)bounds->size - ret->most;
}

/* --- pages --- */

/* A page with its header: the bytes are compressed into `to`.  `values`: as the header has them. */
static int put_page(const struct tally_buf *bytes, int kind, uint64_t values, int encoding,
		    struct tally_buf *to, struct parquet_written *ret)
{
	struct tally_buf packed = {0};
	int result = bytes->failed;
	size_t begin = to->size;

	if (!result)
		result = tally_parquet_compress(bytes->data ? bytes->data : (const uint8_t *)"",
						bytes->size, &packed);
	if (!result) {
		struct thrift header = {.to = to};

		thrift_i32(&header, 1, kind);
		thrift_i32(&header, 2, (int32_t)bytes->size);
		thrift_i32(&header, 3, (int32_t)packed.size);
		thrift_struct(&header, kind == PAGE_DATA ? 5 : 7);
		thrift_i32(&header, 1, (int32_t)values);
		thrift_i32(&header, 2, encoding);
		if (kind == PAGE_DATA) {
			thrift_i32(&header, 3, RLE); /* of the two kinds of levels */
			thrift_i32(&header, 4, RLE);
		}
		thrift_end(&header);
		thrift_stop(&header);
		ret->plain_size += to->size - begin + bytes->size;
		tally_buf_add(to, packed.data, packed.size);
		ret->size += to->size - begin;
		result = to->failed;
	}
	tally_buf_done(&packed);
	return result;
}

/* --- values by a dictionary --- */

/* Values that occur, in the order in which they come, and for each value of the chunk its place
 * among them. */
struct dictionary {
	uint64_t *distinct;
	uint32_t *places, count;
};

/* Gives up with `full` when the values of the dictionary alone take more than `most` bytes. */
static int make_dictionary(const struct parquet_chunk *chunk, size_t most, bool *full,
			   struct dictionary *ret)
{
	struct tally_map known = {0};
	size_t value_size = is_narrow(chunk) ? 4 : 8;
	/* Where all values are the first one, all places are 0. */
	uint32_t count = chunk->varies ? chunk->count : chunk->count != 0;
	uint32_t room = 0, place_of_last = 0;
	int result = 0;

	*ret = (struct dictionary){.places = calloc(chunk->count + 1U, sizeof(*ret->places))};
	if (!ret->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !*full; i++) {
		uint64_t value = parquet_chunk_value(chunk, i);
		uint32_t more;
		uint64_t *place;
		bool added;

		if (i && value == chunk->values[i - 1]) {
			ret->places[i] = place_of_last;
			continue;
		}
		place = tally_map_put(&known, value, &added);
		more = array_room(room, ret->count + 1, 256);
		if (!place ||
		    (more != room && !array_resize(&ret->distinct, more, sizeof(*ret->distinct)))) {
			result = -ENOMEM;
			break;
		}
		room = more;
		if (added) {
			*place = ret->count;
			ret->distinct[ret->count++] = value;
			*full = ret->count * value_size > most;
		}
		ret->places[i] = place_of_last = (uint32_t)*place;
	}
	tally_map_done(&known);
	return result;
}

static void dictionary_done(struct dictionary *dictionary)
{
	free(dictionary->distinct);
	free(dictionary->places);
}

static int put_dictionary_page(const struct parquet_chunk *chunk, const struct tally_strings *texts,
			       const struct dictionary *dictionary, struct tally_buf *to,
			       struct parquet_written *ret)
{
	struct tally_buf page = {0};
	int result;

	for (uint32_t i = 0; i < dictionary->count; i++) {
		if (chunk->type == PARQUET_TEXT)
			tally_buf_u32(&page, texts->length[dictionary->distinct[i]]);
		put_value(chunk, texts, dictionary->distinct[i], &page);
	}
	result = put_page(&page, PAGE_DICTIONARY, dictionary->count, PLAIN, to, ret);
	tally_buf_done(&page);
	return result;
}

/* The places of all values in the dictionary; of a list those of its elements. */
static int put_places(const struct dictionary *dictionary, const struct parquet_chunk *chunk,
		      const struct element_list *list, unsigned bits, struct tally_buf *to)
{
	uint32_t *places;

	tally_buf_byte(to, (uint8_t)bits);
	if (!list) {
		tally_parquet_runs(dictionary->places, chunk->count, bits, to);
		return to->failed;
	}
	places = array_new(list->count + 1ULL, sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++)
		places[i] = dictionary->places[list->numbers[i]];
	tally_parquet_runs(places, list->count, bits, to);
	free(places);
	return to->failed;
}

int tally_parquet_chunk_write(const struct parquet_chunk *chunk, const struct element_list *list,
			      const struct tally_strings *texts, struct parquet_pages *ret)
{
	bool may_differ = !list && chunk->varies && chunk->type != PARQUET_TEXT, by_deltas = false;
	struct tally_buf page = {0}, deltas = {0};
	struct parquet_written *written = &ret->written;
	struct dictionary dictionary = {.count = 0};
	unsigned bits;
	int result;

	*written = (struct parquet_written){.values = list ? list->level_count : chunk->count};
	if (list)
		tally_buf_add(&page, list->levels.data, list->levels.size);
	if (may_differ)
		tally_parquet_deltas(chunk->values, chunk->count, is_narrow(chunk), &deltas);
	result =
	    make_dictionary(chunk, may_differ ? deltas.size : SIZE_MAX, &by_deltas, &dictionary);
	bits = tally_parquet_bits(dictionary.count ? dictionary.count - 1 : 0);
	if (may_differ && !by_deltas)
		by_deltas = deltas.size < dictionary.count * (is_narrow(chunk) ? 4ULL : 8ULL) +
					      (size_t)chunk->count * bits / 8;
	if (!result)
		put_bounds(chunk, texts, by_deltas ? chunk->values : dictionary.distinct,
			   by_deltas ? chunk->count : dictionary.count, &ret->bounds, written);
	if (!result && !by_deltas) {
		written->has_dictionary = true;
		result = put_dictionary_page(chunk, texts, &dictionary, &ret->bytes, written);
		if (!result)
			result = put_places(&dictionary, chunk, list, bits, &page);
	} else if (!result) {
		tally_buf_add(&page, deltas.data, deltas.size);
		result = deltas.failed;
	}
	written->offset = ret->bytes.size;
	if (!result)
		result = put_page(&page, PAGE_DATA, written->values,
				  by_deltas ? DELTA_BINARY_PACKED : RLE_DICTIONARY, &ret->bytes,
				  written);
	dictionary_done(&dictionary);
	tally_buf_done(&deltas);
	tally_buf_done(&page);
	return result ? result : ret->bounds.failed;
}
