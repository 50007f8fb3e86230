/* Runs of samples whose times ascend, as the first pass finds them in the file: the records of one
 * flush of a ring are divided into such runs.  If perf's rounds only sort by time, the runs are
 * enough to restore the order: any thread can sort any window of time by itself
 * (time_windows.h). */
#ifndef TALLY_SOURCE_ASCENDING_RUNS_H
#define TALLY_SOURCE_ASCENDING_RUNS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_data;

/* Samples, and other records between them, within one piece. */
struct ascending_run {
	uint64_t first, last; /* times, of the first and of the last sample */
	uint64_t place;       /* as of a record (order.h): of the first sample; but the size is the
			       * distance from its start to that of the last one */
};

/* The smallest run in bytes; larger files have longer runs, so that there are not too many.  With
 * short rings there are more; too many cost more than they save. */
#define RUN_BYTES_LEAST ((size_t)8 * 1024)
#define RUN_BYTES_MOST  ((size_t)32 * 1024)
#define RUNS_WANTED     ((size_t)64 * 1024)

/* Times of a round: the least of samples, the greatest of all records. */
struct run_round {
	uint64_t least, most;
};

/* Finds runs in one walk over records. */
struct run_finder {
	bool on;                     /* false: the order is not by time alone, or is not needed */
	int sample_at, trailer_back; /* where times are; trailer_back 0: side-band records have none
				      */
	size_t bytes, most;          /* of a run; runs */
	struct ascending_run *list;
	size_t count, room;
	/* The current one, list[count - 1]. */
	uint64_t time; /* of its last sample */
	size_t start, end, piece;
	struct run_round *rounds; /* that were ended */
	size_t round_count, round_room;
	struct run_round round; /* the current round, without the current run */
};

struct tally_source;

/* All zero, or ready for the source's file. */
void tally_run_finder_init(struct run_finder *finder, const struct tally_source *source);
void tally_run_finder_done(struct run_finder *finder);
/* Ends the current run. */
void tally_run_finder_end(struct run_finder *finder);
/* A sample that begins one; a round's end.  0 or -ENOMEM. */
int tally_run_finder_begin(struct run_finder *finder, uint64_t time, size_t piece, size_t at);
int tally_run_finder_round(struct run_finder *finder);

/* Takes a sample, at an offset in a piece. */
static inline int run_finder_add(struct run_finder *finder, uint64_t time, size_t piece, size_t at)
{
	if (__builtin_expect(time < finder->time || piece != finder->piece ||
				 at - finder->start >= finder->bytes,
			     0))
		return tally_run_finder_begin(finder, time, piece, at);
	finder->time = time;
	finder->end = at;
	return 0;
}

/* Takes the time of a record that is not a sample. */
static inline void run_finder_add_time(struct run_finder *finder, uint64_t time)
{
	if (time > finder->round.most && time != UINT64_MAX)
		finder->round.most = time;
}

/* Gives the runs that walks over parts of the file found, in order, to the source, unless rounds
 * did more than sort by time.  0 or -ENOMEM. */
struct scan;
int tally_ascending_runs_take(struct tally_source *source, struct scan *scans, size_t count);

#endif
