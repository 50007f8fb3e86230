/* Keys of data types: of the objects that the instructions at samples access. */
#include <string.h>
#include "image/data_accesses.h"
#include "key/key_tables.h"
#include "resolve/locate.h"
#include "resolve/resolve_tables.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

/* The line of the cache that perf takes where it does not know better. */
#define CACHE_LINE 64

/* The image and the place of a row's code; of a row of a branch, of where that led to. */
static struct tally_image *image_of(const struct key_row *row, uint64_t *ret_place)
{
	struct tally_resolve_tables *tables =
	    tally_session_tables((struct tally_session *)row->session);
	struct tally_location location;

	if (!row->branch) {
		*ret_place = row->batch->place[row->at];
		return tally_frames_image(&tables->frames, row->batch->frame[row->at]);
	}
	location = (struct tally_location){.level = '.'};
	if (tally_batch_location(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN,
				 row->branch->to, &location))
		return NULL;
	*ret_place = location.place;
	return location.image;
}

static struct data_types *access_of(const struct key_row *row, struct data_access *ret)
{
	uint64_t place = 0;
	struct tally_image *image = image_of(row, &place);
	struct data_types *types = NULL;

	*ret = (struct data_access){.outcome = ACCESS_NO_DEBUG};
	if (image && tally_image_data_access(image, place, ret, &types))
		*ret = (struct data_access){.outcome = ACCESS_NO_DEBUG};
	return types;
}

/* perf's words for what has no type. */
static const char *word_of(const struct data_access *access)
{
	switch (access->outcome) {
	case ACCESS_STACK:
		return "(stack operation)";
	case ACCESS_CANARY:
		return "(stack canary)";
	default:
		return "(unknown)";
	}
}

static uint64_t put(const struct profile_keys *keys, struct tally_buf *text)
{
	uint64_t number = KEY_UNKNOWN;

	if (!text->failed)
		number = tally_key_texts_put(keys->texts, (const char *)text->data, text->size);
	tally_buf_done(text);
	return number;
}

static uint64_t type_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct data_access access;
	struct data_types *types = access_of(row, &access);
	const char *name = access.outcome == ACCESS_FOUND ? tally_data_type_name(types, access.type)
							  : word_of(&access);

	return tally_key_texts_put(keys->texts, name, strlen(name));
}

static uint64_t offset_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_buf text = {0};
	struct data_access access;
	struct data_types *types = access_of(row, &access);
	const char *path;

	if (access.outcome != ACCESS_FOUND) {
		tally_buf_text(&text, word_of(&access));
		return put(keys, &text);
	}
	path = tally_data_type_path(types, access.type, access.offset);
	tally_buf_printf(&text, "%s %+lld (%s)", tally_data_type_name(types, access.type),
			 (long long)access.offset, *path ? path : "no field");
	return put(keys, &text);
}

static uint64_t line_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_buf text = {0};
	struct data_access access;
	struct data_types *types = access_of(row, &access);

	if (access.outcome == ACCESS_FOUND)
		tally_buf_printf(&text, "%s: cache-line %lld",
				 tally_data_type_name(types, access.type),
				 (long long)access.offset / CACHE_LINE);
	else
		tally_buf_text(&text, word_of(&access));
	return put(keys, &text);
}

static uint64_t symbol_offset_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_frame frame = tally_session_frame(row->session, row->frame);
	struct tally_buf text = {0};
	uint64_t place = 0;
	struct tally_image *image = image_of(row, &place);
	int64_t symbol = image ? tally_image_find_symbol(image, place) : -1;

	tally_buf_printf(&text, "[%c] ", frame.level ? frame.level : '.');
	if (symbol >= 0)
		tally_buf_printf(
		    &text, "%s+%#llx", tally_image_symbol(image, symbol)->name,
		    (unsigned long long)(place - tally_image_symbol(image, symbol)->start));
	else
		tally_buf_printf(&text, "%#llx", (unsigned long long)place);
	return put(keys, &text);
}

#define TYPE_ROW(key, head, says, how)                                           \
	{                                                                        \
		.name = key, .title = head, .help = says, .type = KEY_TEXT,      \
		.columns = TALLY_COLUMN_FRAME | TALLY_COLUMN_PLACE, .value = how \
	}

static const struct profile_key rows[] = {
    TYPE_ROW("type", "Data Type",
	     "type of the object that the instruction accesses; needs debug information", type_of),
    TYPE_ROW("typeoff", "Data Type Offset", "the same with the offset and member in it", offset_of),
    TYPE_ROW("typecln", "Data Type Cacheline",
	     "the same with the line of the cache in it, of 64 bytes", line_of),
    TYPE_ROW("symoff", "Symbol Offset", "function, and the offset of the instruction in it",
	     symbol_offset_of),
};
const struct key_table tally_keys_type = KEY_TABLE(rows);
