/* The file's header: magic, byte order, where attrs and data are, which features it has.
 * Source: the perf.data format; magic and sizes as perf 2.6.32 to 7.0 accept them. */
#include "file/data_file.h"

#include <errno.h>
#include "base/fail.h"
#include "tar/expand.h"

#define MAGIC_SIZE 8

/* Version 1 ("PERFFILE") has no mark of its byte order, but the size of an attr entry shows it: it
 * is small in one order only. */
static bool attr_size_plausible(uint64_t size)
{
	return size >= 64 + 16 && size <= 65536;
}

static int refuse_short(const struct tally_data *data, struct tally_error *error)
{
	size_t size = data->file.size;
	const char *path = strcmp(data->path, "-") != 0 ? data->path : "standard input";

	if (!size && data->stream)
		return tally_fail(error, -EBADMSG, 0,
				  "%s: it is empty: the command before the pipe wrote no "
				  "recording; see its messages, or name a file",
				  path);
	if (!size)
		return tally_fail(error, -EBADMSG, 0,
				  "%s: it is empty: no recording was written to it; record again",
				  path);
	return tally_fail(error, -EBADMSG, 0,
			  "%s: %zu byte%s: too few for a perf.data file, which was not completely "
			  "written, or was cut; record again",
			  path, size, size == 1 ? "" : "s");
}

static int refuse_magic(const struct tally_data *data, struct tally_error *error)
{
	const char *command = tally_expand_command(data->file.data, data->file.size);

	if (command)
		return tally_fail(
		    error, -EBADMSG, 0,
		    "%s: it is compressed: name the file itself, or expand it before, "
		    "with `%s`",
		    data->path, command);
	return tally_fail(error, -EBADMSG, 0,
			  "%s: not a perf.data file: it starts with neither PERFILE2 nor PERFFILE; "
			  "name a file that perf or tally recorded",
			  data->path);
}

static int read_order(struct tally_data *data, struct tally_error *error)
{
	static const char forward[MAGIC_SIZE] = "PERFILE2", backward[MAGIC_SIZE] = "2ELIFREP",
			  first[MAGIC_SIZE] = "PERFFILE";
	const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	uint8_t magic[MAGIC_SIZE];
	uint64_t native = 0x32454c4946524550ULL; /* "PERFILE2" as a number of little endian */

	if (data->file.size < FILE_HEADER_PIPE_SIZE)
		return refuse_short(data, error);
	memcpy(magic, data->file.data, MAGIC_SIZE);
	/* The magic is a number in the writer's order: its text reads forward on little endian. */
	if (!memcmp(magic, forward, MAGIC_SIZE) || !memcmp(magic, backward, MAGIC_SIZE)) {
		data->swapped = load_u64(magic) != native;
	} else if (!memcmp(magic, first, MAGIC_SIZE)) {
		uint64_t size = data->file.size >= 24 ? load_u64(data->file.data + 16) : 0;
		uint64_t header = load_u64(data->file.data + 8);

		data->swapped =
		    (!attr_size_plausible(size) && attr_size_plausible(__builtin_bswap64(size))) ||
		    header == __builtin_bswap64(FILE_HEADER_PIPE_SIZE);
		if (header == FILE_HEADER_PIPE_SIZE)
			data->swapped = false;
	} else {
		return refuse_magic(data, error);
	}
	data->big_endian = data->swapped != host_big;
	return 0;
}

/* A big-endian writer of 32 bits stores the bitmap as 32-bit words, so that the halves of each u64
 * are exchanged.  Every writer sets HOSTNAME (3), which shows which of the two it is; if it is
 * missing both ways, only BUILD_ID is used, as in perf. */
static void fix_features(struct tally_data *data)
{
	uint64_t *features = data->features;

	if (!data->big_endian || features[0] >> 3 & 1)
		return;
	if (features[0] >> 35 & 1) {
		for (size_t i = 0; i < 4; i++)
			features[i] = features[i] >> 32 | features[i] << 32;
		return;
	}
	if (features[0] | features[1] | features[2] | features[3]) {
		features[0] = 1U << 2;
		features[1] = features[2] = features[3] = 0;
	}
}

static struct file_section read_section(struct file_cursor *cursor)
{
	struct file_section section = {.offset = cursor_u64(cursor)};

	section.size = cursor_u64(cursor);
	return section;
}

int tally_file_header_read(struct tally_data *data, struct tally_error *error)
{
	struct file_cursor cursor;
	int code = read_order(data, error);

	if (code)
		return code;
	cursor = file_cursor_at(data, MAGIC_SIZE, UINT64_MAX);
	data->header_size = cursor_u64(&cursor);
	if (data->header_size == FILE_HEADER_PIPE_SIZE)
		return 0; /* a stream: nothing more */
	data->attr_size = cursor_u64(&cursor);
	data->attrs = read_section(&cursor);
	data->data = read_section(&cursor);
	read_section(&cursor); /* event_types: not written since Linux 3.11 */
	if (cursor.failed)
		return tally_fail(error, -EBADMSG, (int64_t)data->file.size,
				  "%s: the header is cut at byte %zu: nothing can be read from it",
				  data->path, data->file.size);
	if (data->header_size >= FILE_HEADER_SIZE) {
		for (size_t i = 0; i < 4; i++)
			data->features[i] = cursor_u64(&cursor);
		if (cursor.failed)
			memset(data->features, 0, sizeof(data->features));
		fix_features(data);
	} else if (data->header_size != FILE_HEADER_SHORT_SIZE) {
		tally_file_damage(
		    data, 8, 0,
		    "header size %llu at byte 8 is invalid; the file is read without features",
		    (unsigned long long)data->header_size);
	}
	return 0;
}
