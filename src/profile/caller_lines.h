/* Rows of callers by what is their own: with the keys srcline and srcfile a caller's row has the
 * line of its call, where samples have the line of their address (nodes of the call tree then
 * differ by places: session option `places`), and with symbol_size and dso_size the size of its own
 * function and mapping.  Each node belongs to a row of another context than its samples. */
#ifndef TALLY_PROFILE_CALLER_LINES_H
#define TALLY_PROFILE_CALLER_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct tally_profile;

/* Whether rows need it. */
bool tally_caller_lines_wanted(const struct tally_profile *profile);
/* The number of the context of each node's row, for free(); new ones are added to the profile's.
 * Its tree has kept its frames.  0 or -ENOMEM. */
int tally_caller_lines_contexts(struct tally_profile *profile, uint32_t **ret);

#endif
