/* The symbols of one image in sorted arrays, for any number of threads.  The arrays are made from a
 * list, or are in a mapped file (kernel_cache.h). */
#ifndef TALLY_ELF_SYMBOL_TABLE_H
#define TALLY_ELF_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elf/symbol.h"
#include "elf/symbol_list.h"

/* All zero is empty and valid.  Arrays from a file may have any contents: find and get nevertheless
 * end and stay within them. */
struct tally_symbol_table {
	const uint64_t *starts, *ends; /* as in the list, sorted */
	const uint32_t *names;
	const uint8_t *infos;
	const uint32_t *outer; /* index + 1 of the nearest earlier symbol that ends after this one,
				  0 none; NULL when no symbol overlaps another */
	/* index + 1 of one further out, so that few of any number of nested symbols are visited;
	 * NULL: there are none, or the arrays are from a file */
	const uint32_t *further;
	/* Names: an offset below text_size is one in `text`, from there on one in `more`.  The last
	 * byte of each is NUL. */
	const char *text, *more;
	size_t text_size, more_size;
	struct tally_mapped mapped; /* what `text` is part of, the table's own; or nothing */
	size_t count;
	uint64_t shift;            /* added to all places: the image is elsewhere */
	bool owns_rows, owns_text; /* malloc'ed, and freed by done; `more` always is */
};

void tally_symbol_table_done(struct tally_symbol_table *table);

/* Makes the table from a sorted list, which is empty afterwards.  -ENOMEM leaves the list. */
int tally_symbol_table_take(struct tally_symbol_table *table, struct tally_symbol_list *list);
/* The same, but the owner of the names does not change. */
int tally_symbol_table_take_rows(struct tally_symbol_table *table, struct tally_symbol_list *list,
				 const char *text, size_t text_size);

/* Index of the innermost symbol that covers `place`, or -ENOENT. */
int64_t tally_symbol_table_find(const struct tally_symbol_table *table, uint64_t place);
/* The same where the last symbol that starts at or before `place` is one of `count` from `from` on,
 * or there is none; [from, from + count) is within the table. */
int64_t tally_symbol_table_find_among(const struct tally_symbol_table *table, uint64_t place,
				      size_t from, size_t count);

/* The symbol; its name is borrowed from the table's text. */
struct tally_symbol tally_symbol_table_get(const struct tally_symbol_table *table, size_t index);

#endif
