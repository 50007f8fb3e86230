/* The places of a counter set: threads, CPUs, cgroups on CPUs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "collect/cgroup.h"
#include "count/counters.h"
#include "collect/targets.h"

static int make_room(struct tally_counters *set, size_t count, struct tally_error *error)
{
	set->places = calloc(count ? count : 1, sizeof(*set->places));
	if (!set->places)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	return 0;
}

static void add(struct tally_counters *set, pid_t tid, int cpu, size_t cgroup)
{
	set->places[set->place_count++] =
	    (struct tally_counters_place){.cpu = cpu, .tid = tid, .cgroup = cgroup};
}

static int open_cgroups(struct tally_counters *set, const struct tally_counters_options *options,
			struct tally_error *error)
{
	set->cgroup_fds = calloc(options->cgroup_count, sizeof(*set->cgroup_fds));
	if (!set->cgroup_fds)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	for (size_t i = 0; i < options->cgroup_count; i++) {
		int fd = tally_cgroup_open(set->root, options->cgroups[i], error);

		if (fd < 0)
			return fd;
		set->cgroup_fds[set->cgroup_count++] = fd;
	}
	return 0;
}

static int add_cgroups(struct tally_counters *set, const struct tally_counters_options *options,
		       const struct tally_targets *targets, struct tally_error *error)
{
	int result = open_cgroups(set, options, error);

	if (!result)
		result = make_room(set, set->cgroup_count * targets->cpu_count, error);
	if (result)
		return result;
	for (size_t cgroup = 0; cgroup < set->cgroup_count; cgroup++)
		for (size_t cpu = 0; cpu < targets->cpu_count; cpu++)
			add(set, -1, (int)targets->cpus[cpu], cgroup);
	return 0;
}

static int add_threads(struct tally_counters *set, const struct tally_targets *targets,
		       struct tally_error *error)
{
	size_t cpus = targets->cpu_count ? targets->cpu_count : 1;
	int result = make_room(set, targets->tid_count * cpus, error);

	if (result)
		return result;
	for (size_t thread = 0; thread < targets->tid_count; thread++)
		for (size_t cpu = 0; cpu < cpus; cpu++)
			add(set, targets->tids[thread],
			    targets->cpu_count ? (int)targets->cpus[cpu] : -1, SIZE_MAX);
	return 0;
}

int tally_counters_make_places(struct tally_counters *set,
			       const struct tally_counters_options *options,
			       struct tally_error *error)
{
	struct tally_targets_asked asked = {
	    .root = set->root,
	    .command = set->workload.pid,
	    .pids = options->pids,
	    .pid_count = options->pid_count,
	    .tids = options->tids,
	    .tid_count = options->tid_count,
	    .parents = options->parents,
	    .parent_count = options->parent_count,
	    .by_uid = options->by_uid,
	    .uid = options->uid,
	    .system_wide = options->system_wide || options->cgroup_count,
	    .cpus = options->cpus,
	    .cpu_count = options->cpu_count,
	};
	struct tally_targets targets;
	int result;

	/* Without a list of CPUs, a thread is one place, wherever it runs. */
	asked.any_cpu = !asked.system_wide && !asked.cpu_count;
	if (asked.any_cpu && !asked.command && !asked.pid_count && !asked.tid_count &&
	    !asked.parent_count && !asked.by_uid) {
		result = make_room(set, 1, error);
		if (!result)
			add(set, 0, -1, SIZE_MAX);
		return result;
	}
	result = tally_targets_make(&asked, &targets, error);
	if (result)
		return result;
	result = options->cgroup_count ? add_cgroups(set, options, &targets, error)
				       : add_threads(set, &targets, error);
	tally_targets_done(&targets);
	return result;
}
