#include "sqlite/sqlite_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"

#define INTERIOR_KEYS 2
#define INTERIOR_ROWS 5
#define LEAF_KEYS     10
#define LEAF_ROWS     13

#define LEAF_HEAD     8U
#define INTERIOR_HEAD 12U
#define CHILD         4U /* the number of the page before a cell of an interior page */
#define CELL_LEAST    4U

/* A cell: a length and a rowid, what of the payload is in the page, and the page with the rest. */
#define HEAD_MOST 18U
/* Of a key, whose part in a page is a quarter of it at most. */
#define KEY_MOST (SQLITE_PAGE / 4 + HEAD_MOST)

void tally_sqlite_tree_init(struct sqlite_tree *tree, struct sqlite_pages *pages, bool keys)
{
	*tree = (struct sqlite_tree){.pages = pages, .keys = keys};
}

void tally_sqlite_tree_done(struct sqlite_tree *tree)
{
	for (unsigned i = 0; i < tree->depth; i++)
		free(tree->levels[i]);
	tree->depth = 0;
}

unsigned tally_sqlite_varint(uint8_t to[9], uint64_t value)
{
	unsigned length = 1;

	if (value >> 56) {
		to[8] = (uint8_t)value;
		value >>= 8;
		for (unsigned i = 8; i-- > 0; value >>= 7)
			to[i] = (uint8_t)(value | 0x80);
		return 9;
	}
	while (length < 8 && value >> (7 * length))
		length++;
	for (unsigned i = length; i-- > 0; value >>= 7)
		to[i] = (uint8_t)((value & 0x7f) | (i + 1 < length ? 0x80 : 0));
	return length;
}

/* --- pages --- */

static struct sqlite_level *level_of(struct sqlite_tree *tree, unsigned at)
{
	if (at == tree->depth && at < SQLITE_LEVELS) {
		tree->levels[at] = calloc(1, sizeof(*tree->levels[at]));
		if (!tree->levels[at])
			return NULL;
		tree->levels[at]->top = SQLITE_PAGE;
		tree->depth++;
	}
	return at < tree->depth ? tree->levels[at] : NULL;
}

static uint32_t head_of(unsigned at)
{
	return at ? INTERIOR_HEAD : LEAF_HEAD;
}

static bool fits(const struct sqlite_level *level, unsigned at, size_t size)
{
	return head_of(at) + 2 * (level->cells + 1) + size <= level->top;
}

/* Room for a cell in a page that has it. */
static uint8_t *put(struct sqlite_level *level, unsigned at, size_t size)
{
	level->top -= (uint32_t)size;
	store_be16(level->page + head_of(at) + (size_t)2 * level->cells++, level->top);
	return level->page + level->top;
}

static void write_head(const struct sqlite_tree *tree, const struct sqlite_level *level,
		       unsigned at, uint8_t *head, uint32_t right)
{
	if (tree->keys)
		head[0] = at ? INTERIOR_KEYS : LEAF_KEYS;
	else
		head[0] = at ? INTERIOR_ROWS : LEAF_ROWS;
	store_be16(head + 1, 0); /* no free space between cells */
	store_be16(head + 3, level->cells);
	store_be16(head + 5, level->top);
	head[7] = 0;
	if (at)
		store_be32(head + LEAF_HEAD, right);
}

/* Writes a level's page and empties it; cells stay readable until the next one is put. */
static int write_level(struct sqlite_tree *tree, unsigned at, uint32_t right, uint32_t *ret)
{
	struct sqlite_level *level = tree->levels[at];
	uint32_t free_from = head_of(at) + 2 * level->cells;

	write_head(tree, level, at, level->page, right);
	memset(level->page + free_from, 0, level->top - free_from);
	*ret = sqlite_next_page(tree->pages);
	level->cells = 0;
	return tally_sqlite_add_page(tree->pages, level->page);
}

/* A page of the level below is full: it holds what is before the key, or up to it.  The last cell
 * of a full page goes up, too, so that no page stays without cells. */
static int add_child(struct sqlite_tree *tree, unsigned at, uint32_t child, const uint8_t *key,
		     size_t size)
{
	struct sqlite_level *level = level_of(tree, at);
	uint8_t *cell;

	if (!level)
		return -ENOMEM;
	if (!fits(level, at, CHILD + size)) {
		/* The last cell is the one at `top`. */
		uint32_t top = level->top, length = (uint32_t)level->last, page;
		uint32_t right = (uint32_t)level->page[top] << 24 |
				 (uint32_t)level->page[top + 1] << 16 |
				 (uint32_t)level->page[top + 2] << 8 | level->page[top + 3];
		uint8_t up[KEY_MOST];
		int result;

		memcpy(up, level->page + top + CHILD, length - CHILD);
		level->cells--;
		level->top += length;
		result = write_level(tree, at, right, &page);
		level->top = SQLITE_PAGE;
		if (!result)
			result = add_child(tree, at + 1, page, up, length - CHILD);
		if (result)
			return result;
	}
	level->last = CHILD + size;
	cell = put(level, at, CHILD + size);
	store_be32(cell, child);
	memcpy(cell + CHILD, key, size);
	return 0;
}

