/* A b-tree that is written once, its cells in ascending order.  Full pages are written at once, so
 * that several trees grow at a time, each with a page of every level in memory. */
#ifndef TALLY_SQLITE_TREE_H
#define TALLY_SQLITE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include "sqlite/sqlite_pages.h"

#define SQLITE_LEVELS 16U /* more than 2^32 pages have: each page holds 3 cells at least */

struct sqlite_level {
	uint32_t cells, top; /* content is in page[top, SQLITE_PAGE) */
	uint64_t last;       /* the size of the last cell; of a leaf of rows its rowid */
	uint8_t page[SQLITE_PAGE];
};

struct sqlite_tree {
	struct sqlite_pages *pages;
	bool keys; /* of an index, or of a table without rowids; else of rows with rowids */
	unsigned depth;
	struct sqlite_level *levels[SQLITE_LEVELS]; /* leaves first; NULL: no page yet */
};

/* Allocates nothing. */
void tally_sqlite_tree_init(struct sqlite_tree *tree, struct sqlite_pages *pages, bool keys);
void tally_sqlite_tree_done(struct sqlite_tree *tree);
/* A row under a higher rowid than those before, or a key (rowid: unused) behind those before.  0,
 * -ENOMEM, or -errno of writing. */
int tally_sqlite_tree_add(struct sqlite_tree *tree, int64_t rowid, const uint8_t *payload,
			  size_t size);
/* Writes the rest.  *ret is the page of the root. */
int tally_sqlite_tree_end(struct sqlite_tree *tree, uint32_t *ret);
/* Of a tree whose cells must fit on page 1: completes that page, which is borrowed from the tree.
 * -EFBIG: they do not. */
int tally_sqlite_tree_first(struct sqlite_tree *tree, uint8_t **ret);

/* Up to 7 bits a byte, the highest first; the ninth byte has 8.  Returns the length. */
unsigned tally_sqlite_varint(uint8_t to[9], uint64_t value);

#endif
