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
struct tally_gather;
struct tally_gather_spot;
struct tally_profile;

struct tally_tree_rows {
	uint64_t *frames; /* a bit each: its place is that of a chosen row, in some context */
	uint64_t *spots;  /* bits by hashes of addresses: some with it led there; NULL: not known */
	uint32_t frame_count;
	uint32_t count;  /* chosen rows have the numbers below */
	uint32_t *slots; /* index in the list of rows + 1, by context and key; 0: free */
	uint32_t slot_room;
};

/* Chooses the rows of at least profile->tree_least and numbers all.  0 or -ENOMEM. */
int tally_tree_rows_choose(struct tally_profile *profile, struct tally_tree_rows *ret);
/* Takes the spots that finding the rows noted, from all its samples.  0 or -ENOMEM. */
int tally_tree_rows_spots(struct tally_tree_rows *chosen, const struct tally_gather_spot *spots,
			  uint32_t count);
void tally_tree_rows_done(struct tally_tree_rows *chosen);
/* Takes what was gathered of their samples as the profile's call tree.  0 or -ENOMEM. */
int tally_tree_rows_take(struct tally_profile *profile, const struct tally_tree_rows *chosen,
			 struct tally_gather *gather);

/* Few enough bits to stay in a processor's second cache. */
#define TALLY_TREE_ROWS_SPOT_BITS 20

static inline uint32_t tree_rows_hash(uint64_t addr)
{
	return (uint32_t)(hash_u64(addr) >> (64 - TALLY_TREE_ROWS_SPOT_BITS));
}

/* Whether an address may be a spot of such a frame: most are told apart without a look-up. */
static inline bool tree_rows_may_hold(const struct tally_tree_rows *chosen, uint64_t addr)
{
	uint32_t hash = tree_rows_hash(addr);

	return !chosen->spots || chosen->spots[hash / 64] >> (hash % 64) & 1;
}

static inline bool tree_rows_may_have(const struct tally_tree_rows *chosen, uint32_t frame)
{
	return frame < chosen->frame_count && chosen->frames[frame / 64] >> (frame % 64) & 1;
}

#endif
