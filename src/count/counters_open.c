/* The events of a counter set, completed for counting and opened at each place. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/limits.h>
#include <tally/open.h>
#include <tally/text.h>
#include "base/fail.h"
#include "count/counters.h"

#define FORMAT_LOST (1ULL << 4) /* PERF_FORMAT_LOST, Linux 6.0 */
#define FORMAT_COMMON                                                                       \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | \
	 FORMAT_LOST)

/* Descriptors besides the events': the command's pipes, cgroups, and some for the caller. */
#define OTHER_DESCRIPTORS 16

/* For opening without words: explain() reads those of the machine. */
static const struct tally_limits unread = {.size = sizeof(unread)};

static int copy_event(struct tally_counted *to, const struct tally_event *from)
{
	to->attr = from->attr;
	to->tool = from->tool;
	to->privilege_given = from->privilege_given;
	to->precise_max = from->precise_max;
	to->weak = from->weak;
	to->name = strdup(from->name);
	if (!to->name)
		return -ENOMEM;
	return from->cpus ? tally_text_cpu_list(from->cpus, &to->cpus, &to->cpu_count) : 0;
}

/* Links the members of each group. Tool events are left out, as the kernel does not have them; the
 * first other event leads. */
static void link_groups(struct tally_counters *set, const struct tally_event_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct tally_counted *event = &set->events[i];

		event->leader = i;
		event->members = 1;
		if (event->tool != TALLY_TOOL_NONE)
			continue;
		for (uint32_t before = i; before-- > 0;) {
			struct tally_counted *last = &set->events[before];

			if (last->tool != TALLY_TOOL_NONE ||
			    list->events[before].leader != list->events[i].leader)
				continue;
			event->leader = last->leader;
			last->next = i;
			set->events[last->leader].members++;
			break;
		}
	}
}

static void complete(struct tally_counters *set, uint32_t index)
{
	struct tally_counted *event = &set->events[index];
	struct tally_attr *attr = &event->attr;
	bool leads = event->leader == index;

	attr->read_format = FORMAT_COMMON;
	if (leads && event->members > 1)
		attr->read_format |= PERF_FORMAT_GROUP;
	attr->disabled = leads; /* a member runs when its leader runs */
	attr->enable_on_exec =
	    leads && set->workload.pid && set->places[0].tid > 0 && !set->delayed;
	if (event->precise_max)
		attr->precise_ip = 3;
}

int tally_counters_make_events(struct tally_counters *set,
			       const struct tally_counters_options *options,
			       struct tally_error *error)
{
	const struct tally_event_list *list = options->events;

	set->events = calloc(list->count, sizeof(*set->events));
	set->fds = calloc(list->count * set->place_count, sizeof(*set->fds));
	set->word_room = 3 + 3 * list->count;
	set->words = calloc(set->word_room, sizeof(*set->words));
	if (!set->events || !set->fds || !set->words)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	for (size_t i = 0; i < list->count; i++) {
		const struct tally_event *from = &list->events[i];
		struct tally_counted *to = &set->events[set->event_count++];
		bool thread = set->places[0].tid >= 0;
		int result = copy_event(to, from);

		if (!result && from->probe && !from->probe->resolved)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: its address is not resolved; call tally_probe_resolve() first",
			    from->name);
		if (result)
			return tally_fail(error, result, -1, "%s: %s", from->name,
					  strerror(-result));
		set->tools |= 1U << from->tool;
		to->attr.inherit = thread && set->inherit;
		if (thread && from->terms.given & TALLY_TERM_INHERIT)
			to->attr.inherit = from->terms.inherit;
	}
	link_groups(set, list);
	for (uint32_t i = 0; i < list->count; i++)
		complete(set, i);
	for (size_t i = 0; i < list->count * set->place_count; i++)
		set->fds[i] = TALLY_FD_ELSEWHERE;
	return 0;
}

