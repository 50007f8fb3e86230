/* A pass over all rings when the recorder unwinds: what they hold is copied to memory, from where
 * other threads take it, so that the kernel has the rings again at once. */
#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include "base/fail.h"
#include "kernel/ring_page.h"
#include "offcpu/off_cpu_rings.h"
#include "record/drain.h"
#include "stacks/unwinder.h"

/* Walked and copied while it is still in the cache. */
#define CHUNK (256u << 10)

static int take_samples(struct tally_drain *drain, struct tally_ring *ring,
			struct tally_stack_copies *copies)
{
	const struct tally_stack_events *events = tally_unwinder_events(drain->unwinder);
	size_t capacity = tally_ring_size(ring), at = 0, total;
	struct tally_ring_bytes bytes;

	total = tally_ring_peek(ring, &bytes);
	drain->fullest = MAX(drain->fullest, total * 256 / capacity);
	while (at < total) {
		size_t to = tally_walk_samples(&drain->walk, &bytes, at, CHUNK);
		int result;

		if (to == at) {
			drain->walk.counts.bad_bytes += total - at;
			tally_ring_consume(ring, total - at);
			break;
		}
		result = tally_stack_block_add(drain->block, events, &bytes, at, to, copies,
					       drain->walk.joined);
		if (result)
			return result;
		tally_ring_consume(ring, to - at);
		at = to;
	}
	return 0;
}

static int take_sideband(struct tally_drain *drain, size_t index)
{
	struct tally_ring *ring = drain->set->rings[index];
	struct tally_ring_bytes bytes, room;
	size_t total = tally_ring_peek(ring, &bytes), from = 0, to;
	const struct tally_ring_bytes *mended;
	int result;

	if (!total)
		return 0;
	drain->walk.noted = tally_drain_looked(drain, index);
	to = tally_walk_sideband(&drain->walk, &bytes, 0, total);
	drain->walk.counts.bad_bytes += total - to;
	mended = tally_walk_mended(&drain->walk, &bytes, &from, &to, &room);
	result = tally_stack_block_add_side(drain->block, mended, from, to);
	if (drain->side_copy)
		tally_buf_add(drain->side_copy,
			      drain->block->side.data + drain->block->side.size - to, to);
	tally_ring_consume(ring, total);
	return result;
}

/* A block to fill, in drain->block. 0 or -ENOMEM. */
static int need_block(struct tally_drain *drain)
{
	if (!drain->block)
		drain->block = tally_unwinder_take_empty(drain->unwinder);
	return drain->block ? 0 : -ENOMEM;
}

/* Times of threads that were blocked: the kernel has their rings again already. */
static int take_blocked(struct tally_drain *drain, struct tally_stack_copies *copies)
{
	const struct tally_buf *samples = &drain->off_cpu->samples;
	const struct tally_ring_bytes bytes = {.first = samples->data, .first_size = samples->size};

	return tally_stack_block_add(drain->block, tally_unwinder_events(drain->unwinder), &bytes,
				     0, samples->size, copies, drain->walk.joined);
}

int tally_drain_stack_record(struct tally_drain *drain, const struct tally_ring_bytes *bytes,
			     size_t from, size_t to, struct tally_error *error)
{
	int result = need_block(drain);

	if (!result)
		result = tally_stack_block_add(
		    drain->block, tally_unwinder_events(drain->unwinder), bytes, from, to,
		    tally_unwinder_copies(drain->unwinder), drain->walk.joined);
	return result ? tally_fail(error, result, -1, "out of memory") : 0;
}

void tally_drain_put_stacks(struct tally_drain *drain)
{
	if (drain->block)
		tally_unwinder_put(drain->unwinder, drain->block);
	drain->block = NULL;
}

int tally_drain_blocked_stacks(struct tally_drain *drain, struct tally_error *error)
{
	int result = need_block(drain);

	if (!result)
		result = take_blocked(drain, tally_unwinder_copies(drain->unwinder));
	if (result)
		return tally_fail(error, result, -1, "out of memory");
	tally_drain_put_stacks(drain);
	return 0;
}

/* Whether all samples that a process has are in its rings when it ends, and are taken by the next
 * pass. */
static bool ends_are_known(const struct tally_drain *drain)
{
	return !drain->off_cpu && !tally_openset_overwrites(drain->set);
}

/* The side-band before the samples: of a process that has ended in it, all of these are in this
 * block, or in one before. */
static int take_early_side(struct tally_drain *drain)
{
	int result = 0;

	for (size_t i = 0; i < drain->set->ring_count && !result; i++)
		if (drain->set->rings[i] && i % TALLY_RING_KINDS == TALLY_RING_SIDEBAND)
			result = take_sideband(drain, i);
	drain->block->early = drain->block->side.size;
	return result;
}

int tally_drain_pass_stacks(struct tally_drain *drain, struct tally_error *error)
{
	struct tally_stack_copies *copies = tally_unwinder_copies(drain->unwinder);
	size_t cpus = drain->set->ring_count / TALLY_RING_KINDS;
	int result = tally_unwinder_check(drain->unwinder, error);
	bool any;

	if (result)
		return result;
	result = need_block(drain);
	if (!result && drain->off_cpu)
		result = take_blocked(drain, copies);
	drain->fullest = 0;
	if (!result && ends_are_known(drain))
		result = take_early_side(drain);
	/* The side-band last: what was mapped before a sample was taken is in the same block. */
	for (size_t i = 0; i < drain->set->ring_count && !result; i++) {
		size_t index =
		    tally_openset_sideband_first(drain->set, (i + cpus) % drain->set->ring_count);
		struct tally_ring *ring = drain->set->rings[index];

		if (ring)
			result = index % TALLY_RING_KINDS == TALLY_RING_SIDEBAND
				     ? take_sideband(drain, index)
				     : take_samples(drain, ring, copies);
	}
	if (result)
		return tally_fail(error, result, -1, "out of memory");
	/* An empty block ends the pass before it, too: see tally_drain_round(). */
	any = drain->block->side.size || drain->block->samples.size;
	if (any || drain->appended) {
		tally_unwinder_put(drain->unwinder, drain->block);
		drain->block = NULL;
	}
	drain->appended = any;
	return 0;
}
