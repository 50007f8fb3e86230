/* The options of `tally top`. */
#ifndef TALLY_CLI_TOP_OPTIONS_H
#define TALLY_CLI_TOP_OPTIONS_H

#include <tally/profile.h>
#include <tally/recorder.h>
#include "filter_lists.h"
#include "record_options.h"
#include "settings.h"
#include "top_live.h"

struct top_options {
	struct record record; /* targets and events */
	const char *keys[TOP_KEYS_MOST];
	size_t key_count;
	double delay; /* s */
	uint64_t entries, refreshes, max_stack;
	bool zero, stdio, hide_kernel, hide_user, children, show_samples, show_period, relative,
	    intel;
	bool source, tui;
	uint64_t samples_least;
	double percent_limit;
	struct cli_filter filter; /* of names */
	const char *kallsyms, *vmlinux, *ignore_callees;
	bool no_demangle;
};

/* What the command line says, for the library: pointers lead into `options`.  -1, or an exit status
 * after a message. */
int top_options_take(struct top_options *options, int argc, char **argv,
		     struct tally_recorder_options *ret_record,
		     struct tally_session_options *ret_session,
		     struct tally_profile_options *ret_profile);
void top_options_done(struct top_options *options);

#endif
