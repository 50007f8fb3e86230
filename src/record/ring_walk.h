/* Reads the headers of the records in a ring, once, on the way to the file. */
#ifndef TALLY_RECORD_RING_WALK_H
#define TALLY_RECORD_RING_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "synth/build_ids.h"
#include "synth/left_running.h"

#define TALLY_WALK_TYPES 32 /* the kernel's records; Linux 7.0 has 22 */

struct tally_walk_counts {
	uint64_t samples, lost, throttled; /* lost: by LOST and LOST_SAMPLES records */
	uint64_t sideband_lost;            /* those of the side-band */
	uint64_t aux_cut, aux_gaps;        /* AUX records: TRUNCATED; PARTIAL or COLLISION */
	uint64_t bad_bytes;                /* skipped: no record could begin there */
	uint64_t first_time, last_time;    /* ns, of samples; 0: there are none */
	uint64_t records;
	uint64_t types[TALLY_WALK_TYPES]; /* records of each type; [0]: of larger types */
};

/* What a thread needs to walk rings, and its counts. */
struct tally_walk {
	bool timed; /* samples have a time, at `time_at` */
	size_t time_at;
	struct tally_layout sideband_layout; /* of the side-band's event */
	struct tally_build_ids *build_ids;
	/* Is called for memory that a process maps to run code in it; NULL: nobody asks. */
	void (*see_code)(void *context, uint32_t pid, uint64_t start, uint64_t size);
	void *see_code_context;
	size_t noted; /* of the side-band: mappings before this place are known already */
	struct tally_left_running *left_running; /* NULL: forks and exits are not noted */
	struct tally_walk_counts counts;
	uint8_t *joined; /* copy of a side-band record that wraps */
	bool too_long;   /* of the side-band that was walked last: it has records to be mended */
	uint8_t *mended; /* a copy of it */
};

/* `samples` NULL: their time is not noted. `sideband` NULL: walks sample rings only. 0 or -ENOMEM.
 */
int tally_walk_init(struct tally_walk *walk, const struct tally_attr *samples,
		    const struct tally_attr *sideband, struct tally_build_ids *build_ids);
void tally_walk_done(struct tally_walk *walk);
void tally_walk_counts_add(struct tally_walk_counts *to, const struct tally_walk_counts *more);

/* Counts the records from `from` on, until at least `most` bytes or all are walked. Returns the
 * offset of the record where the walk stopped: `from` itself when no record can begin there. */
size_t tally_walk_samples(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			  size_t from, size_t most);
/* The same for the side-band; notes its maps. */
size_t tally_walk_sideband(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			   size_t from, size_t most);
/* What of the side-band that was walked last is to be written, [from, to): these bytes, or a copy
 * of them in which the trailers of records that the kernel made too long are where readers look for
 * them, at the end.  It lives until the next walk. */
const struct tally_ring_bytes *tally_walk_mended(struct tally_walk *walk,
						 const struct tally_ring_bytes *bytes, size_t *from,
						 size_t *to, struct tally_ring_bytes *room);
/* Notes the side-band's maps from `from` on, and counts nothing: for records that are walked again
 * later. */
void tally_walk_mappings(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			 size_t from);

#endif
