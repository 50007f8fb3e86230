/* The texts of places by rank: comparing two numbers is comparing two texts. */
#ifndef TALLY_PROFILE_PLACE_RANKS_H
#define TALLY_PROFILE_PLACE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

struct tally_places;

struct tally_place_ranks {
	uint32_t
	    *symbol;   /* by frame, of those that stand for a place; no symbol: above all others */
	uint32_t *dso; /* by dso */
};

/* `symbols`: theirs are wanted.  0 or -ENOMEM; to be given back by tally_place_ranks_done() in
 * either case. */
int tally_place_ranks_make(const struct tally_places *places, bool symbols,
			   struct tally_place_ranks *ret);
void tally_place_ranks_done(struct tally_place_ranks *ranks);

#endif
