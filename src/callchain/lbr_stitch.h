/* Call chains of LBR that are longer than the processor's branch stack: what an earlier sample of
 * the thread had below the oldest branch that both have goes on the chain's end (`--stitch-lbr`).
 *
 * In call-stack mode a call takes the next of `most` registers, and its return gives it back.  When
 * all are taken, the next call overwrites the oldest.  So a branch in the same register, from the
 * same place to the same place as before, is the same call, and its callers are those of before. */
#ifndef TALLY_CALLCHAIN_LBR_STITCH_H
#define TALLY_CALLCHAIN_LBR_STITCH_H

#include <stddef.h>
#include <tally/record.h>

struct tally_lbr_stitches;

/* Calls of one thread that are kept; those beyond, the outermost, are left out. */
#define LBR_STITCH_MOST 4096U

/* For a processor with so many registers; 0: not known, nothing is stitched.  0 or -ENOMEM. */
int tally_lbr_stitches_new(uint64_t most, struct tally_lbr_stitches **ret);
void tally_lbr_stitches_free(struct tally_lbr_stitches *stitches);

/* Samples begin anew. */
void tally_lbr_stitches_forget(struct tally_lbr_stitches *stitches);

/* The next sample, in the order of time, of the thread `pid`, `tid`, with its branch stack.  Gives
 * the calls beyond that stack, the outermost first; borrowed until the next call.  Their count, or
 * -ENOMEM. */
int64_t tally_lbr_stitch(struct tally_lbr_stitches *stitches, uint32_t pid, uint32_t tid,
			 const struct tally_sample *sample, const uint64_t **ret);

#endif
