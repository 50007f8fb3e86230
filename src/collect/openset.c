#include "collect/openset.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/limits.h>
#include <tally/open.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "base/fail.h"
#include "base/pool.h"
#include "base/table.h"
#include "collect/plan_target.h"
#include "kernel/map_policy.h"
#include "kernel/setcap.h"

/* Besides events: each binary whose call frame information is read keeps its file open. */
#define OTHER_DESCRIPTORS 1024U
/* Few stacks are larger. */
#define STACKS_ENOUGH 32768U

/* The arguments of opening. */
struct opening {
	struct tally_openset *set;
	const struct tally_limits *limits;
	const struct tally_notice *notice;
	struct tally_ring_sizes sizes;
	bool ring_refused; /* the kernel refused a ring: a smaller one may fit */
	uint32_t
	    stacks; /* copies were made this small, for rings of these sizes; 0: they were not */
	struct tally_error *error;
};

static enum tally_ring_kind kind_of(const struct tally_openset *set, size_t event)
{
	return event == tally_plan_sideband(set->plan) ? TALLY_RING_SIDEBAND
	       : set->plan->events[event].off_cpu      ? TALLY_RING_OFF_CPU
						       : TALLY_RING_SAMPLES;
}

static int add_id(struct tally_planned *event, int fd, struct tally_error *error)
{
	uint64_t id;
	int result = tally_fd_id(fd, &id);

	if (result)
		return tally_fail(error, result, -1, "%s: the kernel gave no id: %s", event->name,
				  strerror(-result));
	if (!array_next(&event->ids, &event->id_room, event->id_count, 16, sizeof(*event->ids)))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	event->ids[event->id_count++] = id;
	return 0;
}

/* The first descriptor of a place and kind gets the ring, the others write to it. */
static int attach_ring(struct opening *opening, size_t place, enum tally_ring_kind kind, bool kept,
		       int fd)
{
	struct tally_openset *set = opening->set;
	struct tally_ring **ring = kept ? &set->kept[place]
				   : kind == TALLY_RING_OFF_CPU
				       ? &set->off_cpu[place]
				       : &set->rings[place * TALLY_RING_KINDS + kind];
	struct tally_ring_options options = {
	    .size = sizeof(options),
	    .pages = opening->sizes.pages[kind],
	    .least_pages = opening->sizes.pages[kind],
	    .overwrite = kept,
	};
	int result;

	if (*ring) {
		result = tally_fd_set_output(fd, tally_ring_fd(*ring));
		return result ? tally_fail(opening->error, result, -1,
					   "an event cannot share the ring of place %zu: %s", place,
					   strerror(-result))
			      : 0;
	}
	result = tally_ring_open(fd, &options, opening->limits, ring, opening->error);
	opening->ring_refused =
	    (result == -EPERM && !tally_map_policy_refused(EPERM, opening->limits)) ||
	    result == -ENOMEM;
	return result;
}

/* The name for error messages: nobody typed the side-band, so it takes the first event's. */
static const char *name_of(const struct tally_openset *set, size_t index)
{
	return set->plan->events[index == tally_plan_sideband(set->plan) ? 0 : index].name;
}

static int open_one(struct opening *opening, size_t thread, size_t cpu, size_t index)
{
	struct tally_openset *set = opening->set;
	struct tally_planned *event = &set->plan->events[index];
	struct tally_open_target target = {
	    .pid = set->targets->tids[thread],
	    .cpu = (int)set->targets->cpus[cpu],
	    .group_fd = -1,
	    .name = name_of(set, index),
	};
	size_t place;
	int fd, result;

	if (event->cgroup) {
		result = tally_plan_open_cgroup(event, opening->error);
		if (result)
			return result;
		target.pid = event->cgroup_fd;
		target.flags = PERF_FLAG_PID_CGROUP;
	}
	if (event->leader != index) {
		target.group_fd = *tally_openset_fd(set, thread, cpu, event->leader);
		if (target.group_fd < 0)
			return -ESRCH; /* the leader's thread has ended */
	}
	fd = event->opened_once ? tally_open(&event->attr, &target, opening->limits, opening->error)
				: tally_plan_open_first(event, &target, opening->limits,
							opening->notice, opening->error);
	if (fd < 0)
		return fd;
	*tally_openset_fd(set, thread, cpu, index) = fd;
	result = add_id(event, fd, opening->error);
	place = set->targets->per_thread ? thread : cpu;
	if (!result && event->filter)
		result = tally_plan_apply_filter(event, fd, opening->error);
	if (!result)
		result = attach_ring(opening, place, kind_of(set, index),
				     event->attr.write_backward, fd);
	if (!result && set->plan->aux.kind && set->plan->aux.event == index)
		result = tally_openset_attach_aux(set, place, fd, opening->limits, opening->error);
	return result;
}

/* The side-band first, so that no sample comes from an unknown process. */
static int open_thread(struct opening *opening, size_t thread)
{
	struct tally_openset *set = opening->set;
	size_t sideband = tally_plan_sideband(set->plan);

	for (size_t cpu = 0; cpu < set->targets->cpu_count; cpu++) {
		int result = open_one(opening, thread, cpu, sideband);

		for (size_t event = 0; event < sideband && !result; event++)
			result = open_one(opening, thread, cpu, event);
		if (result)
			return result;
	}
	return 0;
}

