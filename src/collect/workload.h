/* The command that is recorded: started first, held until all events are open, then run. */
#ifndef TALLY_COLLECT_WORKLOAD_H
#define TALLY_COLLECT_WORKLOAD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tally/error.h>
#include "collect/workload_child.h"

struct tally_workload {
	pid_t pid;     /* 0: none */
	int go_fd;     /* closed without a byte: the child exits */
	int failed_fd; /* gives the errno of a failed exec, or end of file after a good one */
	int pid_fd;    /* readable when the child has ended; -1: not supported by the kernel */
	bool ended;
	int status;          /* as from waitpid(2), once ended */
	struct rusage usage; /* once ended */
	struct tally_workload_stack stack;
};

/* The name that the held child has until it runs the command. */
#define TALLY_WORKLOAD_NAME "tally-exec"

/* `to_stderr`: the command's standard output goes to standard error, as the recording goes to ours.
 */
int tally_workload_hold(char *const *command, bool to_stderr, struct tally_workload *ret,
			struct tally_error *error);
/* Whether `name` can be run, by PATH: 0 or the -errno that exec would give. */
int tally_workload_find(const char *name);
/* Makes the error message for a -errno of tally_workload_find() or _start(); returns the -errno. */
int tally_workload_explain(const char *name, int code, struct tally_error *error);
/* Lets the command run. 0, or the -errno of its exec. */
int tally_workload_start(struct tally_workload *workload);
/* Whether it has ended; never waits. */
bool tally_workload_check(struct tally_workload *workload);
/* Ends the child if it still runs, and waits for it. */
void tally_workload_done(struct tally_workload *workload);

#endif
