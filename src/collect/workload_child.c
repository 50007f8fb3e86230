#include "collect/workload_child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/bytes.h"
#include "collect/workload.h"

#define EXEC_STACK (64 * 1024) /* execvp(3) puts a path of PATH on it */

/* ThreadSanitizer keeps the state of its threads in our memory, which such a child would change. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHARE_MEMORY 0
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SHARE_MEMORY 0
#elif !defined(SHARE_MEMORY)
#define SHARE_MEMORY CLONE_VM
#endif

/* fork(2) copies the tables of all our pages, then both sides fault on each page that they write,
 * and exec discards it all: a tenth of the cost of `stat true`. clone(CLONE_VM) avoids that, with
 * rules for the child: its data is at the low end of its stack, our signal handlers never run in
 * it, and it calls nothing that takes locks or memory. errno is shared as well: the child sets it
 * only after a failure, and while it execs we wait in a read. */
struct start {
	struct tally_workload_child child;
	sigset_t mask;
	sigset_t handled; /* signals that have a handler */
	int error;
	char byte;
};

static void find_handlers(sigset_t *handled)
{
	struct sigaction action;

	sigemptyset(handled);
	for (int number = 1; number < NSIG; number++)
		if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			sigaddset(handled, number);
}

/* By system call: sanitizers keep a table for sigaction(2) in memory, and the child shares it. */
static void reset_handlers(const sigset_t *handled)
{
	static const unsigned long by_default[8]; /* the kernel's structure, of any architecture */

	for (int number = 1; number < NSIG; number++)
		if (sigismember(handled, number) == 1)
			syscall(SYS_rt_sigaction, number, by_default, NULL, NSIG / 8);
}

/* The child; all signals are blocked. */
static int hold(void *argument)
{
	struct start *start = argument;
	const struct tally_workload_child *child = &start->child;

	/* With its own copy of the write end open, the child would wait forever. */
	close(child->go_write_fd);
	prctl(PR_SET_NAME, TALLY_WORKLOAD_NAME);
	reset_handlers(&start->handled);
	if (syscall(SYS_read, child->go_fd, &start->byte, 1) != 1)
		return 0; /* the recorder gave up or died: run nothing */
	if (child->to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, &start->mask, NULL);
	execvp(child->command[0], child->command);
	start->error = errno;
	if (syscall(SYS_write, child->failed_fd, &start->error, sizeof(start->error)) < 0)
		return 126;
	return start->error == ENOENT ? 127 : 126;
}

/* A copy of the words at `at`, with their text behind the pointers. */
static char **copy_words(char *const *words, size_t count, void *at)
{
	char **copy = at, *text = (char *)(copy + count + 1);

	for (size_t i = 0; i < count; i++) {
		copy[i] = text;
		text = stpcpy(text, words[i]) + 1;
	}
	copy[count] = NULL;
	return copy;
}

pid_t tally_workload_child_start(const struct tally_workload_child *child,
				 struct tally_workload_stack *stack)
{
	size_t words = 0, bytes = sizeof(struct start) + EXEC_STACK;
	struct start *start;
	sigset_t all;
	pid_t pid;

	for (; child->command[words]; words++)
		bytes += strlen(child->command[words]) + 1;
	/* Once for the copy, once for execvp(3), which runs a script without "#!" by sh. */
	bytes += 2 * (words + 3) * sizeof(char *);
	stack->size = align_up(bytes, 4096);
	stack->memory = mmap(NULL, stack->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack->memory == MAP_FAILED) {
		stack->memory = NULL;
		return -errno;
	}
	start = stack->memory;
	start->child = *child;
	start->child.command = copy_words(child->command, words, start + 1);
	find_handlers(&start->handled);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &start->mask);
	pid = clone(hold, (char *)stack->memory + stack->size, SHARE_MEMORY | SIGCHLD, start);
	if (pid < 0)
		pid = -errno;
	pthread_sigmask(SIG_SETMASK, &start->mask, NULL);
	return pid;
}

void tally_workload_stack_free(struct tally_workload_stack *stack)
{
	if (stack->memory)
		munmap(stack->memory, stack->size);
	stack->memory = NULL;
}
