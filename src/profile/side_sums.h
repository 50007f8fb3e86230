/* Sums of rows beside their own: parts by mode of the processor, periods before they were divided.
 */
#ifndef TALLY_PROFILE_SIDE_SUMS_H
#define TALLY_PROFILE_SIDE_SUMS_H

#include <stdint.h>
#include "profile/worker.h"

struct tally_profile;

/* Those of a profile whose rows are made; the array is the caller's to free().  0 or -ENOMEM. */
int tally_side_sums_make(const struct tally_profile *profile, const struct tally_call_sums *sums,
			 uint64_t (**ret)[SIDES]);

#endif
