#include "count/counters.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/record.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/option_struct.h"
#include "kernel/explain.h"

static int hold_command(struct tally_counters *set, char *const *command, struct tally_error *error)
{
	if (!command[0])
		return tally_fail(error, -EINVAL, -1, "the command to count is empty");
	set->command = strdup(command[0]);
	if (!set->command)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	return tally_workload_hold(command, false, &set->workload, error);
}

int tally_counters_open(const struct tally_counters_options *options, struct tally_counters **ret,
			struct tally_error *error)
{
	struct tally_counters_options use = {.size = sizeof(use)};
	struct tally_counters *set;
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return tally_fail(error, result, -1,
				  "options that this version of libtally does not support");
	if (!use.events || !use.events->count)
		return tally_fail(error, -EINVAL, -1, "no events to count");
	if (use.cgroup_count && (use.pid_count || use.tid_count || use.by_uid))
		return tally_fail(
		    error, -EINVAL, -1,
		    "cgroups and single processes or threads exclude each other: give one of them");
	set = calloc(1, sizeof(*set));
	if (!set)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	set->workload.pid_fd = set->workload.go_fd = set->workload.failed_fd = -1;
	set->inherit = !use.no_inherit;
	set->user_only = use.user_only;
	set->strict = use.strict;
	set->delayed = use.delayed;
	set->root = use.root ? use.root : "";
	/* The child first: it inherits the limits as they are now, and no descriptors. */
	if (use.command)
		result = hold_command(set, use.command, error);
	if (!result)
		result = tally_counters_make_places(set, &use, error);
	if (!result)
		result = tally_counters_make_events(set, &use, error);
	if (!result)
		result = tally_counters_open_all(set, error);
	if (result) {
		tally_counters_close(set);
		return result;
	}
	*ret = set;
	return 0;
}

void tally_counters_close(struct tally_counters *set)
{
	if (!set)
		return;
	tally_workload_done(&set->workload);
	tally_counters_close_all(set);
	for (size_t i = 0; i < set->cgroup_count; i++)
		close(set->cgroup_fds[i]);
	for (size_t i = 0; i < set->event_count; i++) {
		free(set->events[i].name);
		free(set->events[i].cpus);
	}
	free(set->events);
	free(set->places);
	free(set->cgroup_fds);
	free(set->fds);
	free(set->words);
	free(set->base);
	free(set->command);
	free(set);
}

size_t tally_counters_event_count(const struct tally_counters *set)
{
	return set->event_count;
}

size_t tally_counters_place_count(const struct tally_counters *set)
{
	return set->place_count;
}

int tally_counters_place(const struct tally_counters *set, size_t place,
			 struct tally_counters_place *ret)
{
	return place < set->place_count
		   ? tally_result_copy(ret, sizeof(set->places[place]), &set->places[place])
		   : -EINVAL;
}

int tally_counters_event(const struct tally_counters *set, size_t event,
			 struct tally_counters_event *ret)
{
	struct tally_counters_event own = {.size = sizeof(own)};
	const struct tally_counted *from;

	if (event >= set->event_count)
		return -EINVAL;
	from = &set->events[event];
	own.name = from->name;
	own.attr = from->attr;
	own.given_up = from->given_up;
	own.leader = from->leader;
	for (size_t place = 0; place < set->place_count; place++) {
		int slot = *tally_counters_slot(set, event, place);

		own.opened += slot >= 0 || slot == TALLY_FD_TOOL;
	}
	return tally_result_copy(ret, sizeof(own), &own);
}

int tally_counters_fd(const struct tally_counters *set, size_t event, size_t place)
{
	int slot;

	if (event >= set->event_count || place >= set->place_count)
		return -EINVAL;
	slot = *tally_counters_slot(set, event, place);
	return slot >= 0 ? slot : -EBADF;
}

/* --- reasons --- */

static int why_elsewhere(const struct tally_counted *event, int cpu, struct tally_error *ret)
{
	if (event->tool != TALLY_TOOL_NONE)
		return tally_fail(ret, -ENODEV, -1,
				  "%s has one value for all places, which the first place has",
				  event->name);
	return tally_fail(ret, -ENODEV, -1,
			  "%s: its PMU does not count on CPU %d, but on CPU %u%s (-C chooses CPUs)",
			  event->name, cpu, event->cpu_count ? event->cpus[0] : 0,
			  event->cpu_count > 1 ? " and others" : "");
}

static int why_tool(const struct tally_counters *set, size_t event, struct tally_error *ret)
{
	struct tally_count count;

	tally_counters_tool_read((struct tally_counters *)set, event, &count);
	if (count.quality != TALLY_COUNT_NOT_SUPPORTED)
		return tally_fail(ret, 0, -1, "%s", "");
	return tally_fail(ret, -EOPNOTSUPP, -1,
			  "%s is measured for a command or the calling thread only: give a command",
			  set->events[event].name);
}

/* Rights that were missing and given up are not the reason. */
static int why_refused(const struct tally_counters *set, size_t event,
		       const struct tally_open_target *target, int code, struct tally_error *ret)
{
	struct tally_attr attr = set->events[event].attr;

	if (tally_counters_user_is_enough(set, &set->events[event]) &&
	    (code == -EACCES || code == -EPERM))
		attr.exclude_kernel = attr.exclude_hv = 1;
	tally_open_reason(-code, &attr, target, NULL, ret);
	return code;
}

