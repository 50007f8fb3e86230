#include "page/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"

static int cannot(struct tally_error *error, const char *path)
{
	int code = errno ? -errno : -EIO;

	return tally_fail(error, code, -1, "cannot write %s: %s", path, strerror(-code));
}

/* The usual rights of a new file; mkstemp() gives fewer. */
static void give_rights(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
}

int tally_page_file_open(struct page_file *file, const char *path, FILE *to,
			 struct tally_error *error)
{
	struct stat facts;
	int fd;

	*file = (struct page_file){.path = path, .to = to, .borrowed = to};
	if (to)
		return 0;
	if (!stat(path, &facts) && !S_ISREG(facts.st_mode)) {
		file->to = fopen(path, "we");
		return file->to ? 0 : cannot(error, path);
	}
	if (asprintf(&file->temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd >= 0)
		give_rights(fd);
	file->to = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (file->to)
		return 0;
	cannot(error, path);
	if (fd >= 0) {
		close(fd);
		unlink(file->temporary);
	}
	free(file->temporary);
	return error ? error->code : -EIO;
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
	if (!result && file->temporary && rename(file->temporary, file->path))
		result = cannot(error, file->path);
	if (result && file->temporary)
		unlink(file->temporary);
	free(file->temporary);
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
