#include "file/trace_data.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/fail.h"

enum {
	HEADER_SIZE = 10, /* 3 bytes that are no text, "tracing" */
	SYSTEM_LENGTH = 256,
	FORMATS_MOST = 1 << 20,
};

struct reader {
	const uint8_t *bytes;
	size_t size, at;
	bool swap;
	const char *failed; /* the part that could not be read */
};

static bool has(struct reader *reader, uint64_t size, const char *what)
{
	if (!reader->failed && size > reader->size - reader->at)
		reader->failed = what;
	return !reader->failed;
}

static const uint8_t *take(struct reader *reader, uint64_t size, const char *what)
{
	const uint8_t *at = reader->bytes + reader->at;

	if (!has(reader, size, what))
		return NULL;
	reader->at += size;
	return at;
}

static uint32_t take_u32(struct reader *reader, const char *what)
{
	const uint8_t *at = take(reader, sizeof(uint32_t), what);
	uint32_t value = at ? load_u32(at) : 0;

	return reader->swap ? __builtin_bswap32(value) : value;
}

static uint64_t take_u64(struct reader *reader, const char *what)
{
	const uint8_t *at = take(reader, sizeof(uint64_t), what);
	uint64_t value = at ? load_u64(at) : 0;

	return reader->swap ? __builtin_bswap64(value) : value;
}

/* Bytes after their u64 size. */
static const char *take_sized(struct reader *reader, size_t *ret_size, const char *what)
{
	size_t start = reader->at;
	uint64_t size = take_u64(reader, what);
	const uint8_t *at = take(reader, size, what);

	if (!at) {
		reader->at = start;
		return NULL;
	}
	*ret_size = size;
	return (const char *)at;
}

static const char *take_string(struct reader *reader, size_t most, const char *what)
{
	const uint8_t *at = reader->bytes + reader->at, *end;
	size_t left = reader->size - reader->at;

	if (reader->failed)
		return NULL;
	end = memchr(at, '\0', left < most ? left : most);
	if (!end) {
		reader->failed = what;
		return NULL;
	}
	reader->at += (size_t)(end - at) + 1;
	return (const char *)at;
}

static bool take_word(struct reader *reader, const char *word)
{
	size_t size = strlen(word) + 1;

	if (!has(reader, size, word))
		return false;
	if (memcmp(reader->bytes + reader->at, word, size)) {
		reader->failed = word;
		return false;
	}
	reader->at += size;
	return true;
}

