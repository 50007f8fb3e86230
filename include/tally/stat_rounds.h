/* Recordings of counts: what `tally stat record` and `perf stat record` write, and their reports
 * read.
 *
 * A recording says what is counted and where (events, threads, CPUs), and then has rounds: all
 * counts at one moment, since the start.  Source: tools/lib/perf/include/perf/event.h, and the
 * files of perf 6.1. */
#ifndef TALLY_STAT_ROUNDS_H
#define TALLY_STAT_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/count.h>
#include <tally/data.h>
#include <tally/error.h>
#include <tally/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* --- reading --- */

/* Whether a recording is of counts.  Reads its first records; the next reading starts at the first.
 */
bool tally_stat_rounds_known(struct tally_data *data);

struct tally_stat_rounds;
/* `data` is borrowed until free, and read from where it is.  -ENOMEM. */
int tally_stat_rounds_new(struct tally_data *data, struct tally_stat_rounds **ret,
			  struct tally_error *error);
void tally_stat_rounds_free(struct tally_stat_rounds *rounds); /* NULL is fine */

struct tally_stat_round {
	size_t size;   /* sizeof of this struct, set by the caller */
	uint64_t time; /* ns since the start */
	bool last;     /* of the whole run; else the end of an interval */
	/* [event][place] of tally_stat_rounds_options(), since the run began, not scaled; borrowed
	 * until the next call.  Events without any count are TALLY_COUNT_NOT_SUPPORTED. */
	const struct tally_count *counts;
};
/* The next round.  1; 0: there are no more; -EINVAL: ret->size is not set; -ENODATA: the recording
 * does not say which threads and CPUs were counted; -E2BIG: too many; -ENOMEM; and what
 * tally_data_next_record() fails with. */
int tally_stat_rounds_next(struct tally_stat_rounds *rounds, struct tally_stat_round *ret,
			   struct tally_error *error);
/* For tally_stat_new(), after the first round: events, places (for each thread each CPU, -1 of
 * counts of tasks), and how the recorder added them up.  Borrowed until free. */
const struct tally_stat_options *tally_stat_rounds_options(const struct tally_stat_rounds *rounds);

/* --- writing --- */

struct tally_stat_writer_options {
	size_t size; /* sizeof of this struct */
	/* What is counted; `by` and `unscaled` are recorded, too.  A place's index is that of the
	 * counts.  Borrowed until close. */
	const struct tally_stat_options *stat;
	/* By event: attr as it was opened, name and leader.  Their ids are those of `counts`:
	 * [event][place], id 0 where an event is not counted. */
	const struct tally_writer_event *events;
	const struct tally_count *counts;
	uint64_t interval_ms; /* 0: one round at the end */
	const char *const *cmdline;
	size_t cmdline_count;
};

struct tally_stat_writer;
/* `path` as tally_writer_open() has it.  0; -EINVAL: options->size; -ENOMEM; and what
 * tally_writer_open() and tally_writer_append() fail with. */
int tally_stat_writer_open(const char *path, const struct tally_stat_writer_options *options,
			   struct tally_stat_writer **ret, struct tally_error *error);
/* Adds all counts as they are at `time`, ns since the start; what was added stays readable whatever
 * happens to the process.  `last`: they are of the whole run. */
int tally_stat_writer_round(struct tally_stat_writer *writer, const struct tally_count *counts,
			    uint64_t time, bool last, struct tally_error *error);
/* Completes the file and frees the writer, also after a failure; NULL is fine. */
int tally_stat_writer_close(struct tally_stat_writer *writer, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
