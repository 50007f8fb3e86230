/* An index of a column of small numbers or of texts, made from a number a row when all rows are
 * there: SQLite's own sort of whole keys takes ten times as long. */
#ifndef TALLY_SQLITE_INDEX_H
#define TALLY_SQLITE_INDEX_H

#include "base/map.h"
#include "sqlite/sqlite_pages.h"

/* Rows from this one on have ids that count up from this. */
struct sqlite_id_run {
	uint64_t row, id;
};

struct sqlite_index {     /* all zero is empty and valid */
	uint32_t *values; /* by row: 0 is NULL, else a number + 1, or that of a text + 1 */
	uint64_t count, room;
	struct sqlite_id_run *runs;
	size_t run_count, run_room;
	uint64_t next_id;
	uint32_t most; /* of the values */
	bool text;
	struct tally_strings texts;
};

/* Whether to end: not 0. */
typedef int (*tally_sqlite_ask_fn)(void *context);

void tally_sqlite_index_done(struct sqlite_index *index);
/* Rows come with ascending ids.  0, -ENOMEM, or -EFBIG: a number of 2^32 - 1 or more. */
int tally_sqlite_index_null(struct sqlite_index *index, uint64_t id);
int tally_sqlite_index_number(struct sqlite_index *index, uint64_t id, uint64_t number);
int tally_sqlite_index_text(struct sqlite_index *index, uint64_t id, const char *text,
			    size_t length);
/* Writes the tree, and frees what the index holds.  0, -ENOMEM, -ECANCELED, or -errno. */
int tally_sqlite_index_write(struct sqlite_index *index, struct sqlite_pages *pages,
			     tally_sqlite_ask_fn ask, void *context, uint32_t *ret);

#endif
