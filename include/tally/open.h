/* Opening events: perf_event_open(2), and why it refused.
 *
 * Source: perf_event_open(2) and kernel/events/core.c of Linux. */
#ifndef TALLY_OPEN_H
#define TALLY_OPEN_H

#include <stdint.h>
#include <sys/types.h>
#include <tally/attr.h>
#include <tally/error.h>
#include <tally/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_open_target {
	pid_t pid;    /* 0: this thread, -1: everything on `cpu`; with cgroup: its folder's fd */
	int cpu;      /* -1: any */
	int group_fd; /* -1: none */
	unsigned long flags; /* PERF_FLAG_*; PERF_FLAG_FD_CLOEXEC is added */
	const char *name;    /* of the event, for errors; NULL: the attr's numbers */
};

/* Opens an event, with attr.size set to tally_attr_min_size().  limits NULL: they are read when
 * needed.  Returns the descriptor, which is the caller's, or -errno; the error says which attr
 * field, limit or capability was the reason, and which command helps.  With -E2BIG error->position
 * is the size of the kernel's own struct perf_event_attr, which the kernel writes into attr.size.
 */
int tally_open(const struct tally_attr *attr, const struct tally_open_target *target,
	       const struct tally_limits *limits, struct tally_error *error);

/* What tally_open_relaxed() may give up. */
enum tally_relaxed {
	TALLY_RELAXED_PRECISE = 1 << 0,         /* precise_ip lowered */
	TALLY_RELAXED_KERNEL = 1 << 1,          /* exclude_kernel set: user space only */
	TALLY_RELAXED_NAMESPACES = 1 << 2,      /* no NAMESPACES records */
	TALLY_RELAXED_PHYS_ADDR = 1 << 3,       /* no PERF_SAMPLE_PHYS_ADDR */
	TALLY_RELAXED_DEFER_CALLCHAIN = 1 << 4, /* user callchains are taken at once (Linux 6.19) */
	TALLY_RELAXED_BRANCH_COUNTERS = 1 << 5, /* no PERF_SAMPLE_BRANCH_COUNTERS (6.8) */
	TALLY_RELAXED_LOST = 1 << 6,            /* no PERF_FORMAT_LOST (6.0) */
	TALLY_RELAXED_INHERIT_THREAD = 1 << 7,  /* child processes are inherited too (5.13) */
	TALLY_RELAXED_WEIGHT_STRUCT = 1 << 8,   /* PERF_SAMPLE_WEIGHT in its place (5.12) */
	TALLY_RELAXED_BUILD_ID = 1 << 9,        /* MMAP2 records without build-ids (5.12) */
	TALLY_RELAXED_CODE_PAGE_SIZE = 1 << 10, /* (5.11) */
	TALLY_RELAXED_DATA_PAGE_SIZE = 1 << 11, /* (5.11) */
	TALLY_RELAXED_TEXT_POKE = 1 << 12,      /* no TEXT_POKE records (5.8) */
	TALLY_RELAXED_CGROUP = 1 << 13,         /* no CGROUP records, no PERF_SAMPLE_CGROUP (5.7) */
	TALLY_RELAXED_BRANCH_HW_INDEX = 1 << 14, /* (5.7) */
	TALLY_RELAXED_BPF_EVENT = 1 << 15,       /* no BPF_EVENT records (5.1) */
	TALLY_RELAXED_KSYMBOL = 1 << 16,         /* no KSYMBOL records (5.1) */
	TALLY_RELAXED_CONTEXT_SWITCH = 1 << 17,  /* no SWITCH records (4.3) */
	TALLY_RELAXED_CLOCKID = 1 << 18,         /* times are the kernel's own clock (4.1) */
	TALLY_RELAXED_EXCLUDE_GUEST =
	    1 << 19, /* guests are measured too (3.2), or the PMU does not distinguish them */
	TALLY_RELAXED_ALL = (1 << 20) - 1,
};

/* Opens an event as far as this kernel, this hardware and these rights allow.  If tally_open()
 * would fail, it gives up things of `may` (TALLY_RELAXED_* bits), as few as possible.  precise_ip
 * goes down one level at a time.  TALLY_RELAXED_KERNEL is tried only if rights are missing; leave
 * it out of `may` when a person wrote a privilege modifier.  Returns the descriptor; *attr is then
 * what was opened, and *ret_given_up the bits that were given up.  On -errno both are untouched,
 * and the error explains what is still refused.  Open further events and CPUs by tally_open() with
 * the same *attr.  Breakpoints that open and never fire, as in some virtual machines, are refused:
 * -EOPNOTSUPP. */
int tally_open_relaxed(struct tally_attr *attr, const struct tally_open_target *target,
		       const struct tally_limits *limits, uint32_t may, uint32_t *ret_given_up,
		       struct tally_error *error);

/* One bit of TALLY_RELAXED_* in words: "precise_ip lowered"; NULL: unknown. */
const char *tally_relaxed_name(uint32_t bit);

/* Fills `error` with the explanation that tally_open() gives, for an errno (positive) of
 * perf_event_open(2).  For E2BIG the attr is as the kernel left it. */
void tally_open_explain(int errnum, const struct tally_attr *attr,
			const struct tally_open_target *target, const struct tally_limits *limits,
			struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
