/* What libpfm4's <perfmon/perf_event.h> gives: the kernel's interface and the bare system call.
 *
 * The structs are the system's own <linux/perf_event.h>. */
#ifndef TALLY_LIBPFM4_PERF_EVENT_H
#define TALLY_LIBPFM4_PERF_EVENT_H

#include <linux/perf_event.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* perf_event_open(2). */
static inline int perf_event_open(struct perf_event_attr *hw_event_uptr, pid_t pid, int cpu,
				  int group_fd, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, hw_event_uptr, pid, cpu, group_fd, flags);
}

#ifdef __cplusplus
}
#endif

#endif
