/* A recording as an SQLite database, for people who would rather query: samples, call chains, where
 * their addresses lead, and all other records.  The schema is described in tally-sql(5). */
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

/* meta.value where key is 'schema_version': changes when a table or a column gets another meaning
 * or goes; new ones may come without. */
#define TALLY_SQL_VERSION 1

struct tally_sql_options {
	size_t size;  /* sizeof of this struct */
	bool replace; /* an existing file is replaced */
	bool lines;   /* frames have their source lines: takes debug information to be read */
};

/* Writes the database.  It is made as PATH.tmp and gets its name when it is whole, so that PATH is
 * never half of one; after a failure neither is there.  0; -EEXIST: PATH is there, or PATH.tmp is
 * in the way; -ENOTSUP: built without SQLite; -ECANCELED: the session's progress said so; -ENOMEM;
 * -errno of writing. */
int tally_sql_write(struct tally_session *session, const char *path,
		    const struct tally_sql_options *options, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
