/* Which share of call chains does not reach the start of its thread: what was cut off above. */
#ifndef TALLY_PROFILE_CHAIN_ENDS_H
#define TALLY_PROFILE_CHAIN_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct tally_profile;

/* Sums of periods. */
struct tally_chain_ends {
	uint64_t all; /* of the chains that were kept */
	uint64_t cut; /* of those that end before the start of their thread */
};

/* Of an event of a profile with chains; all 0: nothing can be said, as chains were cut on purpose
 * (max_stack). */
void tally_profile_chain_ends(const struct tally_profile *profile, size_t event,
			      struct tally_chain_ends *ret);

#endif
