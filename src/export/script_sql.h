/* tally_sql_write() of some samples. */
#ifndef TALLY_EXPORT_SCRIPT_SQL_H
#define TALLY_EXPORT_SCRIPT_SQL_H

#include <tally/sql.h>

struct tally_resolved;
struct tally_resolver;

/* 1: the sample is wanted, 0: not; or -errno. */
typedef int (*tally_sql_choose_fn)(void *context, struct tally_resolver *resolver,
				   const struct tally_resolved *sample);

/* The same with the samples that `choose` (NULL: all) wants; all other records are in it.  `fill`:
 * the path is an empty file that is the caller's. */
int tally_sql_write_chosen(struct tally_session *session, const char *path, bool fill,
			   const struct tally_sql_options *options, tally_sql_choose_fn choose,
			   void *context, struct tally_error *error);

#endif
