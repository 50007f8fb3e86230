/* Who writes what the rings have: the thread that drains, one behind it, or one for some CPUs each.
 */
#ifndef TALLY_RECORD_WRITING_H
#define TALLY_RECORD_WRITING_H

#include <tally/recorder.h>
#include "collect/notice.h"
#include "record/drain.h"
#include "record/drain_threads.h"
#include "record/placement.h"
#include "record/thread_spec.h"

struct tally_writing {
	const struct tally_recorder_rings *rings;
	struct tally_thread_spec spec; /* count 0: no threads */
	struct tally_drain_threads *threads;
	struct tally_placement placement;
	uint64_t part_bytes; /* of the files data.N, at the end */
};

/* Takes the options apart; `set` is open.  `stream`: the recording is one.  0 or -errno with words.
 */
int tally_writing_init(struct tally_writing *writing, const struct tally_recorder_rings *rings,
		       const struct tally_openset *set, bool stream, struct tally_error *error);
void tally_writing_done(struct tally_writing *writing);

/* Before the first event is enabled: `drain` is ready, `folder` is the recording's path. */
int tally_writing_start(struct tally_writing *writing, struct tally_drain *drain,
			const char *folder, int compress_level, int wake_fd,
			struct tally_error *error);
/* 0, or why a thread has failed. */
int tally_writing_check(struct tally_writing *writing, struct tally_error *error);
/* After the events were disabled and before the last pass: all is read and written from here on. */
int tally_writing_finish(struct tally_writing *writing, struct tally_drain *drain,
			 struct tally_error *error);

#endif
