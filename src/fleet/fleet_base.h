/* Places of an image that are the same on every host. */
#ifndef TALLY_FLEET_FLEET_BASE_H
#define TALLY_FLEET_FLEET_BASE_H

#include <stdbool.h>
#include <stdint.h>

struct tally_session;

/* What is taken off a place of an image: 0 of a file; of the kernel and its modules where they were
 * loaded, if they have a build-id.  Not known: places are addresses that mean nothing elsewhere. */
struct fleet_base {
	bool known;
	uint64_t base;
};
struct fleet_base tally_fleet_base(struct tally_session *session, uint32_t image);
/* Where the function of a frame begins, with that taken off; of one that was inlined, or of which
 * that is not known, 0. */
uint64_t tally_fleet_start(struct tally_session *session, uint32_t frame);

#endif