/* A full leaf.  Of keys its last cell goes up instead, of rows the last rowid does. */
static int end_leaf(struct sqlite_tree *tree, size_t last_size)
{
	struct sqlite_level *leaf = tree->levels[0];
	uint8_t key[KEY_MOST];
	size_t size;
	uint32_t page;
	int result;

	if (tree->keys) {
		size = last_size;
		memcpy(key, leaf->page + leaf->top, size);
		leaf->cells--;
		leaf->top += (uint32_t)size;
	} else {
		size = tally_sqlite_varint(key, leaf->last);
	}
	result = write_level(tree, 0, 0, &page);
	leaf->top = SQLITE_PAGE;
	return result ? result : add_child(tree, 1, page, key, size);
}

/* --- cells --- */

/* How much of a payload is in the page; the rest goes to pages of its own. */
static size_t local_part(bool keys, size_t size)
{
	size_t most = keys ? (SQLITE_PAGE - 12) * 64 / 255 - 23 : SQLITE_PAGE - 35;
	size_t least = (SQLITE_PAGE - 12) * 32 / 255 - 23;
	size_t part;

	if (size <= most)
		return size;
	part = least + (size - least) % (SQLITE_PAGE - 4);
	return part <= most ? part : least;
}

/* They are beside each other. */
static int add_rest(struct sqlite_pages *pages, const uint8_t *rest, size_t size)
{
	uint8_t page[SQLITE_PAGE];
	int result = 0;

	while (size && !result) {
		size_t part = size < SQLITE_PAGE - 4 ? size : SQLITE_PAGE - 4;

		size -= part;
		store_be32(page, size ? sqlite_next_page(pages) + 1 : 0);
		memcpy(page + 4, rest, part);
		memset(page + 4 + part, 0, SQLITE_PAGE - 4 - part);
		rest += part;
		result = tally_sqlite_add_page(pages, page);
	}
	return result;
}

int tally_sqlite_tree_add(struct sqlite_tree *tree, int64_t rowid, const uint8_t *payload,
			  size_t size)
{
	struct sqlite_level *leaf = level_of(tree, 0);
	size_t local = local_part(tree->keys, size), whole;
	uint32_t rest = 0;
	uint8_t head[HEAD_MOST], *cell;
	unsigned length;
	int result = 0;

	if (!leaf)
		return -ENOMEM;
	if (!tree->keys && (leaf->cells || tree->depth > 1) && rowid <= (int64_t)leaf->last)
		return tally_fail(tree->pages->error, -EINVAL, -1, "%s: rows that are not in order",
				  tree->pages->path);
	length = tally_sqlite_varint(head, size);
	if (!tree->keys)
		length += tally_sqlite_varint(head + length, (uint64_t)rowid);
	if (local < size) {
		rest = sqlite_next_page(tree->pages);
		result = add_rest(tree->pages, payload + local, size - local);
	}
	whole = length + local + (rest ? 4 : 0);
	if (whole < CELL_LEAST)
		whole = CELL_LEAST;
	if (!result && !fits(leaf, 0, whole))
		result = end_leaf(tree, (size_t)leaf->last);
	if (result)
		return result;
	leaf->last = tree->keys ? whole : (uint64_t)rowid;
	cell = put(leaf, 0, whole);
	memcpy(cell, head, length);
	memcpy(cell + length, payload, local);
	if (rest)
		store_be32(cell + length + local, rest);
	return 0;
}

int tally_sqlite_tree_end(struct sqlite_tree *tree, uint32_t *ret)
{
	uint32_t page = 0;
	int result = level_of(tree, 0) ? 0 : -ENOMEM;

	for (unsigned i = 0; i < tree->depth && !result; i++)
		result = write_level(tree, i, page, &page);
	if (!result)
		*ret = page;
	return result;
}

int tally_sqlite_tree_first(struct sqlite_tree *tree, uint8_t **ret)
{
	struct sqlite_level *leaf = tree->depth == 1 ? tree->levels[0] : NULL;
	uint8_t *from;
	uint32_t head = SQLITE_HEADER + LEAF_HEAD;

	if (!leaf || head + 2 * leaf->cells > leaf->top)
		return -EFBIG;
	from = leaf->page + LEAF_HEAD;
	memmove(from + SQLITE_HEADER, from, (size_t)2 * leaf->cells);
	write_head(tree, leaf, 0, leaf->page + SQLITE_HEADER, 0);
	*ret = leaf->page;
	return 0;
}