/* The number behind `key` in the first `size` bytes of `text`, below `limit`. */
static bool number_after(const char *text, size_t size, const char *key, uint64_t limit,
			 uint64_t *ret)
{
	const char *at = memmem(text, size, key, strlen(key)), *end = text + size;
	uint64_t value = 0;
	size_t digits = 0;

	if (!at)
		return false;
	for (at += strlen(key); at < end && *at == ' '; at++)
		;
	for (; at < end && isdigit((unsigned char)*at) && value < limit; at++, digits++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (!digits || value >= limit)
		return false;
	*ret = value;
	return true;
}

/* The page's field "commit" is a long of the kernel's, which may be wider than the recorder's. */
static void take_header_page(struct reader *reader, struct trace_data *data)
{
	const char *page, *commit;
	size_t size = 0;
	uint64_t width;

	if (!take_word(reader, "header_page"))
		return;
	page = take_sized(reader, &size, "header_page");
	commit = page ? memmem(page, size, " commit;", 8) : NULL;
	if (commit && number_after(commit, size - (size_t)(commit - page), "size:", 9, &width) &&
	    (width == 4 || width == 8))
		data->long_size = (unsigned)width;
}

static int add_format(struct trace_data *data, const struct trace_format_text *format)
{
	if (data->format_count == data->format_room) {
		size_t room = data->format_room ? 2 * data->format_room : 64;
		void *grown = reallocarray(data->formats, room, sizeof(*data->formats));

		if (!grown)
			return -ENOMEM;
		data->formats = grown;
		data->format_room = room;
	}
	data->formats[data->format_count++] = *format;
	return 0;
}

/* Event ids fit the u16 common_type that payloads start with (include/linux/trace_events.h). */
static int take_format(struct reader *reader, struct trace_data *data, const char *system)
{
	struct trace_format_text format = {.system = system};

	format.text = take_sized(reader, &format.size, "a format");
	if (!format.text)
		return 0;
	if (data->format_count >= FORMATS_MOST ||
	    !number_after(format.text, format.size, "\nID:", UINT16_MAX + 1, &format.id)) {
		data->unnumbered++;
		return 0;
	}
	return add_format(data, &format);
}

static int take_formats(struct reader *reader, struct trace_data *data, const char *system)
{
	uint32_t count = take_u32(reader, "the number of formats");
	int result = 0;

	for (uint32_t i = 0; i < count && !result && !reader->failed; i++)
		result = take_format(reader, data, system);
	return result;
}

static int take_systems(struct reader *reader, struct trace_data *data)
{
	uint32_t count = take_u32(reader, "the number of systems");
	int result = 0;

	for (uint32_t i = 0; i < count && !result && !reader->failed; i++) {
		const char *system = take_string(reader, SYSTEM_LENGTH, "the name of a system");

		if (system)
			result = take_formats(reader, data, system);
	}
	return result;
}

/* What follows the formats may be missing, which is not damage. */
static void take_rest(struct reader *reader, struct trace_data *data)
{
	uint32_t kallsyms = take_u32(reader, "kallsyms"), size;
	const uint8_t *text;

	take(reader, kallsyms, "kallsyms");
	size = take_u32(reader, "printk formats");
	text = take(reader, size, "printk formats");
	if (text && size) {
		data->printk = (const char *)text;
		data->printk_size = size;
	}
}

static int take_start(struct reader *reader, struct trace_data *data)
{
	static const char magic[HEADER_SIZE] = "\x17\x08\x44tracing";
	const uint8_t *bytes = take(reader, HEADER_SIZE, "its first bytes");

	if (!bytes || memcmp(bytes, magic, HEADER_SIZE))
		return -EBADMSG;
	take_string(reader, 16, "its version");
	bytes = take(reader, 2, "the byte order");
	if (!bytes || bytes[0] > 1 || (bytes[1] != 4 && bytes[1] != 8))
		return -EBADMSG;
	data->big_endian = bytes[0];
	data->long_size = bytes[1];
	reader->swap = data->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	take_u32(reader, "the page size");
	return 0;
}

static int take_all(struct reader *reader, struct trace_data *data)
{
	size_t unused = 0;
	int result;

	take_header_page(reader, data);
	if (take_word(reader, "header_event"))
		take_sized(reader, &unused, "header_event");
	result = take_formats(reader, data, "ftrace");
	if (!result)
		result = take_systems(reader, data);
	if (!result)
		take_rest(reader, data);
	return result;
}

int tally_trace_data_init(struct trace_data *data, const void *bytes, size_t size,
			  struct tally_error *error)
{
	struct reader reader = {.bytes = bytes, .size = size};
	int result;

	*data = (struct trace_data){0};
	if (!size)
		return tally_fail(error, -ENOENT, -1, "the recording has no tracing data");
	if (take_start(&reader, data))
		return tally_fail(error, -EBADMSG, 0, "the tracing data has an unknown start");
	result = take_all(&reader, data);
	data->cut = reader.failed;
	data->cut_at = reader.at;
	if (!result && data->cut && !data->format_count)
		result = tally_fail(error, -EBADMSG, (int64_t)data->cut_at,
				    "tracing data is cut or damaged in %s", data->cut);
	else if (result)
		tally_fail(error, result, -1, "no memory for the tracing data's formats");
	if (result)
		tally_trace_data_done(data);
	return result;
}

void tally_trace_data_done(struct trace_data *data)
{
	free(data->formats);
	*data = (struct trace_data){0};
}
