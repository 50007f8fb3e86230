/* Source of the values: perf-record(1), --affinity. */
#include "record/placement.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tally/topology.h>
#include "base/fail.h"
#include "record/thread_spec.h"

#define BEFORE_BITS 8192 /* CPUs that a kernel can have */

static int32_t node_of(const char *root, uint32_t cpu)
{
	struct tally_topology_cpu where = {.size = sizeof(where)};

	return tally_topology_read(*root ? root : NULL, cpu, &where) ? 0 : where.node;
}

static int make_set(struct tally_placement *placement, size_t index, bool by_node, const char *root,
		    const uint32_t *cpus, size_t count)
{
	int32_t node = by_node ? node_of(root, cpus[index]) : 0;
	uint32_t *same = calloc(count, sizeof(*same));
	size_t found = 0;

	if (!same)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (by_node ? node_of(root, cpus[i]) == node : i == index)
			same[found++] = cpus[i];
	placement->sets[index] = tally_thread_cpu_set(same, found, &placement->sizes[index]);
	free(same);
	return placement->sets[index] ? 0 : -ENOMEM;
}

int tally_placement_init(struct tally_placement *placement, const char *how, const char *root,
			 const uint32_t *cpus, size_t count, struct tally_error *error)
{
	bool by_node = how && !strcmp(how, "node");
	int result = 0;

	*placement = (struct tally_placement){0};
	if (!how || !strcmp(how, "sys"))
		return 0;
	if (!by_node && strcmp(how, "cpu") != 0)
		return tally_fail(error, -EINVAL, -1,
				  "--affinity: '%s' is invalid; valid are cpu, node and sys", how);
	placement->sets = calloc(count + 1, sizeof(*placement->sets));
	placement->sizes = calloc(count + 1, sizeof(*placement->sizes));
	placement->before = CPU_ALLOC(BEFORE_BITS);
	placement->before_size = CPU_ALLOC_SIZE(BEFORE_BITS);
	placement->count = count;
	placement->now = SIZE_MAX;
	if (!placement->sets || !placement->sizes || !placement->before ||
	    sched_getaffinity(0, placement->before_size, placement->before))
		result = -ENOMEM;
	for (size_t i = 0; i < count && !result; i++)
		result = make_set(placement, i, by_node, root, cpus, count);
	if (!result)
		return 0;
	tally_placement_done(placement);
	return tally_fail(error, result, -1, "out of memory");
}

void tally_placement_done(struct tally_placement *placement)
{
	for (size_t i = 0; placement->sets && i < placement->count; i++)
		if (placement->sets[i])
			CPU_FREE(placement->sets[i]);
	if (placement->before)
		CPU_FREE(placement->before);
	free(placement->sets);
	free(placement->sizes);
	*placement = (struct tally_placement){0};
}

void tally_placement_enter(struct tally_placement *placement, size_t cpu)
{
	if (!placement->sets || cpu == placement->now || cpu >= placement->count)
		return;
	/* Rings of one node are next to each other: the same set is not set again. */
	if (placement->now < placement->count &&
	    placement->sizes[cpu] == placement->sizes[placement->now] &&
	    CPU_EQUAL_S(placement->sizes[cpu], placement->sets[cpu],
			placement->sets[placement->now])) {
		placement->now = cpu;
		return;
	}
	sched_setaffinity(0, placement->sizes[cpu], placement->sets[cpu]);
	placement->now = cpu;
}

void tally_placement_leave(struct tally_placement *placement)
{
	if (placement->sets && placement->now != SIZE_MAX)
		sched_setaffinity(0, placement->before_size, placement->before);
	placement->now = SIZE_MAX;
}
