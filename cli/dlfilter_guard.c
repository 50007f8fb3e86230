/* State at file scope, because a signal handler gets no argument of its own. */
#include "dlfilter_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include "say.h"

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct {
	const char *command;
	struct tally_dlfilters *filters; /* NULL: nothing is guarded */
	pthread_t thread;
	void *stack; /* for handlers, because a filter may have used up its own stack */
	struct sigaction crash_before[COUNT(crashes)], end_before[COUNT(ends)], alarm_before;
	volatile sig_atomic_t signal; /* that asked to end */
	volatile uint64_t call;       /* that was running at the last check */
} guard;

/* "tally script: the filter './x.so' WHAT filter_event END" */
static void print_crash(const struct tally_dlfilter_now *now, const char *what, const char *end)
{
	cli_say_raw("tally ");
	cli_say_raw(guard.command);
	cli_say_raw(": the filter '");
	cli_say_raw(now->name);
	cli_say_raw(what);
	cli_say_raw(now->callback);
	cli_say_raw(end);
	cli_say_raw("\n");
}

static const char *crash_name(int number)
{
	switch (number) {
	case SIGSEGV:
		return " (segmentation fault)";
	case SIGBUS:
		return " (bus error)";
	case SIGILL:
		return " (illegal instruction)";
	case SIGFPE:
		return " (arithmetic error)";
	default:
		return " (aborted)";
	}
}

static void crashed(int number)
{
	struct tally_dlfilter_now now = {.size = sizeof(now)};

	tally_dlfilters_now(guard.filters, &now);
	if (now.name && pthread_equal(guard.thread, pthread_self()))
		print_crash(&now, "' crashed in ", crash_name(number));
	signal(number, SIG_DFL);
	raise(number); /* comes when this handler returns */
}

static void die(int number)
{
	sigset_t only;

	signal(number, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/* A callback that still runs after a second will not return. */
static void look_again(int number)
{
	struct tally_dlfilter_now now = {.size = sizeof(now)};

	tally_dlfilters_now(guard.filters, &now);
	(void)number;
	if (now.name && now.call == guard.call) {
		print_crash(&now, "' did not return from ", "");
		die(guard.signal);
	}
	guard.call = now.call;
}

static void asked_to_end(int number)
{
	const struct itimerval every_second = {{1, 0}, {1, 0}};
	struct tally_dlfilter_now now = {.size = sizeof(now)};

	tally_dlfilters_now(guard.filters, &now);
	if (guard.signal) { /* once more: at once */
		if (now.name)
			print_crash(&now, "' did not return from ", "");
		die(number);
	}
	guard.signal = number;
	guard.call = now.call;
	setitimer(ITIMER_REAL, &every_second, NULL);
}

static void handle(const int *numbers, size_t count, void (*handler)(int), int flags,
		   struct sigaction *before)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	for (size_t i = 0; i < count; i++)
		/* A signal that is ignored stays ignored. */
		if (!sigaction(numbers[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}

static void give_back(const int *numbers, size_t count, void (*handler)(int),
		      const struct sigaction *before)
{
	for (size_t i = 0; i < count; i++) {
		struct sigaction now;

		/* A filter may have put its own there. */
		if (!sigaction(numbers[i], NULL, &now) && now.sa_handler == handler)
			sigaction(numbers[i], &before[i], NULL);
	}
}

#define STACK_SIZE ((size_t)64 * 1024)

void cli_dlfilter_guard_begin(const char *command, struct tally_dlfilters *filters)
{
	static const int alarm_only[] = {SIGALRM};

	guard.command = command;
	guard.filters = filters;
	guard.thread = pthread_self();
	guard.signal = 0;
	guard.stack = malloc(STACK_SIZE);
	if (guard.stack) {
		const stack_t stack = {.ss_sp = guard.stack, .ss_size = STACK_SIZE};

		sigaltstack(&stack, NULL);
	}
	handle(crashes, COUNT(crashes), crashed, SA_ONSTACK, guard.crash_before);
	handle(ends, COUNT(ends), asked_to_end, SA_ONSTACK | SA_RESTART, guard.end_before);
	handle(alarm_only, 1, look_again, SA_ONSTACK | SA_RESTART, &guard.alarm_before);
}

void cli_dlfilter_guard_end(void)
{
	static const int alarm_only[] = {SIGALRM};
	const struct itimerval never = {0};
	const stack_t none = {.ss_flags = SS_DISABLE};
	int number = guard.signal;

	if (!guard.filters)
		return;
	if (number)
		setitimer(ITIMER_REAL, &never, NULL);
	give_back(crashes, COUNT(crashes), crashed, guard.crash_before);
	give_back(ends, COUNT(ends), asked_to_end, guard.end_before);
	give_back(alarm_only, 1, look_again, &guard.alarm_before);
	sigaltstack(&none, NULL);
	free(guard.stack);
	guard.stack = NULL;
	guard.filters = NULL;
	if (number)
		die(number);
}

int cli_dlfilter_guard_signal(void)
{
	return guard.signal;
}
