/* The pages of a column in a group, to values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "parquet/encodings.h"
#include "parquet/parquet_read.h"
#include "parquet/thrift_read.h"
#include "parquet/zstd_page.h"

/* Source of these numbers: parquet.thrift. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, PAGE_DATA_2 = 3 };
enum {
	PLAIN = 0,
	PLAIN_DICTIONARY = 2,
	DELTA_BINARY_PACKED = 5,
	DELTA_LENGTHS = 6,
	RLE_DICTIONARY = 8
};
enum { CODEC_NONE = 0, CODEC_SNAPPY = 1, CODEC_ZSTD = 6 };

/* What the pages of a column of a group may expand to. */
#define EXPANDED_MOST ((size_t)1 << 29)

struct page_head {
	int kind, encoding;
	bool packed;
	uint64_t size, stored, values;
	uint64_t definition_size, repetition_size; /* of version 2 */
};

struct column {
	const struct parquet_reader *reader;
	const struct parquet_leaf *leaf;
	const struct parquet_place *place;
	struct parquet_values *to;
	uint64_t *dictionary;
	uint32_t dictionary_count;
	bool has_dictionary;
	uint32_t *numbers; /* of a page: levels, places in the dictionary */
	uint64_t *plain;   /* of a page: its values, without those that are null */
	size_t expanded;
	const char **why;
};

static int refuse(const struct column *column, int code, const char *why)
{
	*column->why = why;
	return code;
}

static int damaged(const struct column *column)
{
	return refuse(column, -EBADMSG, "a page is damaged");
}

void tally_parquet_values_done(struct parquet_values *values)
{
	for (uint32_t i = 0; i < values->page_count; i++)
		free(values->pages[i]);
	free(values->pages);
	free(values->texts);
	free(values->values);
	free(values->definition);
	free(values->repetition);
	*values = (struct parquet_values){0};
}

/* --- pages --- */

static void read_of_kind(struct thrift_from *from, struct page_head *ret)
{
	bool second = ret->kind == PAGE_DATA_2;

	for (struct thrift_place place = {0}; thrift_next(from, &place);) {
		if (place.field == 1)
			ret->values = (uint64_t)thrift_number(from, &place);
		else if (place.field == (second ? 4 : 2))
			ret->encoding = (int)thrift_number(from, &place);
		else if (second && place.field == 5)
			ret->definition_size = (uint64_t)thrift_number(from, &place);
		else if (second && place.field == 6)
			ret->repetition_size = (uint64_t)thrift_number(from, &place);
		else if (second && place.field == 7) {
			ret->packed = place.type == THRIFT_TRUE;
		} else {
			tally_thrift_skip(from, place.type, 0);
		}
	}
}

static bool read_head(struct thrift_from *from, struct page_head *ret)
{
	*ret = (struct page_head){.kind = -1, .packed = true};
	for (struct thrift_place place = {0}; thrift_next(from, &place);) {
		if (place.field == 1)
			ret->kind = (int)thrift_number(from, &place);
		else if (place.field == 2)
			ret->size = (uint64_t)thrift_number(from, &place);
		else if (place.field == 3)
			ret->stored = (uint64_t)thrift_number(from, &place);
		else if (place.type == THRIFT_STRUCT &&
			 (place.field == 5 || place.field == 7 || place.field == 8))
			read_of_kind(from, ret);
		else
			tally_thrift_skip(from, place.type, 0);
	}
	return !from->failed && ret->size <= PARQUET_PAGE_MOST &&
	       ret->stored <= (uint64_t)(from->end - from->at);
}

/* The bytes of a page, which stay as long as the values do.  What is not compressed is borrowed. */
static int expand(struct column *column, const uint8_t *bytes, size_t stored, size_t size,
		  const uint8_t **ret)
{
	struct parquet_values *to = column->to;
	uint32_t room = array_room(to->page_room, to->page_count + 1, 8);
	uint8_t *page;
	int result = 0;

	if (column->place->codec == CODEC_NONE) {
		*ret = bytes;
		return stored == size ? 0 : damaged(column);
	}
	column->expanded += size;
	if (column->expanded > EXPANDED_MOST)
		return refuse(column, -EBADMSG, "a column of a group of rows is too large");
	if (room != to->page_room && !array_resize(&to->pages, room, sizeof(*to->pages)))
		return -ENOMEM;
	to->page_room = room;
	page = malloc(size + 1);
	if (!page)
		return -ENOMEM;
	to->pages[to->page_count++] = page;
	*ret = page;
	if (column->place->codec == CODEC_SNAPPY)
		result = tally_parquet_read_snappy(bytes, stored, page, size) ? 0 : -EBADMSG;
	else if (column->place->codec == CODEC_ZSTD)
		result = tally_parquet_expand(bytes, stored, page, size);
	else
		return refuse(column, -ENOTSUP,
			      "it is compressed by a method other than zstd and Snappy");
	return result == -ENOTSUP ? refuse(column, result, "this tally was built without libzstd")
	       : result           ? damaged(column)
				  : 0;
}

