#include "kernel/map_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/fail.h"
#include "base/fs.h"

/* perf_mmap() of kernel/events/core.c: locked memory is EPERM, unless one of these allows all; a
 * security module is EACCES.  capable() asks for the capability of the initial user namespace. */
bool tally_map_policy_refused(int errnum, const struct tally_limits *limits)
{
	if (errnum == EACCES)
		return true;
	return errnum == EPERM && ((limits->ipc_lock && !limits->user_namespace) ||
				   limits->paranoid < 0 || limits->memlock == RLIM_INFINITY);
}

/* Source: proc_pid_status(5), Seccomp: 2 is SECCOMP_MODE_FILTER. */
static bool is_filtered(void)
{
	char *status = NULL;
	size_t size;
	bool filtered;

	if (tally_fs_read("/proc/thread-self/status", 1 << 16, &status, &size))
		return false;
	filtered = strstr(status, "\nSeccomp:\t2\n");
	free(status);
	return filtered;
}

int tally_map_policy_explain(int errnum, const char *what, size_t kb, struct tally_error *error)
{
	return tally_fail(
	    error, -errnum, -1,
	    "%s of %zu KiB cannot be mapped: %s, although this program may lock as much memory as "
	    "it likes: a policy refuses it%s, such as a seccomp filter (of a container, or "
	    "SystemCallFilter= of systemd) that does not allow mmap, or a security module "
	    "(SELinux: `sudo ausearch -m avc -ts recent`)",
	    what, kb, strerror(errnum),
	    is_filtered() ? " (this process runs under a seccomp filter)" : "");
}
