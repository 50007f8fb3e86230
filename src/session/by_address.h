/* Samples without call chains, looked up in the order of their addresses.
 *
 * In their original order they are all over the address space, so that each look-up waits for
 * memory: mappings, symbols, frames.  So they are collected until there are many; then most are
 * near the one before. */
#ifndef TALLY_SESSION_BY_ADDRESS_H
#define TALLY_SESSION_BY_ADDRESS_H

#include <stdint.h>
#include "resolve/resolve.h"

struct row_maker;

#define BY_ADDRESS_MODES 8u /* PERF_RECORD_MISC_CPUMODE_MASK, and 0 */

/* All zero is empty and valid. */
struct tally_by_address {
	struct by_address_sample *samples, *spare;
	uint32_t *counts;              /* while they are sorted; stacks may be small */
	struct by_address_view *views; /* what was known of their threads, each time it changed */
	uint32_t count, view_count, view_room;
	uint32_t last[BY_ADDRESS_MODES]; /* by cpumode: the number of the last view */
};

/* Samples at one address, or in one function when addresses are not asked for. */
struct by_address_row {
	uint64_t period, addr, place;
	uint32_t samples, event, thread, cpu, frame;
	uint32_t nameless; /* which of the places, while the frame is TALLY_FRAME_NAMELESS */
};

void tally_by_address_done(struct tally_by_address *waiting);
/* Keeps a sample for later, or looks up all that wait.  0, -ENOMEM, or what a sink returned. */
int tally_by_address_add(struct row_maker *maker, const struct tally_resolved *sample,
			 uint64_t period);
/* Looks up all that wait.  As above. */
int tally_by_address_flush(struct row_maker *maker);

#endif
