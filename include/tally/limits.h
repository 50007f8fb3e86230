/* Limits: what this machine and its kernel allow this process, by sysctls, resource limits and
 * capabilities. */
#ifndef TALLY_LIMITS_H
#define TALLY_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Read them once, and give them to the functions that take them. */
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
	uint64_t file_caps;  /* bits of the capabilities of this program's file (setcap) */
	bool user_namespace; /* not the initial one: its capabilities do not help */
};
/* `root` is the folder that holds proc and sys; NULL: "/".  What cannot be read has the
 * kernel's default.  0; -EINVAL: ret->size is not set. */
int tally_limits_read(const char *root, struct tally_limits *ret);

/* Makes room for `need` more descriptors.  It raises the soft RLIMIT_NOFILE to the hard one if they
 * do not fit, and further with CAP_SYS_RESOURCE.  0; -EMFILE: they still do not fit, though the
 * limit was raised as far as possible; -errno.  Children inherit the limit: before a program is
 * started, set the old one again. */
int tally_limits_raise_nofile(uint64_t need);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
