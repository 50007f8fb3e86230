/* The place of a CPU in the machine: its socket, core, caches and node. */
#ifndef TALLY_TOPOLOGY_H
#define TALLY_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The kernel's ids; -1: unknown. */
struct tally_topology_cpu {
	size_t size;                        /* sizeof of this struct, set by the caller */
	int32_t socket, die, cluster, core; /* of Documentation/admin-guide/cputopology.rst */
	int32_t cache; /* the lowest CPU that shares the largest cache (sysfs cpuN/cache) */
	int32_t node;  /* NUMA; 0 where the kernel knows of no nodes */
};

/* `root` is the folder that holds sys; NULL: "/".  What cannot be read is -1; dies and clusters
 * that the kernel does not know of are 0.  0; -EINVAL: ret->size is not set. */
int tally_topology_read(const char *root, uint32_t cpu, struct tally_topology_cpu *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
