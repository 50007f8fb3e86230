/* The records at the start of a recording, which describe what runs already. */
#ifndef TALLY_RECORDER_DESCRIBE_H
#define TALLY_RECORDER_DESCRIBE_H

#include <stdbool.h>
#include <sys/types.h>
#include <tally/error.h>
#include <tally/recorder.h>
#include "base/buf.h"
#include "collect/event_plan.h"
#include "collect/targets.h"
#include "synth/build_ids.h"
#include "synth/left_running.h"
#include "synth/synth.h"

struct tally_describe {
	const struct tally_recorder_options *options;
	const struct tally_plan *plan;
	const struct tally_targets *targets;
	pid_t command; /* the held child, or 0 */
	/* Not the first file: the command runs, and these processes were started since; NULL: the
	 * first file. */
	const struct tally_left_running *left_running;
	struct tally_build_ids *build_ids;
	struct tally_kernel_text *text; /* as struct tally_synth has it */
	uint64_t time;                  /* not 0: of records in the middle of a file */
};

/* Appends them to `to`.  *ret_hidden: the kernel is sampled, and this user may not see where its
 * functions are. */
int tally_describe_running(const struct tally_describe *describe, struct tally_buf *to,
			   bool *ret_hidden, struct tally_error *error);

#endif
