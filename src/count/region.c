/* Regions: what a thread counts between begin and end.
 *
 * Of a begin or end the counters' read is the long part; all else is kept short: the thread's state
 * is one thread-specific value, marks and sums are arrays made once, and a sum is written by its
 * thread alone, between two changes of a number that tells readers to look again. */
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
	/* Last, so that nothing of ours is counted. */
	result = tally_region_mark(thread, frame->began);
	if (__builtin_expect(result, 0)) {
		thread->sums[region].open--;
		thread->depth--;
	}
	return result;
}

/* Around the changing of sums, so that who reads them meanwhile looks again. */
static inline void change(struct region_thread *thread)
{
	__atomic_store_n(&thread->changing, thread->changing + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void changed(struct region_thread *thread)
{
	__atomic_store_n(&thread->changing, thread->changing + 1, __ATOMIC_RELEASE);
}

static inline struct region_mark between(const uint64_t *from, const uint64_t *to,
					 struct region_place place)
{
	return (struct region_mark){to[place.raw] - from[place.raw],
				    to[place.times] - from[place.times],
				    to[place.times + 1] - from[place.times + 1]};
}

static inline struct region_mark less(struct region_mark from, struct region_mark part)
{
	return (struct region_mark){from.raw - part.raw, from.enabled - part.enabled,
				    from.running - part.running};
}

/* What was opened inside and has no end. */
static void drop(struct region_thread *thread)
{
	struct region_sum *sum = &thread->sums[thread->frames[--thread->depth].region];

	sum->open--;
	region_put(&sum->dropped, sum->dropped + 1);
}

static void settle(struct region_thread *thread, const uint64_t *now)
{
	const struct region_frame *frame = &thread->frames[--thread->depth];
	struct region_frame *outer = thread->depth ? &thread->frames[thread->depth - 1] : NULL;
	struct region_sum *sum = &thread->sums[frame->region];
	bool outermost = !--sum->open;

	change(thread);
	region_put(&sum->calls, sum->calls + 1);
	for (uint32_t i = 0; i < thread->regions->events.count; i++) {
		struct region_mark all = between(frame->began, now, thread->places[i]), own = all;

		if (frame->nested)
			own = less(all, frame->inside[i]);
		region_add(&sum->exclusive[i], own);
		/* Mostly nothing: the outermost is not nested. */
		if (!outermost)
			region_add(&sum->beyond[i], less((struct region_mark){0}, own));
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
	changed(thread);
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
		drop(thread);
	if (result)
		drop(thread);
	else
		settle(thread, thread->now);
	return result;
}
