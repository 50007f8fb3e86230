/* The command that is recorded: forked first, held until all is open, then run. */
#ifndef TALLY_COLLECT_WORKLOAD_H
#define TALLY_COLLECT_WORKLOAD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <tally/error.h>
#include "collect/workload_child.h"

struct tally_workload {
	pid_t pid;     /* 0: none */
	int go_fd;     /* closing it without a byte makes the child leave */
	int failed_fd; /* gives the errno of a failed exec, or ends at a good one */
	int pid_fd;    /* readable when the child ended; -1: the kernel has none */
	bool ended;
	int status;          /* as waitpid(2) gives it, once ended */
	struct rusage usage; /* once ended */
	struct tally_workload_stack stack;
};

/* The name that the held child has until it runs the command. */
#define TALLY_WORKLOAD_NAME "tally-exec"

/* `apart`: what it prints goes to standard error, for standard output is the recording's. */
int tally_workload_hold(char *const *command, bool apart, struct tally_workload *ret,
			struct tally_error *error);
/* Whether PATH leads to something that can be run: 0 or the -errno exec would give. */
int tally_workload_find(const char *name);
/* Says why `name` cannot be run, from the -errno of the two others; returns it. */
int tally_workload_refuse(const char *name, int code, struct tally_error *error);
/* Lets it run. 0, or the -errno of its exec. */
int tally_workload_start(struct tally_workload *workload);
/* Whether it has ended; never waits. */
bool tally_workload_check(struct tally_workload *workload);
/* Ends the child if it still is there, and waits for it. */
void tally_workload_done(struct tally_workload *workload);

#endif
