/* The file of a database, which has its name when it is complete. */
#ifndef TALLY_EXPORT_SQL_FILE_H
#define TALLY_EXPORT_SQL_FILE_H

#include <stdbool.h>
#include <tally/error.h>

struct tally_sql_file;

/* Creates PATH.tmp.  -EEXIST, -errno. */
int tally_sql_file_open(const char *path, bool replace, struct tally_sql_file **ret,
			struct tally_error *error);
/* Of PATH.tmp; borrowed from the file. */
int tally_sql_file_fd(const struct tally_sql_file *file);
const char *tally_sql_file_path(const struct tally_sql_file *file);
/* Renames it to its final name and closes it. The struct is freed, also after a failure. */
int tally_sql_file_finish(struct tally_sql_file *file, struct tally_error *error);
/* Removes the file, and frees the struct; NULL is fine. */
void tally_sql_file_abandon(struct tally_sql_file *file);

#endif