/* --- values --- */

static int add_text(struct parquet_values *to, const uint8_t *bytes, uint32_t size)
{
	uint32_t room = array_room(to->text_room, to->text_count + 1, 64);

	if (room != to->text_room && !array_resize(&to->texts, room, sizeof(*to->texts)))
		return -ENOMEM;
	to->text_room = room;
	to->texts[to->text_count++] = (struct parquet_text){bytes, size};
	return 0;
}

static int plain_texts(const struct column *column, const uint8_t *bytes, size_t size,
		       uint32_t count, uint64_t *ret)
{
	size_t at = 0;
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++) {
		uint32_t length = size - at >= 4 ? load_u32(bytes + at) : 0;

		if (size - at < 4 || length > size - at - 4)
			return damaged(column);
		ret[i] = column->to->text_count;
		result = add_text(column->to, bytes + at + 4, length);
		at += 4 + (size_t)length;
	}
	return result;
}

static uint64_t whole(double value)
{
	return value >= 0x1p63 ? INT64_MAX : value > -0x1p63 ? (uint64_t)(int64_t)value : 0;
}

static int plain_values(const struct column *column, const uint8_t *bytes, size_t size,
			uint32_t count, uint64_t *ret)
{
	enum parquet_stored stored = column->leaf->stored;
	size_t each = stored == PARQUET_STORED_I32 || stored == PARQUET_STORED_FLOAT ? 4 : 8;

	if (stored == PARQUET_STORED_BYTES)
		return plain_texts(column, bytes, size, count, ret);
	if (stored != PARQUET_STORED_I32 && stored != PARQUET_STORED_I64 &&
	    stored != PARQUET_STORED_FLOAT && stored != PARQUET_STORED_DOUBLE)
		return refuse(column, -ENOTSUP, "a column is neither a number nor a text");
	if (count * each > size)
		return damaged(column);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *at = bytes + i * each;

		if (stored == PARQUET_STORED_FLOAT) {
			float value;

			memcpy(&value, at, sizeof(value));
			ret[i] = whole((double)value);
		} else if (stored == PARQUET_STORED_DOUBLE) {
			double value;

			memcpy(&value, at, sizeof(value));
			ret[i] = whole(value);
		} else {
			ret[i] = each == 4 ? load_u32(at) : load_u64(at);
		}
	}
	return 0;
}

static int read_dictionary(struct column *column, const struct page_head *head,
			   const uint8_t *bytes)
{
	const uint8_t *page;
	int result;

	if (column->has_dictionary || head->values > PARQUET_VALUES_MOST ||
	    head->values > head->size / 4 + 1)
		return damaged(column);
	result = expand(column, bytes, head->stored, head->size, &page);
	if (result)
		return result;
	column->dictionary = calloc(head->values + 1, sizeof(*column->dictionary));
	if (!column->dictionary)
		return -ENOMEM;
	column->dictionary_count = (uint32_t)head->values;
	column->has_dictionary = true;
	return plain_values(column, page, head->size, column->dictionary_count, column->dictionary);
}

static int by_dictionary(const struct column *column, const uint8_t *bytes, size_t size,
			 uint32_t count)
{
	if (!count)
		return 0;
	if (!size || !column->has_dictionary ||
	    !tally_parquet_read_runs(bytes + 1, size - 1, bytes[0], count, column->numbers))
		return damaged(column);
	for (uint32_t i = 0; i < count; i++) {
		if (column->numbers[i] >= column->dictionary_count)
			return damaged(column);
		column->plain[i] = column->dictionary[column->numbers[i]];
	}
	return 0;
}

/* Lengths, and then all bytes. */
static int delta_texts(const struct column *column, const uint8_t *bytes, size_t size,
		       uint32_t count)
{
	size_t at;
	int result = 0;

	if (!tally_parquet_read_deltas(bytes, size, true, count, column->plain, &at))
		return damaged(column);
	for (uint32_t i = 0; i < count && !result; i++) {
		uint64_t length = column->plain[i];

		if (length > size - at)
			return damaged(column);
		column->plain[i] = column->to->text_count;
		result = add_text(column->to, bytes + at, (uint32_t)length);
		at += length;
	}
	return result;
}

