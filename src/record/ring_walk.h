/* The headers of the records that a ring holds, walked once on the way to the file. */
#ifndef TALLY_RECORD_RING_WALK_H
#define TALLY_RECORD_RING_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "record/build_ids.h"
#include "record/survivors.h"

#define TALLY_WALK_TYPES 32 /* the kernel's records; Linux 7.0 has 22 */

struct tally_walk_counts {
	uint64_t samples, lost, throttled; /* lost: as LOST and LOST_SAMPLES records tell */
	uint64_t sideband_lost;            /* records of the side-band among them */
	uint64_t bad_bytes;                /* left out, as no record could stand there */
	uint64_t first_time, last_time;    /* ns, of samples; both 0 without one */
	uint64_t records;
	uint64_t types[TALLY_WALK_TYPES]; /* records of each type; at 0 those of others */
};

/* What a thread needs to walk rings, and what it counted. */
struct tally_walk {
	bool timed; /* samples have a time, at `time_at` */
	size_t time_at;
	struct tally_layout sideband_layout; /* of the side-band's event */
	struct tally_build_ids *build_ids;
	struct tally_survivors *survivors; /* NULL: processes that begin and end are not noted */
	struct tally_walk_counts counts;
	uint8_t *joined; /* a side-band record that wraps, put together */
};

/* `samples` NULL: they have no time that could be noted.  `sideband` NULL: it walks sample rings
 * only.  0 or -ENOMEM. */
int tally_walk_init(struct tally_walk *walk, const struct tally_attr *samples,
		    const struct tally_attr *sideband, struct tally_build_ids *build_ids);
void tally_walk_done(struct tally_walk *walk);
void tally_walk_counts_add(struct tally_walk_counts *to, const struct tally_walk_counts *more);

/* Counts the records from `from` on, until at least `most` bytes were passed or all of them;
 * returns where the walk stopped, a record's start.  A place where no record can stand stops it
 * too: it then returns `from` or the place. */
size_t tally_walk_samples(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			  size_t from, size_t most);
/* The same for the side-band, whose maps it notes. */
size_t tally_walk_sideband(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			   size_t from, size_t most);

#endif
