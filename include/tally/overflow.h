/* Overflows of counters: a program is notified by poll(2), by signals or by traps.
 *
 * attr.sample_period (or freq) says how often; attr.wakeup_events, or with attr.watermark
 * attr.wakeup_watermark, after how many samples or bytes in the ring poll(2) and epoll(7) wake; a
 * ring is needed for these.  A signal comes with every overflow, ring or none. tally_fd_refresh()
 * enables for so many overflows; the last disables the event, and its signal says POLL_HUP. Source:
 * perf_event_open(2), "Overflow handling". */
#ifndef TALLY_OVERFLOW_H
#define TALLY_OVERFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* From now on each overflow of `fd` sends `signal` to the thread `tid` (0: the calling one).  Use a
 * real-time signal, as these are queued.  Its siginfo_t has si_fd, and si_code POLL_IN or POLL_HUP.
 * signal 0: no signal any more.  0 or -errno. */
int tally_overflow_signal(int fd, int signal, pid_t tid);

#define TALLY_OVERFLOW_READY  1 /* there is something in the ring */
#define TALLY_OVERFLOW_HUNGUP 2 /* its task has ended, or it has no ring */

/* Waits for an overflow, at most timeout_ms (-1: no limit).  Returns TALLY_OVERFLOW_* bits; 0: the
 * time has passed; -EINTR: a signal came; -errno. */
int tally_overflow_wait(int fd, int timeout_ms);

/* The SIGTRAP of an event with attr.sigtrap (Linux 5.13). */
struct tally_sigtrap {
	size_t size;   /* sizeof of this struct, set by the caller */
	uint64_t addr; /* of a breakpoint's data, else 0 or as the PMU gives it */
	uint64_t data; /* attr.sig_data */
	uint32_t type; /* attr.type */
	bool async;    /* it came later than its cause */
};
/* Decodes `info`, the siginfo_t of a signal handler.  0; -EINVAL: it is another signal, or
 * ret->size is not set. Async-signal-safe. */
int tally_sigtrap_decode(const void *info, struct tally_sigtrap *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
