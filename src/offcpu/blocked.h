/* Who was blocked, where, and for how long: the kernel's records of context switches become samples
 * whose period is the time between a thread's leaving the CPU and its return.
 *
 * The records are of one event, in the order of time: a sample when a thread leaves the CPU (the
 * event context-switches), with the stack that it leaves with, and then a PERF_RECORD_SWITCH that
 * says whether the thread was preempted. A preempted thread is ready to run: it is not blocked.
 * Where a user may not sample the kernel there is no such sample; then the samples are those of
 * another event, and the last one of a thread stands for the place where it blocked.
 *
 * Source: perf_event_task_sched_out() of include/linux/perf_event.h (the sample comes first) and
 * perf_event_switch() of kernel/events/core.c. What a sample says is what perf's own offcpu-time
 * says (perf-record(1), --off-cpu). */
#ifndef TALLY_OFFCPU_BLOCKED_H
#define TALLY_OFFCPU_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/record.h>
#include "base/buf.h"

struct tally_blocked;

struct tally_blocked_options {
	struct tally_layout
	    layout;        /* of the event's records; a copy of the stack is the last field */
	uint64_t least_ns; /* shorter times are left out */
	bool last_stack;   /* samples are not taken when a thread leaves the CPU */
};

struct tally_blocked_counts {
	uint64_t samples, ns;           /* that were made, and the sum of their periods */
	uint64_t short_ones;            /* times that were left out because they are short */
	uint64_t no_stack;              /* times that were left out because the stack was lost */
	uint64_t first_time, last_time; /* ns, of the samples that were made; 0: there are none */
};

/* Returns 0 or -ENOMEM. */
int tally_blocked_new(const struct tally_blocked_options *options, struct tally_blocked **ret);
void tally_blocked_free(struct tally_blocked *blocked);

/* Takes the next record, and appends the samples that are complete now. A sample has the time of
 * the thread's return, the address of the function that blocked in user space, and the period in
 * ns. Records of other types are skipped. Returns 0 or -ENOMEM. */
int tally_blocked_feed(struct tally_blocked *blocked, const struct tally_record *record,
		       struct tally_buf *to);
/* The time of a record, or 0 when it has none. */
uint64_t tally_blocked_time(const struct tally_blocked *blocked, const struct tally_record *record);
/* The recording is interrupted: forgets who is blocked. */
void tally_blocked_forget(struct tally_blocked *blocked);
/* The recording ends at `time`: appends a sample for each thread that is still blocked and for
 * which `lives` returns true. Returns 0 or -ENOMEM. */
int tally_blocked_end(struct tally_blocked *blocked, uint64_t time, bool (*lives)(uint32_t tid),
		      struct tally_buf *to);

/* Counts the times of the samples from here on. */
void tally_blocked_forget_times(struct tally_blocked *blocked);
const struct tally_blocked_counts *tally_blocked_counts(const struct tally_blocked *blocked);

#endif
