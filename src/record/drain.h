/* From rings to the file: what a pass over all rings reads, counts and appends. */
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
#include "synth/build_ids.h"
#include "record/drain_workers.h"
#include "collect/openset.h"
#include "record/placement.h"
#include "record/ring_walk.h"
#include "record/side_kept.h"

struct tally_off_cpu;
struct tally_stack_block;
struct tally_unwinder;

#define TALLY_DRAIN_IOVECS 256

struct tally_drain {
	struct tally_openset *set;
	struct tally_writer *writer;
	struct tally_walk walk; /* with the counts */
	struct iovec iovecs[TALLY_DRAIN_IOVECS];
	struct tally_drain_taken {
		struct tally_ring *ring;
		size_t bytes;
	} taken[TALLY_DRAIN_IOVECS];
	int iovec_count, taken_count;
	size_t pending;      /* bytes in iovecs */
	uint64_t since_mark; /* bytes appended since the last checkpoint */
	bool appended;       /* since the last round */
	bool waits;          /* a stream: of the last round some may wait for a pass to end */
	size_t fullest;      /* of the last pass: bytes in the fullest ring, in 1/256 */
	struct tally_off_cpu *off_cpu; /* NULL: offcpu-time is not recorded */
	struct tally_buf *waiting;   /* gets what is for a file that is not open yet; NULL: it is */
	struct tally_buf *side_copy; /* gets the side-band of a pass, too; NULL: nothing does */
	size_t *looked; /* of each ring, bytes whose mappings are known already; NULL: none */
	struct tally_side_kept *side_kept; /* gets it instead of the file; NULL: the file does */
	/* When the recorder unwinds: passes fill a block, instead of the file. */
	struct tally_unwinder *unwinder;
	struct tally_stack_block *block; /* the next, which is empty; NULL: none yet */
	/* Several threads, when one is too slow. */
	struct tally_drain_workers *workers;
	unsigned workers_most; /* at most so many threads, with the caller's */
	unsigned
	    workers_forced; /* for tests: so many threads from the first pass on; 0: as needed */
	bool workers_on;
	bool sideband_only;                /* threads of their own drain the samples */
	size_t flush_least;                /* rings with fewer bytes wait, for a second at most */
	int64_t whole_at;                  /* ns; when all rings were read */
	bool whole, skipped;               /* this pass reads all of them; left some out */
	struct tally_placement *placement; /* NULL: it runs anywhere */
	unsigned behind, calm;   /* passes in a row that came too late, and with time to spare */
	uint64_t lost_before;    /* before the last pass */
	unsigned workers_widest; /* most threads that shared a pass; 0: none was shared */
	uint64_t passes, shared; /* shared: by several threads */
};

int tally_drain_init(struct tally_drain *drain, struct tally_openset *set,
		     struct tally_writer *writer, struct tally_build_ids *build_ids);
void tally_drain_done(struct tally_drain *drain);

/* What comes next goes to another file, behind what waited for it. Between two passes. */
int tally_drain_turn(struct tally_drain *drain, struct tally_writer *writer,
		     const struct tally_buf *waited, struct tally_error *error);

/* Of a ring: what comes first was looked at before this pass. Then that is forgotten. */
size_t tally_drain_looked(struct tally_drain *drain, size_t index);

/* Appends what is pending and gives its room in the rings back. 0 or -errno with words. */
int tally_drain_flush(struct tally_drain *drain, struct tally_error *error);
/* Appends what all rings hold now. 0 or -errno with words. */
int tally_drain_pass(struct tally_drain *drain, struct tally_error *error);
/* Ends a pass in the file: all records older than the latest of the pass before are written now. */
int tally_drain_round(struct tally_drain *drain, bool checkpoint, struct tally_error *error);

/* The end: appends the samples of threads that are still blocked. 0 or -errno with words. */
int tally_drain_blocked(struct tally_drain *drain, struct tally_error *error);

/* drain_stacks.c: what a pass is when there is an unwinder. */
int tally_drain_pass_stacks(struct tally_drain *drain, struct tally_error *error);
/* The same for what tally_off_cpu_end() made. */
int tally_drain_blocked_stacks(struct tally_drain *drain, struct tally_error *error);
/* One record of a ring, which tally_drain_put_stacks() passes on. */
int tally_drain_stack_record(struct tally_drain *drain, const struct tally_ring_bytes *bytes,
			     size_t from, size_t to, struct tally_error *error);
void tally_drain_put_stacks(struct tally_drain *drain);

/* Appends the samples of overwritten rings (drain_kept.c), oldest first, each once. `last`: the
 * rings get no more. 0 or -errno with words. */
int tally_drain_kept(struct tally_drain *drain, bool last, struct tally_error *error);

#endif