struct tally_open_target tally_counters_target(const struct tally_counters *set, size_t event,
					       size_t place)
{
	const struct tally_counters_place *where = &set->places[place];
	struct tally_open_target target = {
	    .pid = where->tid,
	    .cpu = where->cpu,
	    .group_fd = -1,
	    .name = set->events[event].name,
	};
	uint32_t leader = set->events[event].leader;

	if (where->cgroup != SIZE_MAX) {
		target.pid = set->cgroup_fds[where->cgroup];
		target.flags = PERF_FLAG_PID_CGROUP;
	}
	if (leader != event)
		target.group_fd = *tally_counters_slot(set, leader, place);
	return target;
}

static bool is_here(const struct tally_counted *event, int cpu)
{
	if (!event->cpus || cpu < 0)
		return true;
	for (size_t i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == (uint32_t)cpu)
			return true;
	return false;
}

/* "cycles" -> "cycles:u". If memory is out, the name stays. */
static void name_user_only(struct tally_counted *event)
{
	size_t length = strlen(event->name);
	char *name = malloc(length + 3);

	if (!name)
		return;
	snprintf(name, length + 3, "%s%su", event->name, strchr(event->name, ':') ? "" : ":");
	free(event->name);
	event->name = name;
}

bool tally_counters_user_is_enough(const struct tally_counters *set,
				   const struct tally_counted *event)
{
	return set->user_only && !event->privilege_given &&
	       event->attr.type != PERF_TYPE_TRACEPOINT;
}

/* TALLY_RELAXED_KERNEL where rights are missing to count the kernel, too. */
static uint32_t kernel_refused(const struct tally_counted *event,
			       const struct tally_open_target *target)
{
	int fd = tally_open(&event->attr, target, &unread, NULL);

	if (fd >= 0)
		close(fd);
	return fd == -EACCES || fd == -EPERM ? TALLY_RELAXED_KERNEL : 0;
}

/* The first opening of an event: gives up what is not available and does not change a count. */
static int open_first(struct tally_counters *set, struct tally_counted *event,
		      const struct tally_open_target *target)
{
	uint32_t may =
	    TALLY_RELAXED_LOST | TALLY_RELAXED_INHERIT_THREAD | TALLY_RELAXED_EXCLUDE_GUEST;
	uint32_t given_up = 0;
	int fd;

	if (event->precise_max)
		may |= TALLY_RELAXED_PRECISE;
	if (tally_counters_user_is_enough(set, event))
		may |= TALLY_RELAXED_KERNEL;
	fd = tally_open_relaxed(&event->attr, target, &unread, may, &given_up, NULL);
	/* As in perf, an event that cannot be counted has the name that was tried last. */
	if (fd < 0 && may & TALLY_RELAXED_KERNEL)
		given_up = event->given_up | kernel_refused(event, target);
	if (given_up & ~event->given_up & TALLY_RELAXED_KERNEL)
		name_user_only(event);
	event->given_up = given_up;
	event->opened_once = fd >= 0;
	return fd;
}

static int open_one(struct tally_counters *set, uint32_t index, size_t place)
{
	struct tally_counted *event = &set->events[index];
	struct tally_open_target target;

	if (event->tool != TALLY_TOOL_NONE)
		return place ? TALLY_FD_ELSEWHERE : TALLY_FD_TOOL;
	if (!is_here(event, set->places[place].cpu))
		return TALLY_FD_ELSEWHERE;
	target = tally_counters_target(set, index, place);
	if (event->leader != index && target.group_fd < 0)
		return TALLY_FD_LEADER;
	if (!event->opened_once)
		return open_first(set, event, &target);
	return tally_open(&event->attr, &target, &unread, NULL);
}

/* An error of the process or the machine, not of one event: another try would fail too. */
static bool is_fatal(int result)
{
	return result == -EMFILE || result == -ENFILE || result == -ENOMEM;
}

static int explain(struct tally_counters *set, uint32_t event, size_t place, int result,
		   struct tally_error *error)
{
	struct tally_open_target target = tally_counters_target(set, event, place);
	struct tally_limits limits = {.size = sizeof(limits)};
	size_t needed = 0;

