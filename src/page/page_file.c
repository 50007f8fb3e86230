#include "page/page_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "base/fail.h"

static int cannot(struct tally_error *error, const char *path)
{
	int code = errno ? -errno : -EIO;

	return tally_fail(error, code, -1, "cannot write %s: %s", path, strerror(-code));
}

int tally_page_file_open(struct page_file *file, const char *path, FILE *to,
			 struct tally_error *error)
{
	int result;

	*file = (struct page_file){.path = path, .to = to, .borrowed = to, .file = {.fd = -1}};
	if (to)
		return 0;
	result = tally_whole_file_open(path, WHOLE_FILE_REPLACE | WHOLE_FILE_DIRECT, 0666,
				       &file->file, error);
	if (result)
		return result;
	file->to = tally_whole_file_stream(&file->file);
	if (file->to)
		return 0;
	tally_whole_file_drop(&file->file);
	return -ENOMEM;
}

int tally_page_file_close(struct page_file *file, int result, uint64_t *ret_size,
			  struct tally_error *error)
{
	long at;
	bool failed;

	/* Of a write that failed before, errno is still there: nothing else was done since then. */
	failed = ferror(file->to);
	if (!failed) {
		errno = 0;
		failed = fflush(file->to);
	}
	at = ftell(file->to);
	if (!result && failed)
		result = cannot(error, file->borrowed ? "the page" : file->path);
	if (!file->borrowed && fclose(file->to) && !result)
		result = cannot(error, file->path);
	if (!result)
		result = tally_whole_file_name(&file->file, error);
	tally_whole_file_drop(&file->file);
	if (!result && ret_size)
		*ret_size = at > 0 ? (uint64_t)at : 0;
	return result;
}

void tally_page_put_json(const struct tally_buf *json, FILE *to)
{
	size_t from = 0;

	for (size_t i = 0; i < json->size; i++) {
		uint8_t byte = json->data[i];

		if (byte != '<' && byte != '>' && byte != '&')
			continue;
		fwrite(json->data + from, 1, i - from, to);
		fprintf(to, "\\u%04x", byte);
		from = i + 1;
	}
	fwrite(json->data + from, 1, json->size - from, to);
}

#define LINE 57U /* bytes of a line of 76 characters */

/* Source: RFC 4648, section 4. */
void tally_page_put_base64(const struct tally_buf *bytes, FILE *to)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t from = 0; from < bytes->size; from += LINE) {
		size_t count = bytes->size - from < LINE ? bytes->size - from : LINE;
		const uint8_t *in = bytes->data + from;
		char line[LINE / 3 * 4 + 1], *out = line;

		for (size_t i = 0; i < count; i += 3) {
			uint32_t three = (uint32_t)in[i] << 16;

			three |= i + 1 < count ? (uint32_t)in[i + 1] << 8 : 0;
			three |= i + 2 < count ? in[i + 2] : 0;
			*out++ = digits[three >> 18];
			*out++ = digits[three >> 12 & 63];
			*out++ = i + 1 < count ? digits[three >> 6 & 63] : '=';
			*out++ = i + 2 < count ? digits[three & 63] : '=';
		}
		*out++ = '\n';
		fwrite(line, 1, (size_t)(out - line), to);
	}
}
