/* The values of a thread's counters at a moment: each read in user space, or one read(2) for each
 * group.
 *
 * A mark is the words as the kernel gives them, one group after another; where each event's words
 * are is computed once. Source of their order: perf_event_open(2), "Reading results". */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <tally/abi.h>
#include "count/region.h"

#define FORMAT_LOST (1ULL << 4) /* PERF_FORMAT_LOST, Linux 6.0 */

/* Words that stay 0, for events without any. */
#define ZEROS 2

/* The members of a group, and the words of a read. */
static uint32_t lay_group(struct region_thread *thread, uint32_t leader, uint32_t at)
{
	const struct tally_counters *set = thread->set;
	uint64_t format = set->events[leader].attr.read_format;
	uint32_t step = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	uint32_t words = 3, event = leader;

	if (!(format & PERF_FORMAT_GROUP)) {
		thread->places[leader] = (struct region_place){.raw = at, .times = at + 1};
		return 2 + step;
	}
	do {
		if (set->fds[event] >= 0) {
			thread->places[event] =
			    (struct region_place){.raw = at + words, .times = at + 1};
			words += step;
		}
		event = set->events[event].next;
	} while (event);
	return words;
}

int tally_region_lay(struct region_thread *thread)
{
	const struct tally_counters *set = thread->set;
	uint32_t at = ZEROS;

	thread->groups = calloc(set->event_count, sizeof(*thread->groups));
	thread->places = calloc(set->event_count, sizeof(*thread->places));
	if (!thread->groups || !thread->places)
		return -ENOMEM;
	for (uint32_t leader = 0; leader < set->event_count; leader++) {
		struct region_group *group = &thread->groups[thread->group_count];
		uint32_t words;

		if (set->fds[leader] < 0 || set->events[leader].leader != leader)
			continue;
		words = lay_group(thread, leader, at);
		*group = (struct region_group){.fd = set->fds[leader],
					       .leader = leader,
					       .at = at,
					       .size = words * sizeof(uint64_t)};
		thread->group_count++;
		at += words;
	}
	thread->word_count = at;
	return 0;
}

static bool mark_direct(const struct region_thread *thread, uint64_t *words)
{
	for (size_t i = 0; i < thread->regions->events.count; i++) {
		const struct region_place *place = &thread->places[i];
		struct tally_count count;

		if (!thread->direct[i])
			continue;
		if (tally_rdpmc_read(thread->direct[i], &count) ||
		    count.quality < TALLY_COUNT_NEVER_RAN)
			return false;
		words[place->raw] = count.raw;
		words[place->times] = count.time_enabled;
		words[place->times + 1] = count.time_running;
	}
	return true;
}

int tally_region_mark(struct region_thread *thread, uint64_t *words)
{
	if (thread->direct && mark_direct(thread, words))
		return 0;
	for (uint32_t i = 0; i < thread->group_count; i++) {
		const struct region_group *group = &thread->groups[i];
		ssize_t got = read(group->fd, words + group->at, group->size);

		if (__builtin_expect(got == (ssize_t)group->size, 1))
			continue;
		if (got < 0)
			return -errno;
		if (got)
			return -EBADMSG;
		/* End of file: a pinned group found no free counters. */
		thread->pinned |= 1U << group->leader;
	}
	return 0;
}
