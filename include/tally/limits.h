/* What this machine and its kernel allow this process: sysctls, resource limits, capabilities. */
#ifndef TALLY_LIMITS_H
#define TALLY_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What this machine allows this process; read once, given to what needs it. */
struct tally_limits {
	size_t size;       /* sizeof of this struct, set by the caller */
	int paranoid;      /* kernel.perf_event_paranoid; INT_MIN when there is no such file */
	int kptr_restrict; /* kernel.kptr_restrict; 0 when unreadable */
	int64_t mlock_kb;  /* kernel.perf_event_mlock_kb, per user and CPU */
	int64_t max_sample_rate;  /* kernel.perf_event_max_sample_rate, Hz */
	int64_t max_stack;        /* kernel.perf_event_max_stack, frames */
	uint64_t memlock, nofile; /* soft RLIMIT_MEMLOCK (bytes), RLIMIT_NOFILE */
	uint64_t nofile_hard;
	int cpus; /* how many CPUs this machine can have (sysfs' possible); 0: unknown */
	bool perfmon, sys_admin, ipc_lock, sys_ptrace, syslog; /* effective capabilities */
	uint64_t file_caps;  /* bits of those that this program's file gives (setcap) */
	bool user_namespace; /* not the first one: its capabilities do not count for perf events */
};
/* `root` is the folder that holds proc and sys; NULL: "/".  What cannot be read has the
 * kernel's default.  0; -EINVAL: ret->size is not set. */
int tally_limits_read(const char *root, struct tally_limits *ret);

/* Makes room for `need` more descriptors: raises the soft RLIMIT_NOFILE to the hard one when they
 * do not fit, and beyond where CAP_SYS_RESOURCE lets it.  0, -EMFILE when they still do not fit
 * (what could be raised is), or -errno.  Children inherit the limit; who starts programs gives them
 * the old one. */
int tally_limits_raise_nofile(uint64_t need);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
