/* Counter sets: events over targets, read as an array of counts [event][place].
 *
 *	tally_event_list_parse("{cycles,instructions},page-faults", ...) -> events
 *	tally_counters_open(&options, &set, &error)      nothing counts yet
 *	tally_counters_enable(set); work(); tally_counters_disable(set);
 *	tally_counters_read(set, counts)                 counts[event * places + place]
 *
 * A place is a thread, a CPU, or a cgroup on a CPU.  One event on one place is one descriptor of
 * the kernel.  The events of a group are on the hardware together: one read(2) reads them all. */
#ifndef TALLY_COUNTER_H
#define TALLY_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tally/attr.h>
#include <tally/count.h>
#include <tally/error.h>
#include <tally/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_counters;

struct tally_counters_options {
	size_t size; /* sizeof of this struct */
	const struct tally_event_list *events;
	const char *root; /* the folder that holds proc and sys; NULL: "/" */
	/* Targets.  None: the calling thread.  A command is forked by tally_counters_open() and
	 * held until tally_counters_start(); with a list of CPUs or system_wide it is only run.
	 * CPUs alone are the whole of these CPUs; with threads, these threads there, a place each.
	 * cgroups are folders below the perf_event hierarchy ("/" or "": its top), each counted on
	 * each CPU. */
	char *const *command; /* argv, NULL-terminated */
	const pid_t *pids, *tids;
	size_t pid_count, tid_count;
	bool by_uid;
	uid_t uid;
	bool system_wide;
	const uint32_t *cpus;
	size_t cpu_count;
	const char *const *cgroups;
	size_t cgroup_count;
	bool no_inherit; /* children and threads that the targets start are not counted */
	bool delayed;    /* a command counts from tally_counters_enable() on, not from its exec */
	/* Without the right to count the kernel, count user space only, except for events with a
	 * privilege modifier; see tally_counters_event.given_up. */
	bool user_only;
	bool strict;          /* an event that cannot be counted fails the opening */
	const pid_t *parents; /* targets: processes with all that run below them */
	size_t parent_count;
};

/* Opens all events at all places.  An event that cannot be counted stays in the set; its counts
 * have a quality that says so, and tally_counters_why() says why.  RLIMIT_NOFILE is raised as
 * needed and allowed.  The options are copied, except `command` and `root`, which are borrowed
 * until close. -EMFILE, -ENFILE, -ENOMEM: descriptors or memory do not suffice, the text names the
 * limit; -ESRCH: no target exists; -EINVAL, -E2BIG: the options are invalid. */
int tally_counters_open(const struct tally_counters_options *options, struct tally_counters **ret,
			struct tally_error *error);
/* Ends a command that still runs, and closes all descriptors.  NULL is fine. */
void tally_counters_close(struct tally_counters *set);

/* How many events the set has, and at how many places each of them counts. */
size_t tally_counters_event_count(const struct tally_counters *set);
size_t tally_counters_place_count(const struct tally_counters *set);

struct tally_counters_place {
	size_t size;   /* sizeof of this struct, set by the caller */
	int cpu;       /* -1: any */
	pid_t tid;     /* -1: everything on `cpu`; 0: the thread that opened the set */
	size_t cgroup; /* its index in options->cgroups; SIZE_MAX: none */
};
/* 0; -EINVAL: there is no such place, or ret->size is not set. */
int tally_counters_place(const struct tally_counters *set, size_t place,
			 struct tally_counters_place *ret);

struct tally_counters_event {
	size_t size;            /* sizeof of this struct, set by the caller */
	const char *name;       /* with ":u" when only user space is counted; the set's */
	struct tally_attr attr; /* as opened */
	uint32_t given_up;      /* TALLY_RELAXED_* bits of <tally/open.h> */
	uint32_t leader;        /* a weak group that did not fit has fallen apart */
	size_t opened;          /* places where it counts */
};
/* 0; -EINVAL: there is no such event, or ret->size is not set. */
int tally_counters_event(const struct tally_counters *set, size_t event,
			 struct tally_counters_event *ret);

