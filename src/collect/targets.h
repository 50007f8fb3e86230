/* What is recorded: threads and CPUs. */
#ifndef TALLY_COLLECT_TARGETS_H
#define TALLY_COLLECT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/error.h>
#include <tally/recorder.h>

struct tally_targets {
	bool system_wide;
	bool command; /* the only thread is the held command's */
	pid_t *tids;  /* one -1 when system-wide */
	size_t tid_count;
	pid_t *pids; /* processes that already run; none when system-wide or a command */
	size_t pid_count;
	uint32_t *cpus; /* ascending, online */
	size_t cpu_count;
};

/* `command` is the held child, or 0.  -ESRCH, -EINVAL, -EACCES with words. */
int tally_targets_make(const struct tally_recorder_options *options, const char *root,
		       pid_t command, struct tally_targets *ret, struct tally_error *error);
void tally_targets_done(struct tally_targets *targets);

/* Numbers that name entries of a folder of procfs, ascending; the caller's to free(). */
int tally_targets_list(const char *folder, pid_t **ret, size_t *ret_count);

#endif
