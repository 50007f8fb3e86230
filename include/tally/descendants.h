/* The processes below others: their children, the children of these, and so on. */
#ifndef TALLY_DESCENDANTS_H
#define TALLY_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Those below `pids` that run now, ascending, without `pids` themselves and the caller; the
 * caller's to free(), NULL when there is none.  One whose parent has ended is below nobody: the
 * kernel keeps no trace of it.  `root` is the folder that holds proc; NULL: "/".  0 or -errno.
 * Source: PPid in proc(5)'s /proc/PID/status. */
int tally_descendants(const char *root, const pid_t *pids, size_t count, pid_t **ret,
		      size_t *ret_count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
