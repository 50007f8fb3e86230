/* Regions: what a thread counts between begin and end.
 *
 * Most of the time of a begin or end is the read of the counters; the rest is short: a thread's
 * state is one thread-specific value, marks and sums are arrays made once, and only the thread
 * writes its sums, between two changes of a number that makes readers try again. */
#include "count/region.h"

#include <errno.h>

int tally_region_begin(struct tally_regions *regions, int region)
{
	struct region_thread *thread;
	struct region_frame *frame;
	int result;

	if (region < 0 ||
	    (uint32_t)region >= __atomic_load_n(&regions->name_count, __ATOMIC_RELAXED))
		return -EINVAL;
	thread = tally_region_thread(regions);
	if (!thread)
		return -ENOMEM;
	if (thread->error)
		return thread->error;
	if (thread->depth == regions->options.depth) {
		thread->above++;
		return -EOVERFLOW;
	}
	frame = &thread->frames[thread->depth++];
	frame->region = region;
	frame->nested = false;
	thread->sums[region].open++;
	/* Last, so that none of this code is counted. */
	result = tally_region_mark(thread, frame->began);
	if (__builtin_expect(result, 0)) {
		thread->sums[region].open--;
		thread->depth--;
	}
	return result;
}

/* Called before and after sums change: readers try again. */
static inline void begin_change(struct region_thread *thread)
{
	__atomic_store_n(&thread->changing, thread->changing + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void end_change(struct region_thread *thread)
{
	__atomic_store_n(&thread->changing, thread->changing + 1, __ATOMIC_RELEASE);
}

static inline struct region_mark difference(const uint64_t *from, const uint64_t *to,
					    struct region_place place)
{
	return (struct region_mark){to[place.raw] - from[place.raw],
				    to[place.times] - from[place.times],
				    to[place.times + 1] - from[place.times + 1]};
}

static inline struct region_mark subtract(struct region_mark from, struct region_mark part)
{
	return (struct region_mark){from.raw - part.raw, from.enabled - part.enabled,
				    from.running - part.running};
}

/* Drops a region that was begun inside and has no end. */
static void drop_innermost(struct region_thread *thread)
{
	struct region_sum *sum = &thread->sums[thread->frames[--thread->depth].region];

	sum->open--;
	region_put(&sum->dropped, sum->dropped + 1);
}

static void end_innermost(struct region_thread *thread, const uint64_t *now)
{
	const struct region_frame *frame = &thread->frames[--thread->depth];
	struct region_frame *outer = thread->depth ? &thread->frames[thread->depth - 1] : NULL;
	struct region_sum *sum = &thread->sums[frame->region];
	bool outermost = !--sum->open;

	begin_change(thread);
	region_put(&sum->calls, sum->calls + 1);
	for (uint32_t i = 0; i < thread->regions->events.count; i++) {
		struct region_mark all = difference(frame->began, now, thread->places[i]),
				   own = all;

		if (frame->nested)
			own = subtract(all, frame->inside[i]);
		region_add(&sum->exclusive[i], own);
		/* Often 0: the outermost is not nested. */
		if (!outermost)
			region_add(&sum->beyond[i], subtract((struct region_mark){0}, own));
		else if (frame->nested)
			region_add(&sum->beyond[i], frame->inside[i]);
		if (!outer)
			continue;
		if (outer->nested)
			region_add(&outer->inside[i], all);
		else
			outer->inside[i] = all;
	}
	if (outer)
		outer->nested = true;
	end_change(thread);
}

int tally_region_end(struct tally_regions *regions, int region)
{
	struct region_thread *thread = pthread_getspecific(regions->key);
	int result;

	if (!thread)
		return -ENOENT;
	if (thread->error)
		return thread->error;
	if (thread->above) {
		thread->above--;
		return -EOVERFLOW;
	}
	if (region < 0 || (uint32_t)region >= regions->options.regions ||
	    !thread->sums[region].open)
		return -ENOENT;
	result = tally_region_mark(thread, thread->now);
	while (thread->frames[thread->depth - 1].region != region)
		drop_innermost(thread);
	if (result)
		drop_innermost(thread);
	else
		end_innermost(thread, thread->now);
	return result;
}
