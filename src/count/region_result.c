/* What a region counted, read while its threads run. */
#include <errno.h>
#include <string.h>
#include "base/option_struct.h"
#include "count/region.h"

size_t tally_regions_count(struct tally_regions *regions)
{
	return __atomic_load_n(&regions->name_count, __ATOMIC_ACQUIRE);
}

static size_t count_threads(const struct tally_regions *regions)
{
	size_t count = 0;

	for (const struct region_thread *at = regions->running; at; at = at->next)
		count++;
	return count + regions->ended_count;
}

size_t tally_regions_thread_count(struct tally_regions *regions)
{
	size_t count;

	pthread_mutex_lock(&regions->lock);
	count = count_threads(regions);
	pthread_mutex_unlock(&regions->lock);
	return count;
}

/* Ended threads come first; each list has its newest first. */
static const struct region_thread *find(const struct tally_regions *regions, size_t index)
{
	const struct region_thread *at = regions->ended;
	size_t count = regions->ended_count;

	if (index >= count) {
		index -= count;
		at = regions->running;
		count = count_threads(regions) - count;
	}
	if (index >= count)
		return NULL;
	for (index = count - 1 - index; index; index--)
		at = at->next;
	return at;
}

static struct region_mark load_sum(const struct region_mark *from)
{
	return (struct region_mark){region_get(&from->raw), region_get(&from->enabled),
				    region_get(&from->running)};
}

/* A mark as a count. What the opening thread could not open, no thread can. */
static struct tally_count to_count(const struct region_thread *thread, size_t event,
				   struct region_mark mark)
{
	const struct tally_counters *first = thread->regions->first;
	struct tally_count count = {
	    .raw = mark.raw,
	    .time_enabled = mark.enabled,
	    .time_running = mark.running,
	    .places = 1,
	    .quality = tally_count_judge(mark.raw, mark.enabled, mark.running),
	};
	int slot = *tally_counters_slot(first, event, 0);

	if (slot < 0)
		return (struct tally_count){.quality = tally_counters_quality_of(slot)};
	if (thread->pinned >> first->events[event].leader & 1)
		return (struct tally_count){.quality = TALLY_COUNT_PINNED_ERROR};
	return count;
}

static void add_thread(const struct region_thread *thread, int region,
		       struct tally_region_result *result, struct tally_count *inclusive,
		       struct tally_count *exclusive)
{
	const struct region_sum *sum = &thread->sums[region];
	size_t events = thread->regions->events.count;

	result->calls += region_get(&sum->calls);
	result->dropped += region_get(&sum->dropped);
	for (size_t i = 0; i < events; i++) {
		struct tally_count count;

		if (inclusive) {
			struct region_mark all = load_sum(&sum->exclusive[i]);

			region_add(&all, load_sum(&sum->beyond[i]));
			count = to_count(thread, i, all);
			tally_count_add(&inclusive[i], &count);
		}
		if (exclusive) {
			count = to_count(thread, i, load_sum(&sum->exclusive[i]));
			tally_count_add(&exclusive[i], &count);
		}
	}
}

/* The sums of one thread, read again until they did not change meanwhile. */
static void add_whole(const struct region_thread *thread, int region,
		      struct tally_region_result *result, struct tally_count *inclusive,
		      struct tally_count *exclusive)
{
	size_t events = thread->regions->events.count, room = events * sizeof(struct tally_count);
	struct tally_count in[EVENTS_MOST], out[EVENTS_MOST];
	struct tally_region_result one;
	uint32_t before, after;

	do {
		before = __atomic_load_n(&thread->changing, __ATOMIC_ACQUIRE);
		memset(in, 0, room);
		memset(out, 0, room);
		one = (struct tally_region_result){0};
		add_thread(thread, region, &one, in, out);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&thread->changing, __ATOMIC_RELAXED);
	} while (before != after || before & 1);
	result->calls += one.calls;
	result->dropped += one.dropped;
	for (size_t i = 0; i < events; i++) {
		if (inclusive)
			tally_count_add(&inclusive[i], &in[i]);
		if (exclusive)
			tally_count_add(&exclusive[i], &out[i]);
	}
}

int tally_region_result(struct tally_regions *regions, int region, size_t thread,
			struct tally_region_result *ret, struct tally_count *inclusive,
			struct tally_count *exclusive)
{
	struct tally_region_result result = {0};
	size_t room = regions->events.count * sizeof(struct tally_count);
	const struct region_thread *one = NULL;
	int found = 0;

	if (region < 0 || (size_t)region >= tally_regions_count(regions))
		return -EINVAL;
	pthread_mutex_lock(&regions->lock);
	result.name = regions->names[region];
	if (thread != SIZE_MAX) {
		one = find(regions, thread);
		found = one ? 0 : -EINVAL;
	}
	if (!found && inclusive)
		memset(inclusive, 0, room);
	if (!found && exclusive)
		memset(exclusive, 0, room);
	if (one) {
		result.tid = one->tid;
		add_whole(one, region, &result, inclusive, exclusive);
	} else if (!found) {
		for (size_t i = 0; (one = find(regions, i)); i++)
			add_whole(one, region, &result, inclusive, exclusive);
	}
	pthread_mutex_unlock(&regions->lock);
	return found ? found : tally_result_copy(ret, sizeof(result), &result);
}

bool tally_regions_direct(struct tally_regions *regions)
{
	const struct region_thread *thread = tally_region_thread(regions);

	return thread && thread->direct;
}

int tally_regions_why(struct tally_regions *regions, size_t event, struct tally_error *ret)
{
	return tally_counters_why(regions->first, event, 0, ret);
}
