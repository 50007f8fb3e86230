/* A report as a screen to walk in. */
#ifndef TALLY_CLI_REPORT_SCREEN_H
#define TALLY_CLI_REPORT_SCREEN_H

#include <stdbool.h>
#include <tally/profile.h>

/* Shows the profile until somebody quits.  0; -ENOTTY: there is no terminal for it; -ENOSYS: built
 * without libncursesw; -ENOMEM. */
int cli_report_screen(struct tally_profile *profile, double percent_limit,
		      enum tally_call_order order);

#endif