	if (!error)
		return result;
	tally_limits_read(set->root, &limits);
	if (result != -EMFILE) {
		tally_open_explain(-result, &set->events[event].attr, &target, &limits, error);
		return result;
	}
	for (size_t i = 0; i < set->event_count; i++)
		needed += set->events[i].tool == TALLY_TOOL_NONE;
	needed *= set->place_count;
	return tally_fail(
	    error, result, -1,
	    "%s: %zu descriptors are needed (%zu places), but RLIMIT_NOFILE allows %llu, at most "
	    "%llu: `ulimit -Hn %zu` as root, or `sudo prlimit --pid $$ --nofile=%zu`, raises that "
	    "for this shell; or count fewer threads (-p, -t), CPUs (-C) or events (-e)",
	    set->events[event].name, needed, set->place_count, (unsigned long long)limits.nofile,
	    (unsigned long long)limits.nofile_hard, needed + 256, needed + 256);
}

static void ungroup(struct tally_counters *set, uint32_t leader)
{
	for (uint32_t at = leader, next; at || at == leader; at = next) {
		struct tally_counted *event = &set->events[at];

		next = event->next;
		event->leader = at;
		event->next = 0;
		event->members = 1;
		complete(set, at);
		if (!next)
			break;
	}
}

/* 1: a weak group was dissolved, and all events must be opened again. */
static int open_place(struct tally_counters *set, size_t place, struct tally_error *error)
{
	for (uint32_t i = 0; i < set->event_count; i++) {
		int result = open_one(set, i, place);

		*tally_counters_slot(set, i, place) = result;
		if (result >= 0)
			continue;
		if (is_fatal(result))
			return explain(set, i, place, result, error);
		/* A weak group is dissolved for any error but a thread that has ended. */
		if (set->events[i].leader != i && set->events[set->events[i].leader].weak &&
		    result != -ESRCH && result != TALLY_FD_ELSEWHERE) {
			ungroup(set, set->events[i].leader);
			return 1;
		}
		if (set->strict && result != TALLY_FD_ELSEWHERE && result != TALLY_FD_TOOL &&
		    result != TALLY_FD_LEADER && result != -ESRCH) {
			struct tally_error why;

			explain(set, i, place, result, &why);
			return tally_fail(error, result, -1, "%s: %s", set->events[i].name,
					  why.text);
		}
	}
	return 0;
}

static bool all_gone(const struct tally_counters *set)
{
	bool any = false;

	for (size_t place = 0; place < set->place_count; place++)
		for (size_t event = 0; event < set->event_count; event++) {
			int slot = *tally_counters_slot(set, event, place);

			if (slot != -ESRCH && slot != TALLY_FD_LEADER && slot != TALLY_FD_TOOL)
				return false;
			any |= slot == -ESRCH;
		}
	return any;
}

int tally_counters_open_all(struct tally_counters *set, struct tally_error *error)
{
	int result = 0;

	/* Best effort: if it is not enough, the open that fails explains it. */
	tally_limits_raise_nofile(set->event_count * set->place_count + OTHER_DESCRIPTORS);
	for (size_t place = 0; place < set->place_count && !result; place++) {
		result = open_place(set, place, error);
		if (result > 0) {
			tally_counters_close_all(set);
			place = SIZE_MAX; /* begin again with the first */
			result = 0;
		}
	}
	if (result)
		return result;
	if (all_gone(set))
		return tally_fail(
		    error, -ESRCH, -1,
		    "everything that was to be counted has ended before it could be opened");
	return 0;
}

void tally_counters_close_all(struct tally_counters *set)
{
	for (size_t i = 0; set->fds && i < set->event_count * set->place_count; i++) {
		if (set->fds[i] >= 0)
			close(set->fds[i]);
		set->fds[i] = TALLY_FD_ELSEWHERE;
	}
}
