/* A recording as an SQLite database, for people who prefer queries: samples, call chains, their
 * functions, and all other records.  The schema is described in tally-sql(5). */
#ifndef TALLY_SQL_H
#define TALLY_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* meta.value where key is 'schema_version': changes when a table or a column is removed or changes
 * its meaning, not when one is added. */
#define TALLY_SQL_VERSION 1

struct tally_sql_options {
	size_t size;  /* sizeof of this struct */
	bool replace; /* an existing file is replaced */
	bool lines;   /* frames have their source lines, for which debug information is read */
};

/* Writes the database.  It is written as PATH.tmp and renamed when it is complete, so that PATH is
 * never an incomplete one; after a failure neither exists. 0; -EEXIST: PATH or PATH.tmp exists;
 * -ENOTSUP: built without SQLite; -ECANCELED: the session's progress function cancelled; -ENOMEM;
 * -errno of writing. */
int tally_sql_write(struct tally_session *session, const char *path,
		    const struct tally_sql_options *options, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
