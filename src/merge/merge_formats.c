/* The formats of tracepoints of several recordings.
 *
 * A tracepoint's number is its kernel's; in the new file equal formats have one number, that of the
 * first recording that has them, unless another format has it.  The layout is that of
 * file/trace_data.h; what follows the formats there (addresses of the kernel's symbols and texts)
 * is left out, as it is another one in each kernel. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "file/cursor.h"
#include "file/feature.h"
#include "file/trace_data.h"
#include "merge/data_merge.h"

#define NUMBERS (UINT16_MAX + 1U) /* of tracepoints: they fit the u16 that payloads begin with */

struct format {
	const char *system;
	const char *text; /* without its number: up to it, and behind it */
	size_t before, after_at, size;
	uint32_t number;
	uint32_t next; /* with the same hash, + 1; 0: none */
};

struct formats {
	struct format *list;
	size_t count, room;
	struct tally_map by_hash; /* -> index, + 1 */
	struct tally_map names;   /* hashes of systems and names */
	uint8_t *taken;           /* by number */
	/* The first input's, up to its own formats: what the new file begins with. */
	const uint8_t *front;
	size_t front_size;
	bool big_endian;
};

/* Where the number is in a format, whose line "ID: 310" has it. */
static struct format parts_of(const struct trace_format_text *text)
{
	const char *at = memmem(text->text, text->size, "\nID:", 4), *end = text->text + text->size;
	struct format made = {.system = text->system, .text = text->text, .size = text->size};

	at = at ? at + 4 : end;
	while (at < end && *at == ' ')
		at++;
	made.before = (size_t)(at - text->text);
	while (at < end && isdigit((unsigned char)*at))
		at++;
	made.after_at = (size_t)(at - text->text);
	return made;
}

static uint64_t hash_of(const struct format *format)
{
	uint64_t hash = tally_hash_bytes(format->system, strlen(format->system));

	hash = hash_mix(hash, tally_hash_bytes(format->text, format->before));
	return hash_mix(hash, tally_hash_bytes(format->text + format->after_at,
					       format->size - format->after_at));
}

static bool is_same(const struct format *a, const struct format *b)
{
	return !strcmp(a->system, b->system) && a->before == b->before &&
	       a->size - a->after_at == b->size - b->after_at &&
	       !memcmp(a->text, b->text, a->before) &&
	       !memcmp(a->text + a->after_at, b->text + b->after_at, a->size - a->after_at);
}

/* The length of the line with its name, which is the first. */
static size_t name_length(const struct format *format)
{
	const char *end = memchr(format->text, '\n', format->before);

	return end ? (size_t)(end - format->text) : format->before;
}

/* Notes the name; *ret_other: another format has it.  0 or -ENOMEM. */
static int note_name(struct formats *formats, const struct format *format, bool *ret_other)
{
	uint64_t hash = hash_mix(tally_hash_bytes(format->system, strlen(format->system)),
				 tally_hash_bytes(format->text, name_length(format)));
	bool added;

	if (!tally_map_put(&formats->names, hash, &added))
		return -ENOMEM;
	*ret_other = !added;
	return 0;
}

/* A number that no format has yet: `wanted`, or the highest free one; 0: none is left. */
static uint32_t number_for(struct formats *formats, uint64_t wanted)
{
	uint32_t number = (uint32_t)wanted;

	if (formats->taken[number])
		for (number = NUMBERS - 1; number && formats->taken[number]; number--)
			;
	formats->taken[number] = 1;
	return number;
}

/* The number of a format in the new file.  1; 0: there is no number left; -ENOMEM. */
static int place(struct merge *merge, struct formats *formats, const struct trace_format_text *text,
		 uint32_t *ret)
{
	struct format made = parts_of(text);
	uint64_t *first;
	bool added, other;

	first = tally_map_put(&formats->by_hash, hash_of(&made), &added);
	if (!first)
		return -ENOMEM;
	for (uint64_t at = *first; at; at = formats->list[at - 1].next)
		if (is_same(&formats->list[at - 1], &made)) {
			*ret = formats->list[at - 1].number;
			return 1;
		}
	if (note_name(formats, &made, &other))
		return -ENOMEM;
	merge->result.other_formats += other;
	if (formats->count == formats->room) {
		size_t room = formats->room ? 2 * formats->room : 64;
		void *grown = reallocarray(formats->list, room, sizeof(*formats->list));

		if (!grown)
			return -ENOMEM;
		formats->list = grown;
		formats->room = room;
	}
	made.number = number_for(formats, text->id);
	if (!made.number)
		return 0;
	made.next = (uint32_t)*first;
	formats->list[formats->count++] = made;
	*first = formats->count;
	*ret = made.number;
	return 1;
}

/* What comes before the formats of the systems: from the magic to ftrace's own formats.  False: it
 * is cut. */
static bool take_front(struct formats *formats, const struct trace_data *data,
		       struct tally_block bytes)
{
	struct file_cursor at = {.at = bytes.bytes, .end = bytes.bytes + bytes.size};
	const uint8_t *version;