/* Says why an event has no count at a place, and what to do; for one that has, the code is 0 and
 * the text is empty.  It tries to open the event again, which takes time.  -EINVAL: there is no
 * such event or place. */
int tally_counters_why(const struct tally_counters *set, size_t event, size_t place,
		       struct tally_error *ret);

/* The descriptor of an event at a place, for tally_fd(3), poll(2) and fcntl(2).  It is the set's:
 * do not close it.  -EBADF: it is not open; -EINVAL: there is no such event or place. */
int tally_counters_fd(const struct tally_counters *set, size_t event, size_t place);

/* Lets the held command run.  Unless `delayed` is set, counting starts at its exec (for CPUs, now).
 * 0; -errno of the exec; -EINVAL: there is no command. */
int tally_counters_start(struct tally_counters *set, struct tally_error *error);

struct tally_counters_command {
	size_t size; /* sizeof of this struct, set by the caller */
	pid_t pid;
	int pid_fd; /* readable for poll(2) when it has ended; the set's; -1: not supported */
	bool ended;
	int status;          /* as waitpid(2) gives it, once ended */
	struct rusage usage; /* of it and of the children that it waited for, once ended */
};
/* The state of the command; does not wait.  0; -ENOENT without a command; -EINVAL: ret->size is not
 * set. */
int tally_counters_command(struct tally_counters *set, struct tally_counters_command *ret);
/* Waits until the command ends.  1: it ended; 0: `timeout_ms` have passed (-1: no limit); -EINTR: a
 * signal came; -ENOENT: there is no command. */
int tally_counters_wait(struct tally_counters *set, int timeout_ms);
/* Whether any target still exists; CPUs, cgroups and the calling thread always do. */
bool tally_counters_alive(const struct tally_counters *set);

/* Start and stop all events of the set at all places, a group at once.  0 or the first -errno. */
int tally_counters_enable(struct tally_counters *set);
int tally_counters_disable(struct tally_counters *set);
/* The same of one event alone, at all places: of a leader, its group.  -EBADF: it is open nowhere;
 * -EINVAL: there is no such event. */
int tally_counters_enable_event(struct tally_counters *set, size_t event, bool on);
/* Sets counts, times and losses to 0.  (The kernel's own reset, tally_fd_reset(), keeps the times
 * and the counts of children that have ended.) */
int tally_counters_reset(struct tally_counters *set);

/* Change one event at all places: its number of overflows, its period, its filter.  0 or the first
 * -errno; the error says what the kernel refused.  -EBADF: the event is open nowhere; -EINVAL:
 * there is no such event, or the kernel refused. */
int tally_counters_refresh(struct tally_counters *set, size_t event, int overflows);
int tally_counters_set_period(struct tally_counters *set, size_t event, uint64_t period);
int tally_counters_set_filter(struct tally_counters *set, size_t event, const char *filter,
			      struct tally_error *error);
/* Attaches a BPF program.  The program of a tracepoint or probe decides for all events on it, also
 * those of other processes. */
int tally_counters_attach_bpf(struct tally_counters *set, size_t event, int program_fd,
			      struct tally_error *error);
/* Sends the records of an event to the ring of another event at the same place; `to_event`
 * SIZE_MAX: to its own ring again. */
int tally_counters_set_output(struct tally_counters *set, size_t event, size_t to_event,
			      struct tally_error *error);

/* Reads all counts into counts[event * tally_counters_place_count() + place], with one read(2) for
 * each group and place.  Groups of software events and tracepoints never take turns on hardware:
 * their time_enabled is their time_running, and they are never scaled.  (The kernel's goes on while
 * a thread is not on the event's CPU.)  Nothing is allocated.  A count that cannot be read has a
 * quality that says so.  0; -errno: the kernel refused for another reason; the other counts are
 * read all the same. */
int tally_counters_read(struct tally_counters *set, struct tally_count *counts);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