static int open_threads(struct opening *opening)
{
	struct tally_openset *set = opening->set;

	for (size_t thread = 0; thread < set->targets->tid_count; thread++) {
		int result = open_thread(opening, thread);

		if (!result)
			set->threads_open++;
		else if (result != -ESRCH)
			return result;
	}
	if (!set->threads_open)
		return tally_fail(
		    opening->error, -ESRCH, -1,
		    "everything that was to be recorded has ended before it could be opened");
	return 0;
}

/* Opens all, or nothing, with rings of these sizes. */
static int open_all(struct opening *opening, const struct tally_targets *targets,
		    struct tally_plan *plan)
{
	size_t ring_bytes =
	    opening->sizes.pages[TALLY_RING_SAMPLES] * (size_t)sysconf(_SC_PAGESIZE);
	struct tally_openset *set = opening->set;
	uint32_t stacks = tally_plan_fit_stacks(plan, ring_bytes);
	size_t count;
	int result;

	if (stacks)
		opening->stacks = stacks;

	*set = (struct tally_openset){.targets = targets, .plan = plan};
	count = tally_openset_fd_count(set);
	set->ring_count = tally_openset_places(set) * TALLY_RING_KINDS;
	set->rings = calloc(set->ring_count, sizeof(struct tally_ring *));
	set->fds = reallocarray(NULL, count, sizeof(*set->fds));
	set->kept = calloc(tally_openset_places(set), sizeof(struct tally_ring *));
	set->off_cpu = calloc(tally_openset_places(set), sizeof(struct tally_ring *));
	set->aux = calloc(tally_openset_places(set), sizeof(*set->aux));
	if (!set->rings || !set->fds || !set->kept || !set->off_cpu || !set->aux) {
		tally_openset_close(set);
		return tally_fail(opening->error, -ENOMEM, -1, "out of memory");
	}
	for (size_t i = 0; i < count; i++)
		set->fds[i] = -1;
	for (size_t i = 0; i < plan->count; i++)
		plan->events[i].id_count = 0;
	/* Best effort: if it is not enough, the open that fails explains it. */
	tally_limits_raise_nofile(count + OTHER_DESCRIPTORS);
	opening->ring_refused = false;
	result = open_threads(opening);
	if (result)
		tally_openset_close(set);
	return result;
}

/* KiB that the rings of a CPU lock; each has one page more, for the kernel's header. */
static uint64_t needed_kb(const struct tally_ring_sizes *sizes)
{
	uint64_t pages = 0;

	for (size_t kind = 0; kind < TALLY_RING_SIZES; kind++)
		pages += sizes->pages[kind] ? sizes->pages[kind] + 1 : 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* One line for all events that gave up the kernel's side. */
static void notice_user_only(const struct opening *opening, const struct tally_plan *plan)
{
	char names[512] = "", setcap[SETCAP_TEXT], why[64] = "this user may not sample the kernel";
	size_t length = 0;

	for (size_t i = 0; i < plan->count && length < sizeof(names); i++)
		if (plan->events[i].given_up & TALLY_RELAXED_KERNEL)
			length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
						   length ? ", " : "", plan->events[i].name);
	if (opening->limits->paranoid != INT_MIN) /* it is not known without /proc */
		snprintf(why, sizeof(why), "kernel.perf_event_paranoid is %d",
			 opening->limits->paranoid);
	if (length)
		tally_notice_send(
		    opening->notice,
		    "%s: user space only, as %s; to sample the kernel too: `sudo sysctl "
		    "kernel.perf_event_paranoid=1`, or %s",
		    names, why, tally_setcap_command(opening->limits, SETCAP_BIT(PERFMON), setcap));
}

int tally_openset_open(struct tally_openset *set, const struct tally_targets *targets,
		       struct tally_plan *plan, const struct tally_limits *limits,
		       const struct tally_ring_sizes *sizes, const struct tally_notice *notice,
		       struct tally_error *error)
{
	struct opening opening = {
	    .set = set,
	    .limits = limits,
	    .notice = notice,
	    .sizes = *sizes,
	    .error = error,
	};
	int result = open_all(&opening, targets, plan);