	at.swapped = data->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	cursor_bytes(&at, 10); /* the magic */
	version = memchr(at.at, 0, cursor_left(&at));
	cursor_bytes(&at, version ? (uint64_t)(version - at.at) + 1 : UINT64_MAX);
	cursor_bytes(&at, 2 + 4); /* order, size of a long; size of a page */
	cursor_bytes(&at, sizeof("header_page"));
	cursor_bytes(&at, cursor_u64(&at));
	cursor_bytes(&at, sizeof("header_event"));
	cursor_bytes(&at, cursor_u64(&at));
	if (at.failed)
		return false;
	formats->front = bytes.bytes;
	formats->front_size = (size_t)(at.at - bytes.bytes);
	formats->big_endian = data->big_endian;
	return true;
}

static int take_input(struct merge *merge, struct formats *formats, struct merge_input *input,
		      struct tally_error *error)
{
	struct tally_block bytes = tally_data_feature(input->data, FEATURE_TRACING_DATA);
	struct trace_data data;
	int code =
	    bytes.size ? tally_trace_data_init(&data, bytes.bytes, bytes.size, NULL) : -EBADMSG;

	/* Damaged formats are none, as for every reader. */
	if (code)
		return code == -ENOMEM ? tally_fail(error, code, -1, "out of memory") : 0;
	if (!formats->front && !take_front(formats, &data, bytes)) {
		tally_trace_data_done(&data);
		return 0;
	}
	if (formats->big_endian != data.big_endian)
		code =
		    tally_fail(error, -EINVAL, -1,
			       "%s: cannot be merged: its tracepoints are of the other byte order",
			       tally_data_path(input->data));
	for (size_t i = 0; i < data.format_count && !code; i++) {
		uint32_t number;
		int placed = place(merge, formats, &data.formats[i], &number);
		bool added;
		uint64_t *known;

		if (!placed)
			code =
			    tally_fail(error, -EINVAL, -1,
				       "%s: cannot be merged: these recordings have more than %u "
				       "tracepoints",
				       tally_data_path(input->data), NUMBERS - 1);
		known =
		    placed > 0 ? tally_map_put(&input->formats, data.formats[i].id, &added) : NULL;
		if (!code && !known)
			code = tally_fail(error, -ENOMEM, -1, "out of memory");
		if (!code)
			*known = number;
	}
	tally_trace_data_done(&data);
	return code;
}

static void add_u32(const struct formats *formats, struct tally_buf *to, uint32_t value)
{
	bool swap = formats->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	tally_buf_u32(to, swap ? __builtin_bswap32(value) : value);
}

static void add_u64(const struct formats *formats, struct tally_buf *to, uint64_t value)
{
	bool swap = formats->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	tally_buf_u64(to, swap ? __builtin_bswap64(value) : value);
}

static void add_format(const struct formats *formats, const struct format *format,
		       struct tally_buf *text, struct tally_buf *to)
{
	tally_buf_clear(text);
	tally_buf_add(text, format->text, format->before);
	tally_buf_printf(text, "%u", format->number);
	tally_buf_add(text, format->text + format->after_at, format->size - format->after_at);
	add_u64(formats, to, text->size);
	tally_buf_add(to, text->data, text->size);
	to->failed = to->failed ? to->failed : text->failed;
}

static int by_system(const void *a, const void *b)
{
	const struct format *one = a, *two = b;
	int order = strcmp(one->system, two->system);

	return order ? order : (one->number > two->number) - (one->number < two->number);
}

/* Each system's name, and its formats. */
static void write_systems(struct formats *formats, struct tally_buf *to)
{
	struct tally_buf text = {0};
	uint32_t systems = 0;

	if (formats->count)
		qsort(formats->list, formats->count, sizeof(*formats->list), by_system);
	for (size_t i = 0; i < formats->count; i++)
		systems += !i || strcmp(formats->list[i].system, formats->list[i - 1].system) != 0;
	add_u32(formats, to, systems);
	for (size_t i = 0, end; i < formats->count; i = end) {
		const char *system = formats->list[i].system;

		for (end = i; end < formats->count && !strcmp(formats->list[end].system, system);)
			end++;
		tally_buf_add(to, system, strlen(system) + 1);
		add_u32(formats, to, (uint32_t)(end - i));
		for (size_t k = i; k < end; k++)
			add_format(formats, &formats->list[k], &text, to);
	}
	tally_buf_done(&text);
}

int tally_merge_formats(struct merge *merge, struct tally_error *error)
{
	struct formats formats = {.taken = calloc(NUMBERS, 1)};
	int code = formats.taken ? 0 : tally_fail(error, -ENOMEM, -1, "out of memory");

	for (size_t i = 0; i < merge->input_count && !code; i++)
		code = take_input(merge, &formats, &merge->inputs[i], error);
	if (!code && formats.front) {
		tally_buf_add(&merge->formats, formats.front, formats.front_size);
		add_u32(&formats, &merge->formats, 0); /* ftrace's own */
		write_systems(&formats, &merge->formats);
		add_u32(&formats, &merge->formats, 0); /* kallsyms */
		add_u32(&formats, &merge->formats, 0); /* printk_formats */
		/* Of version 0.6 on: names of processes. */
		add_u64(&formats, &merge->formats, 0);
		if (merge->formats.failed)
			code = tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	tally_map_done(&formats.by_hash);
	tally_map_done(&formats.names);
	free(formats.list);
	free(formats.taken);
	return code;
}
