/* The descriptor of an open event: its ioctls, read(2) of its values, and the switch of prctl(2).
 *
 * Source: perf_event_open(2), "perf_event ioctl calls" and "Reading results"; prctl(2). */
#ifndef TALLY_FD_H
#define TALLY_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The ioctls of an event's descriptor, PERF_EVENT_IOC_*, with the kernel's own arguments.  `group`:
 * PERF_IOC_FLAG_GROUP.  0 or -errno. */
int tally_fd_enable(int fd, bool group);
int tally_fd_disable(int fd, bool group);
int tally_fd_reset(int fd, bool group); /* the count; not the times */
/* Enables it for `count` more overflows, at least one; the last one disables it.  -EINVAL: the
 * event takes no samples. */
int tally_fd_refresh(int fd, int count);
/* The period from the next overflow on, or with attr.freq the frequency in Hz. */
int tally_fd_set_period(int fd, uint64_t period);
int tally_fd_set_output(int fd, int to_fd); /* -1: back to its own */
/* The filter of a tracepoint or of an AUX area.  A tracepoint takes one only: -EEXIST: it has one.
 */
int tally_fd_set_filter(int fd, const char *filter);
int tally_fd_id(int fd, uint64_t *ret);
int tally_fd_set_bpf(int fd, int program_fd);
int tally_fd_pause_output(int fd, bool pause);
/* The BPF programs of the event's tracepoint: at most `room` (and 64) of their ids, and how many
 * there are.  -ENOSPC: more than the room; both results are set then, too. */
int tally_fd_query_bpf(int fd, uint32_t *ids, uint32_t room, uint32_t *ret_count);
/* Gives a breakpoint another address, length and type; the attr must be the one that was opened in
 * all other fields.  -EINVAL: it is not; -EINVAL or -EOPNOTSUPP: the event is not a breakpoint. */
int tally_fd_modify(int fd, const struct tally_attr *attr);

/* prctl(2)'s PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: start or stop every group that the calling
 * thread has opened, on any target.  Events that others opened on the thread do not change.  0 or
 * -errno. */
int tally_prctl_enable(void);
int tally_prctl_disable(void);

struct tally_read; /* <tally/record.h> */

/* Reads a counter or a group by one read(2), in any read_format.  `words` has room for `room` raw
 * words, and must live as long as *ret.  0; -ENOSPC: the room does not suffice; -errno. */
int tally_fd_read(int fd, uint64_t read_format, uint64_t *words, size_t room,
		  struct tally_read *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
