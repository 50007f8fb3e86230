/* Replaces the database where SQLite is missing. */
#include <errno.h>
#include <tally/sql.h>
#include "base/fail.h"

int tally_sql_write(struct tally_session *session, const char *path,
		    const struct tally_sql_options *options, struct tally_error *error)
{
	(void)session;
	(void)options;
	return tally_fail(error, -ENOTSUP, -1,
			  "%s: this libtally was built without SQLite; build it where "
			  "libsqlite3-dev is installed",
			  path);
}