/* The kernel refused a member: find out whether it opens alone. */
static int why_member(const struct tally_counters *set, size_t event, size_t place, int code,
		      struct tally_error *ret)
{
	struct tally_open_target alone = tally_counters_target(set, event, place);
	struct tally_attr attr = set->events[event].attr;
	struct tally_error why;
	int fd;

	alone.group_fd = -1;
	fd = tally_open(&attr, &alone, NULL, &why);
	if (fd < 0)
		return tally_fail(ret, fd, -1, "%s", why.text);
	close(fd);
	return tally_fail(ret, code, -1,
			  "%s opens alone, but not in its group, led by %s: all events of a group "
			  "must fit on the counters of one hardware PMU at once; make the group "
			  "smaller, or weak (modifier W behind the group)",
			  set->events[event].name, set->events[set->events[event].leader].name);
}

int tally_counters_why(const struct tally_counters *set, size_t event, size_t place,
		       struct tally_error *ret)
{
	const struct tally_counted *counted;
	struct tally_open_target target;
	struct tally_error why;
	struct tally_read read;
	int result, slot;

	if (event >= set->event_count || place >= set->place_count)
		return tally_fail(ret, -EINVAL, -1, "the set has no event %zu at place %zu", event,
				  place);
	counted = &set->events[event];
	slot = *tally_counters_slot(set, event, place);
	target = tally_counters_target(set, event, place);
	switch (slot) {
	case TALLY_FD_ELSEWHERE:
		return why_elsewhere(counted, set->places[place].cpu, ret);
	case TALLY_FD_TOOL:
		return why_tool(set, event, ret);
	case TALLY_FD_LEADER:
		result = tally_counters_why(set, counted->leader, place, &why);
		return tally_fail(ret, result, -1,
				  "the leader of its group, %s, cannot be counted: %s",
				  set->events[counted->leader].name, why.text);
	default:
		break;
	}
	if (slot < 0) {
		if (counted->leader != event && slot == -EINVAL)
			return why_member(set, event, place, slot, ret);
		return why_refused(set, event, &target, slot, ret);
	}
	if (counted->attr.pinned || set->events[counted->leader].attr.pinned) {
		struct tally_counted *leader = &set->events[counted->leader];

		result = tally_fd_read(*tally_counters_slot(set, counted->leader, place),
				       leader->attr.read_format, set->words, set->word_room, &read);
		if (result == -ENODATA)
			return tally_fail(
			    ret, result, -1,
			    "%s is pinned (modifier D) and found no free counter, so the kernel "
			    "stopped counting it: pin fewer events, or free the counter of the NMI "
			    "watchdog with `sudo sysctl kernel.nmi_watchdog=0`",
			    leader->name);
	}
	return tally_fail(ret, 0, -1, "%s", "");
}

/* --- the command --- */

int tally_counters_start(struct tally_counters *set, struct tally_error *error)
{
	int result;

	if (!set->workload.pid || set->workload.go_fd < 0)
		return tally_fail(error, -EINVAL, -1, "there is no command to start");
	if (!set->delayed) {
		/* The command's exec enables its events. */
		result = set->places[0].tid > 0 ? 0 : tally_counters_enable(set);
		if (result)
			return tally_fail(error, result, -1, "the events cannot be enabled: %s",
					  strerror(-result));
		tally_counters_tools_run(set, true);
	}
	result = tally_workload_start(&set->workload);
	return result ? tally_workload_explain(set->command, result, error) : 0;
}

int tally_counters_command(struct tally_counters *set, struct tally_counters_command *ret)
{
	struct tally_workload *workload = &set->workload;
	struct tally_counters_command own;

	if (!workload->pid)
		return -ENOENT;
	tally_workload_check(workload);
	own = (struct tally_counters_command){
	    .pid = workload->pid,
	    .pid_fd = workload->pid_fd,
	    .ended = workload->ended,
	    .status = workload->status,
	    .usage = workload->usage,
	};
	return tally_result_copy(ret, sizeof(own), &own);
}

int tally_counters_wait(struct tally_counters *set, int timeout_ms)
{
	struct tally_workload *workload = &set->workload;
	struct pollfd item = {.fd = workload->pid_fd, .events = POLLIN};
	int step = 10, got;

	if (!workload->pid)
		return -ENOENT;
	while (!tally_workload_check(workload)) {
		bool all = item.fd >= 0;

		if (!timeout_ms)
			return 0;
		if (timeout_ms > 0 && timeout_ms < step)
			step = timeout_ms;
		/* Without a pidfd (before Linux 5.3) the child is checked every 10 ms. */
		got = poll(&item, all ? 1 : 0, all ? timeout_ms : step);
		if (got < 0)
			return -errno;
		if (timeout_ms > 0)
			timeout_ms = all ? 0 : timeout_ms - step;
	}
	return 1;
}

/* Whether a thread runs, and is not a zombie. Source: proc(5). */
static bool is_alive(const char *root, pid_t tid)
{
	char *text, *at;
	bool alive = true;

	if (tally_fs_readf(65536, &text, NULL, "%s/proc/%d/stat", root, tid))
		return !kill(tid, 0) || errno != ESRCH;
	at = strrchr(text, ')');
	if (at && at[1] == ' ')
		alive = at[2] != 'Z' && at[2] != 'X';
	free(text);
	return alive;
}

bool tally_counters_alive(const struct tally_counters *set)
{
	/* poll(2) of a descriptor without a ring always reports a hang-up, so /proc is read. */
	for (size_t place = 0; place < set->place_count; place++)
		if (set->places[place].tid <= 0 || is_alive(set->root, set->places[place].tid))
			return true;
	return false;
}
