#include "stack_room.h"

#include <signal.h>
#include <sys/resource.h>
#include "command.h"

#define STACK_SIZE  ((size_t)8 << 20)
#define STACK_LEAST ((rlim_t)1 << 20)

struct call {
	const struct cli_command *command;
	int argc, status;
	char **argv;
	sigset_t signals;
};

int cli_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	pthread_attr_t attr;
	int code = pthread_attr_init(&attr);

	if (code)
		return code;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	code = pthread_create(thread, &attr, run, context);
	pthread_attr_destroy(&attr);
	return code;
}

static void *run_call(void *context)
{
	struct call *call = context;

	pthread_sigmask(SIG_SETMASK, &call->signals, NULL);
	call->status = call->command->run(call->argc, call->argv);
	return NULL;
}

int cli_run_with_room(const struct cli_command *command, int argc, char **argv)
{
	struct call call = {.command = command, .argc = argc, .argv = argv};
	struct rlimit limit;
	sigset_t all;
	pthread_t thread;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_LEAST)
		return command->run(argc, argv);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &call.signals);
	if (cli_thread_start(&thread, run_call, &call))
		run_call(&call);
	else
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &call.signals, NULL);
	return call.status;
}
