/* A report as a screen to walk in. */
#ifndef TALLY_CLI_REPORT_SCREEN_H
#define TALLY_CLI_REPORT_SCREEN_H

#include <stdbool.h>
#include <tally/profile.h>

struct report_screen {
	struct tally_session *session;
	struct tally_profile *profile; /* what the screen begins with; stays the caller's */
	/* That it was made with: profiles of threads, binaries and stacks are made with others of
	 * their own keys. */
	const struct tally_profile_options *options;
	double percent_limit;
	enum tally_call_order order;
	bool show_samples, show_period; /* columns of these sums */
};

/* Shows it until somebody quits.  0; -ENOTTY: there is no terminal for it; -ENOSYS: built without
 * libncursesw; -ENOMEM; -errno with words. */
int cli_report_screen(const struct report_screen *report, struct tally_error *error);

#endif
