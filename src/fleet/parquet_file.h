/* A table of a fleet: a Parquet file that gets its name when it is complete. */
#ifndef TALLY_FLEET_PARQUET_FILE_H
#define TALLY_FLEET_PARQUET_FILE_H

#include <stdio.h>
#include "convert/convert.h"
#include "parquet/parquet.h"

struct parquet_file { /* all zero is none */
	struct parquet_writer *writer;
	struct parquet_rows *rows;
	FILE *to;
	char *path, *incomplete;
};

/* Makes FOLDER/NAME-NUMBER.parquet.  0; -ENOMEM, or -errno with words; to be released by
 * tally_parquet_file_drop() in any case. */
int tally_parquet_file_new(const struct convert *convert, const char *folder, const char *name,
			   uint64_t number, const struct parquet_table *table,
			   struct parquet_file *ret);
/* The number of a text of some rows.  After a failure, which is kept in *failed, 0. */
uint64_t tally_parquet_file_text(struct parquet_rows *rows, const char *text, int *failed);
/* A text that stays where it is, and its number. */
struct last_text {
	const char *text;
	uint64_t number;
};
/* The same of a text that is mostly the last one again. */
static inline uint64_t parquet_file_same_text(struct parquet_rows *rows, struct last_text *last,
					      const char *text, int *failed)
{
	if (last->text != text)
		*last = (struct last_text){text, tally_parquet_file_text(rows, text, failed)};
	return last->number;
}
/* Writes the rest of its rows, and the end.  0, -ENOMEM, or -errno with words. */
int tally_parquet_file_end(const struct convert *convert, struct parquet_file *file);
/* Gives the complete file its name; an older one of that name is replaced.  0, or -errno with
 * words. */
int tally_parquet_file_name(const struct convert *convert, struct parquet_file *file);
/* Removes what has no name yet, and frees the members. */
void tally_parquet_file_drop(struct parquet_file *file);

#endif
