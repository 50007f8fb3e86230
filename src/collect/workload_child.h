/* The child that holds a command back: a process of its own that shares our memory until it execs.
 */
#ifndef TALLY_COLLECT_WORKLOAD_CHILD_H
#define TALLY_COLLECT_WORKLOAD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tally_workload_child {
	char *const *command; /* is copied */
	bool to_stderr;       /* its standard output goes to standard error */
	int go_fd;            /* a byte: run the command; end of file: exit */
	int go_write_fd;      /* the write end of go_fd's pipe; the child closes its copy */
	int failed_fd;        /* the child writes the errno of a failed exec to it */
};

/* The child's stack, in our memory; it is free again when the child has run exec or exited. */
struct tally_workload_stack {
	void *memory; /* NULL: none */
	size_t size;
};

/* Its pid, or -errno.  `stack` is filled in; tally_workload_stack_free() gives it back. */
pid_t tally_workload_child_start(const struct tally_workload_child *child,
				 struct tally_workload_stack *stack);
void tally_workload_stack_free(struct tally_workload_stack *stack);

#endif
