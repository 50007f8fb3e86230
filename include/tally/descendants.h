/* The descendants of processes: their children, the children of these, and so on. */
#ifndef TALLY_DESCENDANTS_H
#define TALLY_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Gives the descendants of `pids` that run now, in ascending order, without `pids` and the caller.
 * *ret is the caller's to free(), NULL if there are none.  A process whose parent has ended is not
 * found, as the kernel does not remember its ancestors.  `root` is the folder that holds proc;
 * NULL: "/".  0 or -errno. Source: PPid in proc(5)'s /proc/PID/status. */
int tally_descendants(const char *root, const pid_t *pids, size_t count, pid_t **ret,
		      size_t *ret_count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
