/* What is recorded or counted: threads and CPUs. */
#ifndef TALLY_COLLECT_TARGETS_H
#define TALLY_COLLECT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/error.h>

struct tally_targets {
	bool system_wide;
	bool command; /* the only thread is the held command's */
	pid_t *tids;  /* one entry, -1, when system-wide */
	size_t tid_count;
	pid_t *pids; /* processes that already run; empty when system-wide or for a command */
	size_t pid_count;
	uint32_t *cpus; /* ascending, online; one entry, TALLY_ANY_CPU, with asked.per_thread */
	size_t cpu_count;
	bool per_thread;
};

#define TALLY_ANY_CPU UINT32_MAX /* -1 of perf_event_open(2) */

/* What the caller asked for; borrowed. */
struct tally_targets_asked {
	const char *root; /* the folder that holds proc and sys; "" for / */
	pid_t command;    /* the held child, or 0 */
	const pid_t *pids, *tids;
	size_t pid_count, tid_count;
	const pid_t *parents; /* processes, with all their descendants */
	size_t parent_count;
	bool by_uid;
	uid_t uid;
	bool system_wide;
	const uint32_t *cpus; /* empty: all that are online */
	size_t cpu_count;
	bool any_cpu;    /* the CPUs are not read: threads are measured on any */
	bool per_thread; /* the same, as one entry of `cpus` */
};

/* -ESRCH, -EINVAL, -EACCES with words. */
int tally_targets_make(const struct tally_targets_asked *asked, struct tally_targets *ret,
		       struct tally_error *error);
void tally_targets_done(struct tally_targets *targets);

/* Entries of a folder of procfs that are numbers, ascending; the caller frees them. */
int tally_targets_list(const char *folder, pid_t **ret, size_t *ret_count);

/* A number of /proc/TID/status: "\nTgid:" is the process of a thread, "\nPPid:" its parent; 0: it
 * has ended. Source: proc(5). */
pid_t tally_targets_of_status(const char *root, pid_t tid, const char *key);

#endif
