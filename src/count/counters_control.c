/* Calls for all descriptors of a counter set, or for those of one event. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <tally/fd.h>
#include "base/fail.h"
#include "count/counters.h"

static int each_leader(struct tally_counters *set, int (*act)(int fd, bool group))
{
	int result = 0;

	for (size_t place = 0; place < set->place_count; place++)
		for (uint32_t event = 0; event < set->event_count; event++) {
			int fd = *tally_counters_slot(set, event, place), failed;

			if (fd < 0 || set->events[event].leader != event)
				continue;
			failed = act(fd, false);
			if (failed && !result)
				result = failed;
		}
	return result;
}

int tally_counters_enable(struct tally_counters *set)
{
	/* The wall clock starts before the events and stops after them. */
	tally_counters_tools_run(set, true);
	return each_leader(set, tally_fd_enable);
}

int tally_counters_disable(struct tally_counters *set)
{
	int result = each_leader(set, tally_fd_disable);

	tally_counters_tools_run(set, false);
	return result;
}

/* One ioctl with its argument, for each descriptor of an event. */
struct ask {
	int (*act)(int fd, const struct ask *ask);
	uint64_t number;
	const char *text;
	int fd;
};

static int each_place(struct tally_counters *set, size_t event, const struct ask *ask)
{
	int result = -EBADF; /* none is open */

	if (event >= set->event_count)
		return -EINVAL;
	for (size_t place = 0; place < set->place_count; place++) {
		int fd = *tally_counters_slot(set, event, place), failed;

		if (fd < 0)
			continue;
		failed = ask->act(fd, ask);
		if (failed)
			return failed;
		result = 0;
	}
	return result;
}

static int refresh(int fd, const struct ask *ask)
{
	return tally_fd_refresh(fd, (int)ask->number);
}

static int set_period(int fd, const struct ask *ask)
{
	return tally_fd_set_period(fd, ask->number);
}

static int set_filter(int fd, const struct ask *ask)
{
	return tally_fd_set_filter(fd, ask->text);
}

static int attach_bpf(int fd, const struct ask *ask)
{
	return tally_fd_set_bpf(fd, ask->fd);
}

static int enable(int fd, const struct ask *ask)
{
	(void)ask;
	return tally_fd_enable(fd, false);
}

static int disable(int fd, const struct ask *ask)
{
	(void)ask;
	return tally_fd_disable(fd, false);
}

int tally_counters_enable_event(struct tally_counters *set, size_t event, bool on)
{
	struct ask ask = {.act = on ? enable : disable};

	return each_place(set, event, &ask);
}

static int no_event(size_t event, struct tally_error *error)
{
	return tally_fail(error, -EINVAL, -1, "the set has no event %zu", event);
}

int tally_counters_refresh(struct tally_counters *set, size_t event, int overflows)
{
	struct ask ask = {.act = refresh, .number = (uint64_t)overflows};

	return each_place(set, event, &ask);
}

int tally_counters_set_period(struct tally_counters *set, size_t event, uint64_t period)
{
	struct ask ask = {.act = set_period, .number = period};

	return each_place(set, event, &ask);
}

int tally_counters_set_filter(struct tally_counters *set, size_t event, const char *filter,
			      struct tally_error *error)
{
	struct ask ask = {.act = set_filter, .text = filter};
	const char *name;
	int result;

	if (event >= set->event_count)
		return no_event(event, error);
	name = set->events[event].name;
	result = each_place(set, event, &ask);
	switch (result) {
	case 0:
		return 0;
	case -EINVAL:
		return tally_fail(error, result, -1,
				  "%s: the kernel refused the filter '%s': a filter is for "
				  "tracepoints, over their fields (`tally list` and the event's "
				  "format file in tracefs name them), such as \"prev_pid == 0\"",
				  name, filter);
	case -EEXIST:
		return tally_fail(
		    error, result, -1,
		    "%s already has a filter, which cannot be replaced: open the set anew", name);
	case -EBADF:
		return tally_fail(error, result, -1, "%s is not open anywhere", name);
	default:
		return tally_fail(error, result, -1, "%s: filter '%s': %s", name, filter,
				  strerror(-result));
	}
}

int tally_counters_attach_bpf(struct tally_counters *set, size_t event, int program_fd,
			      struct tally_error *error)
{
	struct ask ask = {.act = attach_bpf, .fd = program_fd};
	const char *name;
	int result;

	if (event >= set->event_count)
		return no_event(event, error);
	name = set->events[event].name;
	result = each_place(set, event, &ask);
	switch (result) {
	case 0:
		return 0;
	case -EINVAL:
		return tally_fail(
		    error, result, -1,
		    "%s: the kernel refused this BPF program: its type must be PERF_EVENT (for "
		    "hardware and software events), TRACEPOINT or KPROBE (for these), and the "
		    "event must not be inherited with a sample period",
		    name);
	case -EEXIST:
		return tally_fail(error, result, -1, "%s already has a BPF program", name);
	case -EBADF:
		return tally_fail(error, result, -1,
				  "%s is not open anywhere, or descriptor %d is not a BPF program",
				  name, program_fd);
	default:
		return tally_fail(error, result, -1, "%s: BPF program: %s", name,
				  strerror(-result));
	}
}

int tally_counters_set_output(struct tally_counters *set, size_t event, size_t to_event,
			      struct tally_error *error)
{
	if (event >= set->event_count)
		return no_event(event, error);
	if (to_event >= set->event_count && to_event != SIZE_MAX)
		return no_event(to_event, error);
	for (size_t place = 0; place < set->place_count; place++) {
		int fd = *tally_counters_slot(set, event, place), to = -1, result;

		if (to_event != SIZE_MAX)
			to = *tally_counters_slot(set, to_event, place);
		if (fd < 0 || (to < 0 && to_event != SIZE_MAX))
			continue;
		result = tally_fd_set_output(fd, to);
		if (result)
			return tally_fail(
			    error, result, -1,
			    "%s cannot write to the ring of %s: both must count on the same CPU or "
			    "thread, with the same clock, and neither ring may be in use",
			    set->events[event].name,
			    to_event == SIZE_MAX ? "its own" : set->events[to_event].name);
	}
	return 0;
}
