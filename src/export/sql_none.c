/* Replaces the database where SQLite is missing. */
#include <errno.h>
#include "base/fail.h"
#include "export/script_sql.h"

int tally_sql_write_chosen(struct tally_session *session, const char *path, bool fill,
			   const struct tally_sql_options *options, tally_sql_choose_fn choose,
			   void *context, struct tally_error *error)
{
	(void)session;
	(void)fill;
	(void)options;
	(void)choose;
	(void)context;
	return tally_fail(error, -ENOTSUP, -1,
			  "%s: this libtally was built without SQLite; build it where "
			  "libsqlite3-dev is installed",
			  path);
}
