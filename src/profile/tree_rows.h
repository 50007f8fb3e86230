/* The rows whose trees are wanted, when it is known which: of all chains only those of samples in
 * them are needed.
 *
 * Rows are found without call chains first, which costs little; the large ones are chosen, and what
 * is read again for trees are the samples whose own place is that of a chosen row. */
#ifndef TALLY_PROFILE_TREE_ROWS_H
#define TALLY_PROFILE_TREE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

struct tally_contexts;
struct profile_address;
struct profile_worker;
struct tally_profile;

struct tally_tree_rows {
	uint64_t *frames; /* a bit each: its place is that of a chosen row, in some context */
	/* Bits by rows_address_hash(): some address with it led there; NULL: not known. */
	uint64_t *addresses;
	uint32_t frame_count;
	uint32_t count;  /* chosen rows have the numbers below */
	uint32_t *slots; /* index in the list of rows + 1, by context and key; 0: free */
	uint32_t slot_room;
};

/* Chooses the rows of at least profile->tree_least and numbers all.  0 or -ENOMEM. */
int tally_tree_rows_choose(struct tally_profile *profile, struct tally_tree_rows *ret);
/* Takes the addresses that finding the rows noted, from all its samples.  0 or -ENOMEM. */
int tally_tree_rows_addresses(struct tally_tree_rows *chosen,
			      const struct profile_address *addresses, uint32_t count);
void tally_tree_rows_done(struct tally_tree_rows *chosen);
/* Takes what was made of their samples as the profile's call tree.  0 or -ENOMEM. */
int tally_tree_rows_take(struct tally_profile *profile, const struct tally_tree_rows *chosen,
			 struct profile_worker *worker);

#endif
