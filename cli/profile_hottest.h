/* What `tally profile` prints of a recording: its hottest functions and lines, its longest waits.
 */
#ifndef TALLY_CLI_PROFILE_HOTTEST_H
#define TALLY_CLI_PROFILE_HOTTEST_H

#include <tally/session.h>

/* To stderr, the functions with the waits behind them.  0, -ENOMEM or an error of reading, said in
 * `error`. */
int cli_profile_print_functions(struct tally_session *session, struct tally_error *error);
int cli_profile_print_lines(struct tally_session *session, struct tally_error *error);

#endif
