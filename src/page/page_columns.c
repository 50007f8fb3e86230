#include "page/page_columns.h"

#include <errno.h>
#include <string.h>
#include "base/json.h"
#include "base/pool.h"
#include "page/page_deflate.h"

static const char *const type_names[] = {[PAGE_U8] = "u8",
					 [PAGE_U16] = "u16",
					 [PAGE_U32] = "u32",
					 [PAGE_F64] = "f64",
					 [PAGE_TEXT] = "text"};

void tally_page_columns_add(struct page_columns *columns, const char *name, enum page_type type,
			    enum page_order order, struct page_values values)
{
	if (values.count && columns->count < PAGE_COLUMNS_MOST)
		columns->list[columns->count++] = (struct page_column){
		    .name = name, .type = type, .order = order, .values = values};
}

void tally_page_columns_texts(struct page_columns *columns, const char *name,
			      const struct tally_strings *texts)
{
	if (texts->count && columns->count < PAGE_COLUMNS_MOST)
		columns->list[columns->count++] = (struct page_column){
		    .name = name, .type = PAGE_TEXT, .values.count = texts->count, .texts = texts};
}

void tally_page_columns_product(struct page_columns *columns, const char *name, enum page_type type,
				struct page_values values, const char *times,
				struct page_values factors)
{
	if (values.count && columns->count < PAGE_COLUMNS_MOST)
		columns->list[columns->count++] = (struct page_column){.name = name,
								       .type = type,
								       .values = values,
								       .times = times,
								       .factors = factors};
}

static uint64_t value_at(const struct page_values *values, size_t at)
{
	const uint8_t *place = (const uint8_t *)values->list + at * values->stride + values->offset;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (values->width) {
	case 1:
		return *place;
	case 2:
		memcpy(&u16, place, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, place, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, place, sizeof(u64));
		return u64;
	}
}

#define LEB_MOST 10

static void put_leb(struct tally_buf *to, uint64_t value)
{
	uint8_t *at;

	if (tally_buf_reserve(to, LEB_MOST))
		return;
	at = to->data + to->size;
	while (value > 127) {
		*at++ = (uint8_t)(value | 128);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	to->size = (size_t)(at - to->data);
}

static uint64_t zigzag(uint64_t value, uint64_t before)
{
	uint64_t difference = value - before;

	return difference << 1 ^ (0 - (difference >> 63));
}

/* Each value that differs from the one before, as its zigzag difference, and how often it is there.
 */
static void encode_runs(const struct page_values *values, struct tally_buf *to)
{
	uint64_t before = 0;

	for (size_t i = 0, next; i < values->count; i = next) {
		uint64_t value = value_at(values, i);

		for (next = i + 1; next < values->count && value_at(values, next) == value;)
			next++;
		put_leb(to, zigzag(value, before));
		put_leb(to, next - i);
		before = value;
	}
}

/* Whether all values are the other column's, times the first one's constant. */
static bool is_product(const struct page_column *column, uint64_t *ret_constant)
{
	uint64_t factor = value_at(&column->factors, 0), constant;

	constant = factor ? value_at(&column->values, 0) / factor : 0;
	for (size_t i = 0; i < column->values.count; i++)
		if (value_at(&column->values, i) != value_at(&column->factors, i) * constant)
			return false;
	*ret_constant = constant;
	return true;
}

static const char *encode_numbers(struct page_column *column, struct tally_buf *to)
{
	const struct page_values *values = &column->values;
	uint64_t first = value_at(values, 0), before = 0;
	size_t same = 1;

	if (column->times && is_product(column, &first)) {
		put_leb(to, first);
		return "constant";
	}
	column->times = NULL;
	while (same < values->count && value_at(values, same) == first)
		same++;
	if (same == values->count) {
		put_leb(to, first);
		return "constant";
	}
	if (column->order == PAGE_RUNS) {
		encode_runs(values, to);
		return "runs";
	}
	for (size_t i = 0; i < values->count; i++) {
		uint64_t value = value_at(values, i);

		put_leb(to, column->order == PAGE_RISING ? zigzag(value, before) : value);
		before = value;
	}
	return column->order == PAGE_RISING ? "delta" : "varint";
}

static const char *encode_texts(const struct page_column *column, struct tally_buf *to)
{
	for (size_t i = 0; i < column->texts->count; i++) {
		tally_buf_add(to, column->texts->text[i], column->texts->length[i]);
		tally_buf_byte(to, 0);
	}
	return "text";
}

static int pack(void *context, unsigned worker, size_t at)
{
	struct page_column *column = &((struct page_columns *)context)->list[at];
	struct tally_buf plain = {0};

	(void)worker;
	column->coding =
	    column->texts ? encode_texts(column, &plain) : encode_numbers(column, &plain);
	tally_page_deflate(&plain, column->order == PAGE_COUNTS, &column->packed);
	tally_buf_done(&plain);
	return column->packed.failed;
}

int tally_page_columns_write(struct page_columns *columns, struct tally_buf *to)
{
	struct tally_buf text = {0};
	struct json json = {.to = &text};
	uint64_t offset = 0;
	int result = tally_pool_run(tally_pool_width(), columns->count, pack, columns);

	json_object(&json);
	json_key(&json, "columns");
	json_object(&json);
	for (size_t i = 0; i < columns->count && !result; i++) {
		const struct page_column *column = &columns->list[i];

		json_key(&json, column->name);
		json_object(&json);
		json_key_string(&json, "type", type_names[column->type]);
		json_key_u64(&json, "count", column->values.count);
		json_key_string(&json, "coding", column->coding);
		if (column->times)
			json_key_string(&json, "times", column->times);
		json_key_u64(&json, "offset", offset);
		json_key_u64(&json, "size", column->packed.size);
		json_object_end(&json);
		offset += column->packed.size;
	}
	json_object_end(&json);
	json_object_end(&json);
	tally_buf_u32(to, (uint32_t)text.size);
	tally_buf_add(to, text.data, text.size);
	for (size_t i = 0; i < columns->count && !result; i++)
		tally_buf_add(to, columns->list[i].packed.data, columns->list[i].packed.size);
	result = result ? result : text.failed ? text.failed : to->failed;
	tally_buf_done(&text);
	return result;
}

void tally_page_columns_done(struct page_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		tally_buf_done(&columns->list[i].packed);
	columns->count = 0;
}
