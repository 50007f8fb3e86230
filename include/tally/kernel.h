/* Opening events: perf_event_open(2), its limits, and why it said no. */
#ifndef TALLY_KERNEL_H
#define TALLY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/attr.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What this machine allows this process; read once, given to what needs it. */
struct tally_limits {
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
/* `root` is the folder that holds proc and sys; NULL: "/".  Never fails: what cannot be read keeps
 * the kernel's default. */
void tally_limits_read(const char *root, struct tally_limits *ret);

/* Makes room for `need` more descriptors: raises the soft RLIMIT_NOFILE to the hard one when they
 * do not fit, and beyond where CAP_SYS_RESOURCE lets it.  0, -EMFILE when they still do not fit
 * (what could be raised is), or -errno.  Children inherit the limit; who starts programs gives them
 * the old one. */
int tally_limits_raise_nofile(uint64_t need);

struct tally_open_target {
	pid_t pid;    /* 0: this thread, -1: everything on `cpu`; with cgroup: its folder's fd */
	int cpu;      /* -1: any */
	int group_fd; /* -1: none */
	unsigned long flags; /* PERF_FLAG_*; PERF_FLAG_FD_CLOEXEC is added */
	const char *name;    /* of the event, for errors; NULL: the attr's numbers */
};

/* Opens, with attr.size set to tally_attr_min_size().  limits NULL: read when needed.  Returns the
 * descriptor (the caller's) or -errno, with error->text saying which attr field, limit file or
 * capability stood in the way and the command that lifts it.  With -E2BIG error->position is the
 * size of the kernel's own struct perf_event_attr, which the kernel writes into attr.size. */
int tally_open(const struct tally_attr *attr, const struct tally_open_target *target,
	       const struct tally_limits *limits, struct tally_error *error);

/* What tally_open_relaxed() may give up, in words of the attr. */
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
	    1 << 19, /* guests are measured too (3.2), or the PMU cannot tell */
	TALLY_RELAXED_ALL = (1 << 20) - 1,
};

/* Opens what of *attr this kernel, this hardware and these rights allow.  Where tally_open()
 * refuses, it gives up things of `may` (TALLY_RELAXED_* bits), as few as it can find: precise_ip
 * goes down a level at a time; TALLY_RELAXED_KERNEL is tried only for want of rights (leave it out
 * of `may` when a person wrote a privilege modifier); what fails one thing at a time is then tried
 * back in. Returns the descriptor, with *attr changed to what was opened and *ret_given_up telling
 * how; or -errno, both untouched, with the explanation for what remains refused.  Events and CPUs
 * after the first are best opened by tally_open() with the attr that came out. */
int tally_open_relaxed(struct tally_attr *attr, const struct tally_open_target *target,
		       const struct tally_limits *limits, uint32_t may, uint32_t *ret_given_up,
		       struct tally_error *error);

/* One bit of TALLY_RELAXED_* in words: "precise_ip lowered"; NULL for none. */
const char *tally_relaxed_name(uint32_t bit);

/* The same explanation for an errno at hand (positive); used by tally_open.  For E2BIG the attr is
 * as the kernel left it. */
void tally_open_explain(int errnum, const struct tally_attr *attr,
			const struct tally_open_target *target, const struct tally_limits *limits,
			struct tally_error *error);

/* The ioctls of an event's descriptor.  0 or -errno. `group`: PERF_IOC_FLAG_GROUP. */
int tally_fd_enable(int fd, bool group);
int tally_fd_disable(int fd, bool group);
int tally_fd_reset(int fd, bool group);
int tally_fd_refresh(int fd, int count);
int tally_fd_set_period(int fd, uint64_t period);
int tally_fd_set_output(int fd, int to_fd); /* -1: back to its own */
int tally_fd_set_filter(int fd, const char *filter);
int tally_fd_id(int fd, uint64_t *ret);
int tally_fd_set_bpf(int fd, int program_fd);
int tally_fd_pause_output(int fd, bool pause);
int tally_fd_query_bpf(int fd, uint32_t *ids, uint32_t room, uint32_t *ret_count);
int tally_fd_modify(int fd, const struct tally_attr *attr);

/* prctl(2)'s PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: every group that the calling thread has
 * opened, on whatever target, goes on or stops.  Events that others opened on it are not touched.
 */
int tally_prctl_enable(void);
int tally_prctl_disable(void);

/* One read(2) of a counter or group in any read_format, taken apart.  `words` holds the raw words
 * and must outlive *ret; room in words. Returns 0, -ENOSPC, or -errno. */
struct tally_read;
int tally_fd_read(int fd, uint64_t read_format, uint64_t *words, size_t room,
		  struct tally_read *ret);

/* A mapped ring. */
struct tally_ring;
struct tally_ring_options {
	size_t size;  /* sizeof of this struct */
	size_t pages; /* data pages, a power of two (0: the control page alone, no records); halved
		       * on EPERM and ENOMEM down to least_pages */
	size_t least_pages; /* 0: one */
	bool overwrite;     /* the kernel overwrites the oldest records; for attr.write_backward */
};
/* Maps the ring of `fd`, which must outlive it.  What the kernel locks for it beyond the limits is
 * refused with EPERM; the ring is then halved, and tally_ring_pages() tells that by differing from
 * what was asked.  -EBUSY (older kernels: -EINVAL): the event's output goes to another one's ring.
 * A tail of *options that this version does not know must be zero, else -E2BIG.
 * limits NULL: read now.  0 or -errno with error->text saying which limit and how to lift it. */
int tally_ring_open(int fd, const struct tally_ring_options *options,
		    const struct tally_limits *limits, struct tally_ring **ret,
		    struct tally_error *error);
void tally_ring_close(struct tally_ring *ring);
size_t tally_ring_pages(const struct tally_ring *ring); /* what it got */
int tally_ring_fd(const struct tally_ring *ring);
/* The unread bytes as at most two runs (the second when they wrap; whole records across both).
 * Returns their total; they stay until tally_ring_consume().
 * Overwrite rings must be paused (tally_fd_pause_output) from the look to the end of the reading;
 * they give the newest record first, each record once: a look after more was written starts at the
 * newest again and ends where the look before began. */
struct tally_ring_bytes {
	const uint8_t *first, *second;
	size_t first_size, second_size;
};
size_t tally_ring_peek(struct tally_ring *ring, struct tally_ring_bytes *ret);
void tally_ring_consume(struct tally_ring *ring, size_t bytes);

/* The next whole record, copied together when it wraps (borrowed until the next next, peek or
 * consume, which gives its room back to the kernel).  1, 0 when empty, -EBADMSG when the bytes are
 * no record, -ENOMEM, -EINVAL for an overwrite ring whose event lacks attr.write_backward: nobody
 * can tell where the records of such a ring begin. */
struct tally_record;
int tally_ring_next(struct tally_ring *ring, struct tally_record *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
