/* The child that holds a command back: a process of its own that shares our memory until it execs.
 */
#ifndef TALLY_COLLECT_WORKLOAD_CHILD_H
#define TALLY_COLLECT_WORKLOAD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tally_workload_child {
	char *const *command; /* is copied */
	bool apart;           /* its standard output goes to standard error */
	int go_fd;            /* a byte: run it; the end: leave */
	int leash_fd;         /* the end that is written; the child closes its own copy */
	int failed_fd;        /* takes the errno of an exec that failed */
};

/* What the child runs on; our own memory, and free again once it has gone to its command or left.
 */
struct tally_workload_stack {
	void *memory; /* NULL: none */
	size_t size;
};

/* Its pid, or -errno.  `stack` is filled in; tally_workload_stack_free() gives it back. */
pid_t tally_workload_child_start(const struct tally_workload_child *child,
				 struct tally_workload_stack *stack);
void tally_workload_stack_free(struct tally_workload_stack *stack);

#endif
