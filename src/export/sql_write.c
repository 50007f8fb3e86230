#include <tally/sql.h>
#include "export/script_sql.h"

int tally_sql_write(struct tally_session *session, const char *path,
		    const struct tally_sql_options *options, struct tally_error *error)
{
	return tally_sql_write_chosen(session, path, false, options, NULL, NULL, error);
}
