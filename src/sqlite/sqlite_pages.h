/* The pages of an SQLite database that is written once, front to back.  Layouts in this folder:
 * https://www.sqlite.org/fileformat2.html */
#ifndef TALLY_SQLITE_PAGES_H
#define TALLY_SQLITE_PAGES_H

#include <stdint.h>
#include <tally/error.h>

#define SQLITE_PAGE   8192U
#define SQLITE_HEADER 100U /* the first bytes of page 1 are the database's header */

struct sqlite_pages {
	int fd;           /* of a regular file that is empty; borrowed */
	const char *path; /* for messages; borrowed */
	uint8_t *buffer;
	uint32_t count;    /* of pages so far, page 1 among them */
	uint32_t buffered; /* of these, the last that are still in `buffer` */
	struct tally_error *error;
};

static inline void store_be16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static inline void store_be32(uint8_t *to, uint32_t value)
{
	store_be16(to, value >> 16);
	store_be16(to + 2, value);
}

/* Page 1 is left out until the end.  0 or -ENOMEM. */
int tally_sqlite_pages_init(struct sqlite_pages *pages, int fd, const char *path,
			    struct tally_error *error);
void tally_sqlite_pages_done(struct sqlite_pages *pages);
/* The number that the next page gets. */
static inline uint32_t sqlite_next_page(const struct sqlite_pages *pages)
{
	return pages->count + 1;
}
/* Writes the next page.  0 or -errno. */
int tally_sqlite_add_page(struct sqlite_pages *pages, const uint8_t *page);
/* Writes what is left, and page 1 with the database's header over its first bytes.  0 or -errno. */
int tally_sqlite_pages_end(struct sqlite_pages *pages, uint8_t *first);

#endif
