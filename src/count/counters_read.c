/* Reading a counter set: one read(2) for each group and place. */
#include <errno.h>
#include <stdlib.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/record.h>
#include "count/counters.h"

#define FORMAT_LOST (1ULL << 4) /* PERF_FORMAT_LOST, Linux 6.0 */

enum tally_count_quality tally_counters_quality_of(int slot)
{
	switch (slot) {
	case TALLY_FD_ELSEWHERE:
		return TALLY_COUNT_ELSEWHERE;
	case -EACCES:
	case -EPERM:
		return TALLY_COUNT_NOT_PERMITTED;
	case -ESRCH:
		return TALLY_COUNT_GONE;
	default:
		return TALLY_COUNT_NOT_SUPPORTED;
	}
}

struct reading {
	struct tally_counters *set;
	struct tally_count *counts;
	size_t place;
};

static struct tally_count *count_of(const struct reading *reading, uint32_t event)
{
	return &reading->counts[event * reading->set->place_count + reading->place];
}

/* A group without values. */
static void set_quality(const struct reading *reading, uint32_t leader, int otherwise)
{
	uint32_t event = leader;

	do {
		int slot = *tally_counters_slot(reading->set, event, reading->place);
		enum tally_count_quality quality = tally_counters_quality_of(slot);

		if (slot == TALLY_FD_LEADER)
			quality = tally_counters_quality_of(
			    *tally_counters_slot(reading->set, leader, reading->place));
		else if (slot >= 0)
			quality = (enum tally_count_quality)otherwise;
		*count_of(reading, event) = (struct tally_count){.quality = quality};
		event = reading->set->events[event].next;
	} while (event);
}

static void set_count(struct tally_count *to, const struct tally_read *read, uint64_t raw,
		      uint64_t id, uint64_t lost)
{
	*to = (struct tally_count){
	    .raw = raw,
	    .time_enabled = read->time_enabled,
	    .time_running = read->time_running,
	    .id = id,
	    .lost = lost,
	    .places = 1,
	    .quality = tally_count_judge(raw, read->time_enabled, read->time_running),
	};
}

/* The kernel gives the values of a group in the order of opening, without members that were not
 * opened. */
static int set_group(const struct reading *reading, uint32_t leader, const struct tally_read *read)
{
	const uint64_t *at = read->group;
	uint64_t left = read->nr;
	uint32_t event = leader;

	do {
		int slot = *tally_counters_slot(reading->set, event, reading->place);

		if (slot < 0) {
			*count_of(reading, event) =
			    (struct tally_count){.quality = tally_counters_quality_of(slot)};
		} else {
			uint64_t raw, id = 0, lost = 0;

			if (!left--)
				return -EBADMSG;
			raw = *at++;
			if (read->read_format & PERF_FORMAT_ID)
				id = *at++;
			if (read->read_format & FORMAT_LOST)
				lost = *at++;
			set_count(count_of(reading, event), read, raw, id, lost);
		}
		event = reading->set->events[event].next;
	} while (event);
	return left ? -EBADMSG : 0;
}

/* Software events and tracepoints need no hardware, so they never wait for it: a group of them
 * counts whenever its target runs at its place. */
static bool never_waits(const struct tally_counters *set, uint32_t leader)
{
	uint32_t event = leader;

	do {
		uint32_t type = set->events[event].attr.type;

		if (type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT)
			return false;
		event = set->events[event].next;
	} while (event);
	return true;
}

static int read_group(const struct reading *reading, uint32_t leader)
{
	struct tally_counters *set = reading->set;
	int fd = *tally_counters_slot(set, leader, reading->place), result;
	struct tally_read read;

	if (fd == TALLY_FD_TOOL) {
		tally_counters_tool_read(set, leader, count_of(reading, leader));
		return 0;
	}
	if (fd < 0) {
		set_quality(reading, leader, TALLY_COUNT_NOT_SUPPORTED);
		return 0;
	}
	result = tally_fd_read(fd, set->events[leader].attr.read_format, set->words, set->word_room,
			       &read);
	/* The kernel's time_enabled goes on while the thread is on another CPU, and is wrong for
	 * some cgroups. */
	if (!result && read.time_running < read.time_enabled && never_waits(set, leader))
		read.time_enabled = read.time_running;
	if (!result && read.group)
		result = set_group(reading, leader, &read);
	else if (!result)
		set_count(count_of(reading, leader), &read, read.value, read.id, read.lost);
	if (!result)
		return 0;
	set_quality(reading, leader,
		    result == -ENODATA ? TALLY_COUNT_PINNED_ERROR : TALLY_COUNT_NOT_SUPPORTED);
	return result == -ENODATA ? 0 : result;
}

static int read_all(struct tally_counters *set, struct tally_count *counts)
{
	struct reading reading = {.set = set, .counts = counts};
	int result = 0;

	for (size_t place = 0; place < set->place_count; place++) {
		reading.place = place;
		for (uint32_t event = 0; event < set->event_count; event++) {
			int failed = 0;

			if (set->events[event].leader == event)
				failed = read_group(&reading, event);
			if (failed && !result)
				result = failed;
		}
	}
	return result;
}

int tally_counters_read(struct tally_counters *set, struct tally_count *counts)
{
	int result = read_all(set, counts);

	for (size_t i = 0; set->base && i < set->event_count * set->place_count; i++)
		counts[i] = tally_count_since(&counts[i], &set->base[i]);
	return result;
}

int tally_counters_reset(struct tally_counters *set)
{
	if (!set->base)
		set->base = calloc(set->event_count * set->place_count, sizeof(struct tally_count));
	if (!set->base)
		return -ENOMEM;
	return read_all(set, set->base);
}
