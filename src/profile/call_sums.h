/* Sums of samples that are in one context, stack and frame.
 *
 * A sum that was added to lately is found by a hash and grows; else a new one begins, so that there
 * may be several of the same: what reads them adds them up anyway.  So nothing is moved, and two
 * lists become one by being put together. */
#ifndef TALLY_PROFILE_CALL_SUMS_H
#define TALLY_PROFILE_CALL_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct tally_call_sum {
	uint64_t self;         /* periods */
	uint32_t context;      /* number */
	uint32_t stack, frame; /* of the session; the frame may be another than the stack's */
	uint32_t samples;
};

struct tally_call_sums { /* all zero is empty and valid */
	struct tally_call_sum *list;
	uint32_t *lately;                  /* by hash: number + 1 */
	uint32_t count, room, lately_room; /* the last: a power of two */
};

void tally_call_sums_done(struct tally_call_sums *sums);
/* Makes room for so many more.  0 or -ENOMEM. */
int tally_call_sums_reserve(struct tally_call_sums *sums, uint32_t more);
/* Adds all of `from`; contexts[n] is the number here of its context n.  0 or -ENOMEM. */
int tally_call_sums_join(struct tally_call_sums *sums, const struct tally_call_sums *from,
			 const uint32_t *contexts);
/* Leaves one sum where several are of the same.  0 or -ENOMEM. */
int tally_call_sums_join_equal(struct tally_call_sums *sums);
/* The numbers of the sums in the order of their contexts, for free().  0 or -ENOMEM. */
int tally_call_sums_order(const struct tally_call_sums *sums, uint32_t contexts, uint32_t **ret);

/* What is left of a sum when older samples count less: `keep` 128ths. */
static inline uint64_t faded(uint64_t sum, unsigned keep)
{
	return sum / 128 * keep + sum % 128 * keep / 128;
}

static inline uint32_t call_sum_hash(uint32_t context, uint32_t stack, uint32_t frame)
{
	return (uint32_t)hash_mix(((uint64_t)stack << 32 | frame), (uint64_t)context << 20);
}

static inline uint32_t *call_sums_slot(const struct tally_call_sums *sums, uint32_t hash)
{
	return &sums->lately[hash & (sums->lately_room - 1)];
}

/* Adds to a sum, or one more, for which there is room. */
static inline void call_sums_add(struct tally_call_sums *sums, uint32_t hash,
				 const struct tally_call_sum *more)
{
	uint32_t *slot = call_sums_slot(sums, hash);
	struct tally_call_sum *known = *slot ? &sums->list[*slot - 1] : NULL;

	if (known && known->stack == more->stack && known->frame == more->frame &&
	    known->context == more->context && known->samples <= UINT32_MAX - more->samples) {
		known->self += more->self;
		known->samples += more->samples;
		return;
	}
	sums->list[sums->count] = *more;
	*slot = ++sums->count;
}

#endif
