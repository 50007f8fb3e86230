/* Rings into the file: what a pass over all rings takes, counts and appends. */
#ifndef TALLY_RECORD_DRAIN_H
#define TALLY_RECORD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <tally/data.h>
#include <tally/error.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "record/build_ids.h"
#include "record/crew.h"
#include "collect/openset.h"
#include "record/ring_walk.h"

#define TALLY_DRAIN_IOVECS 256

struct tally_drain {
	struct tally_openset *set;
	struct tally_writer *writer;
	struct tally_walk walk; /* and what was counted */
	struct iovec iovecs[TALLY_DRAIN_IOVECS];
	struct tally_drain_taken {
		struct tally_ring *ring;
		size_t bytes;
	} taken[TALLY_DRAIN_IOVECS];
	int iovec_count, taken_count;
	size_t pending;      /* bytes in iovecs */
	uint64_t since_mark; /* bytes appended since the last checkpoint */
	bool appended;       /* since the last round */
	size_t fullest;      /* of the last pass: ring's fill in 1/256 */
	/* Several threads, when one does not keep up. */
	struct tally_crew *crew;
	unsigned crew_most;   /* threads that it may have, the caller's included */
	unsigned crew_forced; /* for tests: so many from the first pass on; 0: as needed */
	bool crew_on;
	unsigned behind, calm;   /* passes in a row that were too late, or had time to spare */
	uint64_t lost_before;    /* as of the pass before */
	unsigned crew_widest;    /* threads that shared a pass, at most; 0: there was no need */
	uint64_t passes, crewed; /* of all passes, those by several threads */
};

int tally_drain_init(struct tally_drain *drain, struct tally_openset *set,
		     struct tally_writer *writer, struct tally_build_ids *build_ids);
void tally_drain_done(struct tally_drain *drain);

/* Appends what is pending and gives the room in the rings back.  0 or -errno with words. */
int tally_drain_flush(struct tally_drain *drain, struct tally_error *error);
/* Takes what all rings hold now and appends it.  0 or -errno with words. */
int tally_drain_pass(struct tally_drain *drain, struct tally_error *error);
/* Ends a pass in the file: what is older than the latest of the pass before is all there. */
int tally_drain_round(struct tally_drain *drain, bool checkpoint, struct tally_error *error);

/* Takes what is kept of events that are written over (drain_kept.c), oldest first.  Their events
 * must be disabled.  0 or -errno with words. */
int tally_drain_kept(struct tally_drain *drain, struct tally_error *error);

#endif
