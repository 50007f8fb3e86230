/* Columns of the page's tables, and the container that holds them (doc/PAGE-DATA.md). */
#ifndef TALLY_PAGE_PAGE_COLUMNS_H
#define TALLY_PAGE_PAGE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/map.h"

/* What the reader makes of a column. */
enum page_type {
	PAGE_U8,
	PAGE_U16,
	PAGE_U32,
	PAGE_F64, /* whole numbers that may pass 2^32 */
	PAGE_TEXT,
};

/* How values are best written. */
enum page_order {
	PAGE_ANY,
	PAGE_RISING, /* values are close to those before them */
	PAGE_RUNS,   /* most are equal to the one before */
	PAGE_COUNTS, /* most are small, and do not depend on those before */
};

/* Values side by side in an array of structs.  Borrowed until the columns are done. */
struct page_values {
	const void *list;
	size_t offset, stride, count;
	unsigned width; /* bytes of a value: 1, 2, 4 or 8 */
};

#define PAGE_VALUES(rows, member, number)                                        \
	(struct page_values)                                                     \
	{                                                                        \
		.list = (rows), .offset = offsetof(__typeof__(*(rows)), member), \
		.stride = sizeof(*(rows)), .count = (size_t)(number),            \
		.width = sizeof((rows)->member),                                 \
	}

#define PAGE_COLUMNS_MOST 96

struct page_column {
	const char *name, *coding;
	enum page_type type;
	enum page_order order;
	struct page_values values;
	const struct tally_strings *texts; /* PAGE_TEXT */
	const char *times;                 /* the column below; NULL: none */
	struct page_values factors;
	struct tally_buf packed;
};

struct page_columns { /* all zero is empty and valid */
	struct page_column list[PAGE_COLUMNS_MOST];
	size_t count;
};

/* Adds a column; one without values is left out.  `name` is borrowed. */
void tally_page_columns_add(struct page_columns *columns, const char *name, enum page_type type,
			    enum page_order order, struct page_values values);
void tally_page_columns_texts(struct page_columns *columns, const char *name,
			      const struct tally_strings *texts);
/* A column whose values may be those of another one, times a constant. */
void tally_page_columns_product(struct page_columns *columns, const char *name, enum page_type type,
				struct page_values values, const char *times,
				struct page_values factors);
/* Writes the container: the index, and each column as a zlib stream.  0 or -ENOMEM. */
int tally_page_columns_write(struct page_columns *columns, struct tally_buf *to);
void tally_page_columns_done(struct page_columns *columns);

#endif
