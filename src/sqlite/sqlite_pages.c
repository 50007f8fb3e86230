#include "sqlite/sqlite_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "base/fail.h"

#define BUFFERED 128U /* pages, 1 MB */

/* What the header says of the library that wrote last: the first with all that is used here. */
#define VERSION_NUMBER 3008002U

int tally_sqlite_pages_init(struct sqlite_pages *pages, int fd, const char *path,
			    struct tally_error *error)
{
	*pages = (struct sqlite_pages){.fd = fd, .path = path, .count = 1, .error = error};
	pages->buffer = malloc((size_t)BUFFERED * SQLITE_PAGE);
	return pages->buffer ? 0 : -ENOMEM;
}

void tally_sqlite_pages_done(struct sqlite_pages *pages)
{
	free(pages->buffer);
	pages->buffer = NULL;
}

static int write_at(const struct sqlite_pages *pages, const uint8_t *bytes, size_t size,
		    uint64_t offset)
{
	while (size) {
		ssize_t wrote = pwrite(pages->fd, bytes, size, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			int code = wrote ? errno : EIO;

			return tally_fail(pages->error, -code, -1, "%s: cannot be written: %s",
					  pages->path, strerror(code));
		}
		bytes += wrote;
		size -= (size_t)wrote;
		offset += (uint64_t)wrote;
	}
	return 0;
}

static int flush(struct sqlite_pages *pages)
{
	uint32_t first = pages->count - pages->buffered;
	int result = write_at(pages, pages->buffer, (size_t)pages->buffered * SQLITE_PAGE,
			      (uint64_t)first * SQLITE_PAGE);

	pages->buffered = 0;
	return result;
}

int tally_sqlite_add_page(struct sqlite_pages *pages, const uint8_t *page)
{
	int result = pages->buffered == BUFFERED ? flush(pages) : 0;

	if (result)
		return result;
	if (pages->count >= UINT32_MAX - 1)
		return tally_fail(pages->error, -EFBIG, -1, "%s: too large for a database",
				  pages->path);
	memcpy(pages->buffer + (size_t)pages->buffered++ * SQLITE_PAGE, page, SQLITE_PAGE);
	pages->count++;
	return 0;
}

int tally_sqlite_pages_end(struct sqlite_pages *pages, uint8_t *first)
{
	int result = flush(pages);

	memset(first, 0, SQLITE_HEADER);
	memcpy(first, "SQLite format 3", 16);
	store_be16(first + 16, SQLITE_PAGE);
	first[18] = first[19] = 1; /* no write-ahead log */
	first[21] = 64;            /* of payloads; fixed by the format, as the next two */
	first[22] = 32;
	first[23] = 32;
	store_be32(first + 24, 1); /* changes so far */
	store_be32(first + 28, pages->count);
	store_be32(first + 40, 1); /* changes of the schema */
	store_be32(first + 44, 4); /* the format of the schema */
	store_be32(first + 56, 1); /* UTF-8 */
	store_be32(first + 92, 1); /* as many changes as at 24: the count of pages is valid */
	store_be32(first + 96, VERSION_NUMBER);
	return result ? result : write_at(pages, first, SQLITE_PAGE, 0);
}
