/* What a thread's time line shows besides samples: tracepoints, and times off the CPU. */
#ifndef TALLY_FORMATS_FIREFOX_MARKERS_H
#define TALLY_FORMATS_FIREFOX_MARKERS_H

#include <stdint.h>
#include "base/map.h"
#include "convert/sample_rows.h"

struct tally_trace_text;

enum marker_kind { MARKER_TRACEPOINT, MARKER_OFF_CPU };

struct thread_marker {
	uint64_t start, end; /* ns of the event clock; equal for tracepoints */
	uint32_t pid, tid;
	uint32_t event; /* MARKER_TRACEPOINT */
	uint32_t text;  /* of `texts`: the payload; MARKER_OFF_CPU: 1 when it was preempted */
	enum marker_kind kind;
};

struct thread_markers { /* all zero is empty and valid */
	struct thread_marker *list;
	uint32_t count, room;
	struct tally_strings texts;
	struct tally_trace_text *trace; /* NULL: there is no tracing data */
};

/* Reads the formats of tracepoints.  0 or -ENOMEM. */
int tally_thread_markers_init(struct thread_markers *markers, const struct convert *convert);
void tally_thread_markers_done(struct thread_markers *markers);
/* Takes a sample when it is of a tracepoint; the rows need TALLY_COLUMN_SAMPLE.  0 or -errno. */
int tally_thread_markers_take(struct thread_markers *markers, const struct convert *convert,
			      const struct sample_row *row);
/* Reads the records of context switches, if there are some, from a time to another, and sorts all
 * by pid, tid and time.  0 or -errno with words. */
int tally_thread_markers_finish(struct thread_markers *markers, struct convert *convert,
				uint64_t from, uint64_t until);

#endif
