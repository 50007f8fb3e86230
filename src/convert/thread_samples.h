/* The samples of each thread in the order of their times, for formats that show one thread after
 * another.  24 bytes a sample. */
#ifndef TALLY_CONVERT_THREAD_SAMPLES_H
#define TALLY_CONVERT_THREAD_SAMPLES_H

#include <stdint.h>
#include "convert/convert.h"
#include "convert/sample_rows.h"
#include "convert/stack_table.h"

struct thread_sample {
	uint64_t time, period;
	uint32_t node; /* of the stacks */
	uint32_t cpu;  /* UINT32_MAX: unknown */
};

/* A thread, by event when `by_event` is asked for. */
struct thread_track {
	uint32_t pid, tid, event; /* event: of the first sample */
	const char *comm;         /* the last one */
	uint32_t number;          /* in the order of their first samples */
	struct thread_sample *samples;
	uint32_t count, room;
};

struct thread_samples {
	struct stack_table stacks;
	struct thread_track *tracks; /* by pid, tid, event */
	uint32_t count, room;
	struct tally_map known;
	bool by_event;
	/* When the order of all is asked for: the number of the track of each sample. */
	bool in_order;
	uint32_t *order;
	uint32_t order_count, order_room;
	uint64_t first_time, last_time; /* of all */
	struct convert *convert;
	uint32_t thread, event, track; /* of the last sample: the session's thread, its track */
	/* For a format that takes more of a sample; or NULL, which lets threads share the reading.
	 * 0 or -errno. */
	int (*more)(void *context, const struct sample_row *row);
	void *context;
	uint64_t columns; /* TALLY_COLUMN_* for that */
};

/* Reads the samples that the options choose; `ret` is all zero but for `by_event`, `in_order`
 * and the last three members.  0 or -errno with words; to be released in any case. */
int tally_thread_samples_make(struct convert *convert, struct thread_samples *ret);
void tally_thread_samples_done(struct thread_samples *threads);
/* For how long, in ns, a sample stands: until the next one of its thread, when that is as soon as
 * samples come while a thread runs; else as long as samples are apart, if the event says so. */
uint64_t tally_thread_sample_length(const struct thread_samples *threads,
				    const struct thread_track *track, uint32_t sample);

#endif
