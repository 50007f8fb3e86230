#include "callchain/lbr_stitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include "base/map.h"
#include "base/table.h"

/* A thread's last sample, and the calls beyond its branch stack. */
struct stitch {
	struct tally_branch *branches; /* newest first */
	uint64_t *calls;               /* outermost first: the newest are added at the end */
	uint64_t index;                /* of the register that has branches[0] */
	uint32_t count, room, call_count, call_room;
};

struct tally_lbr_stitches {
	struct tally_map by_thread; /* pid and tid -> place in `threads` */
	struct stitch *threads;
	uint32_t count, room;
	uint64_t most;
};

int tally_lbr_stitches_new(uint64_t most, struct tally_lbr_stitches **ret)
{
	struct tally_lbr_stitches *stitches = calloc(1, sizeof(*stitches));

	if (!stitches)
		return -ENOMEM;
	stitches->most = most;
	*ret = stitches;
	return 0;
}

void tally_lbr_stitches_free(struct tally_lbr_stitches *stitches)
{
	if (!stitches)
		return;
	for (uint32_t i = 0; i < stitches->count; i++) {
		free(stitches->threads[i].branches);
		free(stitches->threads[i].calls);
	}
	free(stitches->threads);
	tally_map_done(&stitches->by_thread);
	free(stitches);
}

void tally_lbr_stitches_forget(struct tally_lbr_stitches *stitches)
{
	for (uint32_t i = 0; i < stitches->count; i++)
		stitches->threads[i].count = stitches->threads[i].call_count = 0;
}

static struct stitch *thread_stitch(struct tally_lbr_stitches *stitches, uint32_t pid, uint32_t tid)
{
	bool added;
	uint64_t *place = tally_map_put(&stitches->by_thread, (uint64_t)pid << 32 | tid, &added);

	if (!place)
		return NULL;
	if (!added)
		return *place < stitches->count ? &stitches->threads[*place] : NULL;
	*place = UINT64_MAX;
	if (!array_reach(&stitches->threads, &stitches->room, stitches->count, 16,
			 sizeof(*stitches->threads)))
		return NULL;
	*place = stitches->count;
	return &stitches->threads[stitches->count++];
}

/* The place in `before` of the oldest branch of `now`, by the register that has it; UINT64_MAX: it
 * has none.  As perf counts (has_stitched_lbr() of its machine.c), whose sum does not wrap around:
 * some that are there are not found, and the chain is then as the processor kept it. */
static uint64_t oldest_before(const struct stitch *before, const struct tally_sample *now,
			      uint64_t most)
{
	uint64_t oldest = most - now->branch_nr + now->branch_hw_idx + 1;
	uint64_t place =
	    before->index > oldest ? before->index - oldest : most + before->index - oldest;

	return place < before->count ? place : UINT64_MAX;
}

static bool same_branch(const struct tally_branch *a, const struct tally_branch *b)
{
	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* The calls older than `place` of the sample before go behind those that are kept. */
static int keep_calls(struct stitch *stitch, uint64_t place)
{
	uint32_t more = stitch->count - 1 - (uint32_t)place, drop = 0;

	if (!more)
		return 0;
	if (!array_reach(&stitch->calls, &stitch->call_room, stitch->call_count + more - 1, 64,
			 sizeof(*stitch->calls)))
		return -ENOMEM;
	for (uint32_t i = stitch->count - 1; i > place; i--)
		stitch->calls[stitch->call_count++] = stitch->branches[i].from;
	if (stitch->call_count > LBR_STITCH_MOST)
		drop = stitch->call_count - LBR_STITCH_MOST;
	stitch->call_count -= drop;
	memmove(stitch->calls, stitch->calls + drop, stitch->call_count * sizeof(*stitch->calls));
	return 0;
}

static int keep_sample(struct stitch *stitch, const struct tally_sample *sample)
{
	stitch->count = 0;
	stitch->index = sample->branch_hw_idx;
	if (!sample->branch_nr)
		return 0;
	/* A record is at most 64 KiB long, so the count is small. */
	if (!array_reach(&stitch->branches, &stitch->room, (uint32_t)sample->branch_nr - 1, 32,
			 sizeof(*stitch->branches)))
		return -ENOMEM;
	stitch->count = (uint32_t)sample->branch_nr;
	memcpy(stitch->branches, sample->branches, stitch->count * sizeof(*stitch->branches));
	return 0;
}

int64_t tally_lbr_stitch(struct tally_lbr_stitches *stitches, uint32_t pid, uint32_t tid,
			 const struct tally_sample *sample, const uint64_t **ret)
{
	struct stitch *stitch;
	uint64_t place;
	int result = 0;

	if (!stitches->most || !(sample->branch_flags_present & PERF_SAMPLE_BRANCH_HW_INDEX))
		return 0;
	stitch = thread_stitch(stitches, pid, tid);
	if (!stitch)
		return -ENOMEM;
	place = oldest_before(stitch, sample, stitches->most);
	if (place != UINT64_MAX && sample->branch_nr &&
	    same_branch(&stitch->branches[place], &sample->branches[sample->branch_nr - 1]))
		result = keep_calls(stitch, place);
	else
		stitch->call_count = 0;
	if (!result)
		result = keep_sample(stitch, sample);
	*ret = stitch->calls;
	return result ? result : (int64_t)stitch->call_count;
}