	/* The room for locked memory is unknown, as other programs of this user may use some of it.
	 * All rings of a kind get smaller, not only the last ones. */
	while (result && opening.ring_refused) {
		size_t *pages = opening.sizes.pages, most = 1;

		for (size_t kind = 0; kind < TALLY_RING_SIZES; kind++)
			most = MAX(most, pages[kind]);
		if (most == 1)
			break;
		for (size_t kind = 0; kind < TALLY_RING_SIZES; kind++)
			if (pages[kind] == most)
				pages[kind] /= 2;
		result = open_all(&opening, targets, plan);
	}
	if (result)
		return result;
	notice_user_only(&opening, plan);
	if (opening.stacks && opening.stacks < STACKS_ENOUGH)
		tally_notice_send(notice,
				  "stacks are copied up to %u bytes, as rings of %zu pages have "
				  "no room for larger copies; `sudo sysctl "
				  "kernel.perf_event_mlock_kb=%lld`, CAP_IPC_LOCK or -m makes "
				  "larger rings",
				  opening.stacks, opening.sizes.pages[TALLY_RING_SAMPLES],
				  (long long)needed_kb(sizes) * 4);
	if (opening.sizes.pages[TALLY_RING_SAMPLES] < sizes->pages[TALLY_RING_SAMPLES])
		tally_notice_send(notice,
				  "rings of %zu pages instead of %zu, as this user may lock no "
				  "more memory; `sudo sysctl kernel.perf_event_mlock_kb=%lld` or "
				  "CAP_IPC_LOCK raises the limit",
				  opening.sizes.pages[TALLY_RING_SAMPLES],
				  sizes->pages[TALLY_RING_SAMPLES], (long long)needed_kb(sizes));
	return 0;
}

void tally_openset_close(struct tally_openset *set)
{
	for (size_t i = 0; set->aux && i < tally_openset_places(set); i++)
		tally_aux_area_done(&set->aux[i]);
	for (size_t i = 0; set->rings && i < set->ring_count; i++)
		if (set->rings[i])
			tally_ring_close(set->rings[i]);
	for (size_t i = 0; set->kept && i < tally_openset_places(set); i++)
		if (set->kept[i])
			tally_ring_close(set->kept[i]);
	for (size_t i = 0; set->off_cpu && i < tally_openset_places(set); i++)
		if (set->off_cpu[i])
			tally_ring_close(set->off_cpu[i]);
	for (size_t i = 0; set->fds && i < tally_openset_fd_count(set); i++)
		if (set->fds[i] >= 0)
			close(set->fds[i]);
	free(set->rings);
	free(set->kept);
	free(set->off_cpu);
	free(set->aux);
	free(set->fds);
	*set = (struct tally_openset){0};
}

/* Calls `act` for each open leader of a kind. */
static void each_leader(const struct tally_openset *set, enum tally_ring_kind kind,
			int (*act)(int fd, bool group))
{
	size_t events = set->plan->count;

	for (size_t i = 0; i < tally_openset_fd_count(set); i++) {
		size_t event = i % events;

		if (set->fds[i] >= 0 && set->plan->events[event].leader == event &&
		    kind_of(set, event) == kind)
			act(set->fds[i], false);
	}
}

void tally_openset_enable(const struct tally_openset *set, enum tally_ring_kind kind)
{
	each_leader(set, kind, tally_fd_enable);
	if (kind == TALLY_RING_SAMPLES)
		each_leader(set, TALLY_RING_OFF_CPU, tally_fd_enable);
}

void tally_openset_disable(const struct tally_openset *set, enum tally_ring_kind kind)
{
	each_leader(set, kind, tally_fd_disable);
	if (kind == TALLY_RING_SAMPLES)
		each_leader(set, TALLY_RING_OFF_CPU, tally_fd_disable);
}

int tally_openset_enable_event(const struct tally_openset *set, size_t event, bool on)
{
	int result = -EBADF;

	for (size_t i = event; i < tally_openset_fd_count(set); i += set->plan->count) {
		if (set->fds[i] < 0)
			continue;
		result =
		    on ? tally_fd_enable(set->fds[i], false) : tally_fd_disable(set->fds[i], false);
		if (result)
			break;
	}
	return result;
}

uint64_t tally_openset_lost(const struct tally_openset *set)
{
	uint64_t sum = 0, words[16];

	for (size_t i = 0; i < tally_openset_fd_count(set); i++) {
		uint64_t format = set->plan->events[i % set->plan->count].attr.read_format;
		struct tally_read read;

		if (set->fds[i] < 0 || !(format & (1ULL << 4)) || format & PERF_FORMAT_GROUP)
			continue;
		if (!tally_fd_read(set->fds[i], format, words, sizeof(words) / sizeof(*words),
				   &read))
			sum += read.lost;
	}
	return sum;
}

bool tally_openset_overwrites(const struct tally_openset *set)
{
	bool any = false;

	for (size_t i = 0; i < tally_openset_places(set); i++)
		any |= set->kept[i] != NULL;
	return any;
}

int tally_openset_alive(const struct tally_openset *set, size_t place, enum tally_ring_kind kind)
{
	bool threads = set->targets->per_thread;

	for (size_t thread = threads ? place : 0;
	     thread < (threads ? place + 1 : set->targets->tid_count); thread++)
		for (size_t event = 0; event < set->plan->count; event++) {
			struct pollfd item = {
			    .fd = *tally_openset_fd(set, thread, threads ? 0 : place, event),
			    .events = POLLIN};

			if (item.fd < 0 || kind_of(set, event) != kind)
				continue;
			/* poll() clears the ring's mark of unread data; the caller drains next. */
			if (poll(&item, 1, 0) >= 0 && !(item.revents & (POLLHUP | POLLERR)))
				return item.fd;
		}
	return -1;
}
