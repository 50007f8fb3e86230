/* What `tally profile` prints of a recording: its hottest functions and lines, its longest waits.
 */
#ifndef TALLY_CLI_PROFILE_HOTTEST_H
#define TALLY_CLI_PROFILE_HOTTEST_H

#include <stdio.h>
#include <tally/page.h>
#include <tally/session.h>

/* Rows of the page's lists as text, while the page is written. */
struct cli_profile_rows {
	FILE *to;
	size_t count;
	bool blocked; /* of the last one */
};
/* The page's `row`: the context is a struct cli_profile_rows. */
void cli_profile_put_row(void *context, const struct tally_page_row *row);

/* The hottest source lines to stderr.  0, -ENOMEM or an error of reading, said in `error`. */
int cli_profile_print_lines(struct tally_session *session, struct tally_error *error);

#endif
