/* Samples without call chains, looked up in the order of their addresses.
 *
 * One after another they are all over the address space, so that each look-up waits for memory:
 * mappings, symbols, frames, nodes.  So they wait until there are many; what is near by is looked
 * up together then, and most are where the one before was. */
#ifndef TALLY_PROFILE_FLAT_H
#define TALLY_PROFILE_FLAT_H

#include <stdint.h>
#include "session/resolve.h"

struct tally_gather;
struct tally_resolver;

#define FLAT_MODES 8u /* PERF_RECORD_MISC_CPUMODE_MASK, and 0 */

/* All zero is empty and valid. */
struct tally_flat {
	struct tally_flat_sample *samples, *spare;
	struct tally_flat_view *views; /* what was known of their threads, each time it changed */
	uint32_t count, view_count, view_room;
	uint32_t last[FLAT_MODES]; /* by cpumode: the number of the last view, if it is there */
};

void tally_flat_done(struct tally_flat *flat);
/* Keeps one for later, or looks up all.  0 or -ENOMEM. */
int tally_flat_add(struct tally_gather *gather, struct tally_resolver *resolver,
		   const struct tally_resolved *sample, uint32_t root, uint64_t period);
/* The same for a run of samples, each with its own period or (not 0) that one. */
int tally_flat_add_run(struct tally_gather *gather, struct tally_resolver *resolver,
		       const struct tally_sample_run *run, uint32_t root, uint64_t period);
/* Looks up all that wait, with a resolver of the session's.  0 or -ENOMEM. */
int tally_flat_settle(struct tally_gather *gather, struct tally_resolver *resolver);

#endif