static int read_values(const struct column *column, int encoding, const uint8_t *bytes, size_t size,
		       uint32_t count)
{
	enum parquet_stored stored = column->leaf->stored;
	size_t taken;

	if (encoding == PLAIN)
		return plain_values(column, bytes, size, count, column->plain);
	if (encoding == PLAIN_DICTIONARY || encoding == RLE_DICTIONARY)
		return by_dictionary(column, bytes, size, count);
	if (encoding == DELTA_LENGTHS && stored == PARQUET_STORED_BYTES)
		return delta_texts(column, bytes, size, count);
	if (encoding == DELTA_BINARY_PACKED &&
	    (stored == PARQUET_STORED_I32 || stored == PARQUET_STORED_I64))
		return tally_parquet_read_deltas(bytes, size, stored == PARQUET_STORED_I32, count,
						 column->plain, &taken)
			   ? 0
			   : damaged(column);
	return refuse(column, -ENOTSUP, "a page has an encoding that is not read");
}

/* --- levels --- */

/* Levels of a page; *at moves behind them.  Of version 1 their length is in front. */
static int read_levels(const struct column *column, unsigned most, uint32_t count,
		       const uint8_t **at, size_t *left, bool second, uint64_t size, uint8_t *ret)
{
	if (!most)
		return second && size ? damaged(column) : 0;
	if (!second) {
		if (*left < 4)
			return damaged(column);
		size = load_u32(*at);
		*at += 4;
		*left -= 4;
	}
	if (size > *left || !tally_parquet_read_runs(*at, (size_t)size, tally_parquet_bits(most),
						     count, column->numbers))
		return damaged(column);
	for (uint32_t i = 0; i < count; i++) {
		if (column->numbers[i] > most)
			return damaged(column);
		ret[i] = (uint8_t)column->numbers[i];
	}
	*at += size;
	*left -= size;
	return 0;
}

static int read_data(struct column *column, const struct page_head *head, const uint8_t *bytes)
{
	const struct parquet_leaf *leaf = column->leaf;
	struct parquet_values *to = column->to;
	bool second = head->kind == PAGE_DATA_2;
	uint32_t count = (uint32_t)head->values, present = count, taken = 0, first = to->count;
	const uint8_t *page = bytes, *at;
	size_t left = second ? head->stored : head->size, levels;
	int result = 0;

	if (head->values > column->place->values - first)
		return damaged(column);
	if (!second)
		result = expand(column, bytes, head->stored, head->size, &page);
	at = page;
	if (!result)
		result = read_levels(column, leaf->repetition_most, count, &at, &left, second,
				     head->repetition_size,
				     to->repetition ? to->repetition + first : NULL);
	if (!result)
		result = read_levels(column, leaf->definition_most, count, &at, &left, second,
				     head->definition_size,
				     to->definition ? to->definition + first : NULL);
	if (result)
		return result;
	levels = (size_t)(at - page);
	if (second && head->packed) {
		if (levels > head->size)
			return damaged(column);
		left = head->size - levels;
		result = expand(column, at, head->stored - levels, left, &at);
	}
	for (uint32_t i = 0; to->definition && i < count; i++)
		present -= to->definition[first + i] < leaf->definition_most;
	if (!result)
		result = read_values(column, head->encoding, at, left, present);
	for (uint32_t i = 0; i < count && !result; i++)
		to->values[first + i] =
		    to->definition && to->definition[first + i] < leaf->definition_most
			? 0
			: column->plain[taken++];
	to->count += count;
	return result;
}

static int read_pages(struct column *column)
{
	const struct parquet_place *place = column->place;
	struct thrift_from from = {.at = column->reader->bytes + place->at,
				   .end = column->reader->bytes + place->at + place->size};
	int result = 0;

	while (!result && column->to->count < place->values) {
		struct page_head head;

		if (!read_head(&from, &head))
			return damaged(column);
		if (head.kind == PAGE_DICTIONARY)
			result = read_dictionary(column, &head, from.at);
		else if (head.kind == PAGE_DATA || head.kind == PAGE_DATA_2)
			result = read_data(column, &head, from.at);
		from.at += head.stored;
	}
	return result;
}

int tally_parquet_column(const struct parquet_reader *reader, uint32_t group, int leaf,
			 struct parquet_values *ret, const char **ret_why)
{
	struct column column = {.reader = reader,
				.leaf = &reader->leaves[leaf],
				.place = &reader->groups[group].places[leaf],
				.to = ret,
				.why = ret_why};
	size_t count = column.place->values + 1;
	int result = -ENOMEM;

	*ret = (struct parquet_values){0};
	ret->values = malloc(count * sizeof(*ret->values));
	if (column.leaf->definition_most)
		ret->definition = malloc(count);
	if (column.leaf->repetition_most)
		ret->repetition = malloc(count);
	column.numbers = malloc(count * sizeof(*column.numbers));
	column.plain = malloc(count * sizeof(*column.plain));
	if (ret->values && column.numbers && column.plain &&
	    (ret->definition || !column.leaf->definition_most) &&
	    (ret->repetition || !column.leaf->repetition_most))
		result = read_pages(&column);
	free(column.numbers);
	free(column.plain);
	free(column.dictionary);
	if (result)
		tally_parquet_values_done(ret);
	return result;
}
