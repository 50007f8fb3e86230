/* A perf map that grows while it is read: its symbols keep their numbers, although each reading
 * makes a table of its own. */
#ifndef TALLY_IMAGE_GROWN_MAP_H
#define TALLY_IMAGE_GROWN_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/map.h"

struct tally_image;
struct tally_symbol_table;

#define TALLY_GROWN_GONE UINT32_MAX

struct tally_grown_map { /* all zero: a symbol's number is its row */
	/* The map as it was read: 0 bytes of inode 0: there was none. */
	ino_t ino;
	off_t size;
	struct tally_map numbers; /* offset of a name in the file, + 1 -> number */
	uint32_t *by_row;         /* number; NULL: the row */
	uint32_t *by_number;      /* row, or TALLY_GROWN_GONE */
	size_t count, room;
};

void tally_grown_done(struct tally_grown_map *grown);
/* Numbers of rows, rows of numbers, and how many numbers there are. */
int64_t tally_grown_number(const struct tally_image *image, int64_t row);
int64_t tally_grown_row(const struct tally_image *image, size_t number);
size_t tally_grown_count(const struct tally_image *image);
/* The image's table is replaced by one of the same file, which is longer now, or (`other`) of
 * another one. Takes the table over. 0 or -ENOMEM. */
int tally_grown_take(struct tally_image *image, struct tally_symbol_table *table, bool other);

#endif
