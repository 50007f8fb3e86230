/* One run: opens the counters, lets the command run, prints intervals, reads the counts at the end.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "control_channel.h"
#include "ending.h"
#include "say.h"
#include "stat_command.h"

#define LOOK_EVERY (100 * STAT_MS) /* whether the counted processes still exist */
#define NEVER      UINT64_MAX

/* A handler gets no argument. */
static volatile sig_atomic_t caught, sent_to_us, any;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (signal == SIGCHLD)
		return;
	/* Signals that the terminal sends go to all its processes. */
	sent_to_us = info->si_code == SI_USER;
	caught = any = signal;
}

bool stat_interrupted(void)
{
	return any;
}

struct run {
	const struct stat_ask *ask;
	struct stat_output *output;
	struct cli_control control;
	struct stat_count count;
	struct stat_run_times times;
	struct tally_stat_writer *record; /* NULL: not open */
	int failed;                       /* an exit status: the recording could not be written */
	sigset_t open; /* the mask while we wait: only then signals are delivered */
	uint64_t start, enable_at, interval_at, timeout_at, last;
	uint64_t intervals_left;
	bool enabled, timed_out, stopped;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* SIGCHLD is handled only so that it ends a wait.  A shell without job control makes background
 * commands ignore SIGINT. SIGINT ends counting all the same. Signals that nohup ignores stay
 * ignored. */
static void catch_signals(sigset_t *ret_blocked)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, before;

	caught = any = 0;
	sigemptyset(ret_blocked);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (signals[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
		sigaddset(ret_blocked, signals[i]);
	}
}

static bool command_ended(struct run *run)
{
	struct tally_counters_command command = {.size = sizeof(command)};

	return !tally_counters_command(run->count.set, &command) && command.ended;
}

static void print_interval(struct run *run)
{
	uint64_t time = now();
	struct tally_stat_times times = {.elapsed = time - run->last};

	stat_count_read(&run->count);
	if (run->ask->record && !run->failed)
		run->failed = stat_record_round(run->record, &run->count, time - run->start, false);
	tally_stat_interval(run->count.stat, run->count.counts, &times);
	run->last = time;
	stat_output_interval(run->output, run->count.stat, time - run->start);
}

static void enable(struct run *run, bool on)
{
	if (on)
		tally_counters_enable(run->count.set);
	else
		tally_counters_disable(run->count.set);
	run->enabled = on;
}

static void list_events(const struct run *run)
{
	const struct tally_event_list *list = &run->ask->events;

	if (*run->control.rest)
		cli_say("stat", "--control: evlist takes no '%s' here: -v prints the attrs",
			run->control.rest);
	for (size_t i = 0; i < list->count; i++)
		fprintf(stderr, "%s\n", list->events[i].name);
}

static const char *event_name(void *context, size_t event)
{
	const struct tally_event_list *list = &((struct run *)context)->ask->events;

	return event < list->count ? list->events[event].name : NULL;
}

static int enable_event(void *context, size_t event, bool on)
{
	struct run *run = context;

	return tally_counters_enable_event(run->count.set, event, on);
}

static void follow_orders(struct run *run)
{
	const struct cli_control_events events = {run, event_name, enable_event};
	enum cli_order order;

	while (run->control.command_fd >= 0 && (order = cli_control_next(&run->control))) {
		if (order == CLI_ORDER_STOP)
			run->stopped = true;
		else if (order == CLI_ORDER_EVLIST)
			list_events(run);
		else if (!cli_control_one_event(&run->control, order, &events))
			enable(run, order == CLI_ORDER_ENABLE);
		if (run->ask->interval_ms && order & (CLI_ORDER_ENABLE | CLI_ORDER_DISABLE))
			print_interval(run);
		cli_control_answer(&run->control);
	}
}

/* Sleeps until something is due, a signal comes, the command ends or an order comes. */
static void wait_until(struct run *run, uint64_t due)
{
	struct tally_counters_command command = {.size = sizeof(command), .pid_fd = -1};
	uint64_t time = now(), left = due > time ? due - time : 0;
	struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000),
				   .tv_nsec = (long)(left % 1000000000)};
	struct pollfd fds[2];
	nfds_t count = 0;

	if (!tally_counters_command(run->count.set, &command) && command.pid_fd >= 0)
		fds[count++] = (struct pollfd){.fd = command.pid_fd, .events = POLLIN};
	if (run->control.command_fd >= 0)
		fds[count++] = (struct pollfd){.fd = run->control.command_fd, .events = POLLIN};
	if (ppoll(fds, count, due == NEVER ? NULL : &timeout, &run->open) > 0)
		follow_orders(run);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A signal that only we got is passed on to the command. The terminal sends its signals to the
 * command, too, which may handle the first; after the second we do not wait for it. */
static void take_signal(struct run *run, int *before)
{
	struct tally_counters_command command = {.size = sizeof(command)};
	bool has_command = !tally_counters_command(run->count.set, &command);

	if (!has_command || *before)
		run->stopped = true;
	else if (sent_to_us)
		kill(command.pid, caught);
	*before = caught;
	caught = 0;
}

static void end_by_time(struct run *run)
{
	struct tally_counters_command command = {.size = sizeof(command)};

	run->timeout_at = NEVER;
	run->timed_out = true;
	if (tally_counters_command(run->count.set, &command))
		run->stopped = true;
	else
		kill(command.pid, SIGTERM);
}

/* Waits until the command, or the counted processes, have ended; returns a signal's number, or 0.
 */
static int watch(struct run *run)
{
	bool has_command = run->ask->command != NULL;
	sigset_t blocked;
	int signal = 0;

	while (!run->stopped) {
		uint64_t due = earlier(earlier(run->interval_at, run->timeout_at), run->enable_at);
		uint64_t time;

		if (has_command ? command_ended(run) : !tally_counters_alive(run->count.set))
			break;
		if (!has_command && stat_has_tasks(run->ask))
			due = earlier(due, now() + LOOK_EVERY);
		wait_until(run, due);
		if (caught)
			take_signal(run, &signal);
		time = now();
		if (time >= run->enable_at) {
			enable(run, true);
			run->enable_at = NEVER;
		}
		if (time >= run->timeout_at)
			end_by_time(run);
		if (time >= run->interval_at && !command_ended(run)) {
			print_interval(run);
			run->interval_at += run->ask->interval_ms * STAT_MS;
			/* Missed intervals are not printed later. */
			if (run->interval_at < time)
				run->interval_at = time + run->ask->interval_ms * STAT_MS;
			if (run->intervals_left && !--run->intervals_left) {
				run->interval_at = NEVER;
				run->stopped = !has_command;
			}
		}
	}
	/* The terminal's signal may have ended the command before we were waiting for it. */
	sigprocmask(SIG_SETMASK, &run->open, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return signal ? signal : caught;
}

static int begin(struct run *run)
{
	const struct stat_ask *ask = run->ask;
	struct tally_error error;
	int result;

	run->enable_at = run->interval_at = run->timeout_at = NEVER;
	run->intervals_left = ask->interval_count;
	run->stopped = run->timed_out = false;
	/* Counters that start at the command's exec need nothing from us. */
	run->enabled = !ask->delay_ms;
	if (run->enabled && !stat_counts_command(ask))
		enable(run, true);
	run->start = run->last = now();
	if (ask->command) {
		result = tally_counters_start(run->count.set, &error);
		if (result) {
			cli_say_error("stat", &error);
			return result == -ENOENT ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
		}
	}
	if (ask->delay_ms > 0)
		run->enable_at = run->start + (uint64_t)ask->delay_ms * STAT_MS;
	if (ask->interval_ms)
		run->interval_at = run->start + ask->interval_ms * STAT_MS;
	if (ask->timeout_ms)
		run->timeout_at = run->start + ask->timeout_ms * STAT_MS;
	return CLI_OK;
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

static void end(struct run *run)
{
	struct tally_counters_command command = {.size = sizeof(command)};
	struct tally_stat_times times = {.elapsed = now() - run->start};
	uint64_t *more;

	if (!stat_counts_command(run->ask))
		tally_counters_disable(run->count.set);
	if (run->ask->interval_ms && run->interval_at != NEVER)
		print_interval(run);
	if (!tally_counters_command(run->count.set, &command) && command.ended) {
		times.user = ns_of(&command.usage.ru_utime);
		times.system = ns_of(&command.usage.ru_stime);
	}
	stat_count_read(&run->count);
	/* A recording with intervals has no total: perf would add it to the intervals. */
	if (run->ask->record && !run->failed && !run->ask->interval_ms)
		run->failed = stat_record_round(run->record, &run->count, times.elapsed, true);
	tally_stat_finish(run->count.stat, run->count.counts, &times);
	more = reallocarray(run->times.ns, run->times.count + 1, sizeof(*more));
	if (more) {
		run->times.ns = more;
		more[run->times.count++] = times.elapsed;
	}
}

static int status_of(struct run *run, int signal)
{
	struct tally_counters_command command = {.size = sizeof(command)};

	if (tally_counters_command(run->count.set, &command) || !command.ended)
		return cli_ending_status("stat", NULL, -1, signal);
	if (run->timed_out && WIFSIGNALED(command.status) && WTERMSIG(command.status) == SIGTERM)
		return CLI_OK;
	return cli_ending_status("stat", run->ask->command[0], command.status, signal);
}

/* A command line of the user, for the shell. */
static int run_shell(const char *command, const char *option)
{
	const char *const words[] = {"sh", "-c", command, NULL};
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		execvp(words[0], (char *const *)words);
		_exit(CLI_NOT_FOUND);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			break;
	if (pid < 0)
		cli_say("stat", "--%s: %s", option, strerror(errno));
	else if (status)
		cli_say("stat", "--%s: '%s' failed; no further command is run", option, command);
	return pid < 0 || status ? CLI_FAILED : CLI_OK;
}

/* One run; *ret_over: no other run follows. */
static int run_once(struct run *run, const sigset_t *blocked, bool *ret_over)
{
	const struct stat_ask *ask = run->ask;
	int status = CLI_OK, signal = 0;

	*ret_over = true;
	if (ask->before)
		status = run_shell(ask->before, "pre");
	if (status)
		return status;
	if (ask->sync)
		sync();
	status = stat_count_open(&run->count, ask);
	/* Blocked only from here on, because the command inherits the mask at fork. */
	sigprocmask(SIG_BLOCK, blocked, &run->open);
	if (!status && ask->record)
		status = stat_record_open(&run->record, &run->count);
	if (status == CLI_FAILED && ask->record && ask->command)
		status = CLI_OWN_FAILURE;
	if (!status)
		status = begin(run);
	if (!status) {
		signal = watch(run);
		end(run);
		status = run->failed ? run->failed : status_of(run, signal);
		*ret_over = signal || run->stopped;
		if (run->output)
			stat_count_explain(&run->count);
	}
	stat_count_close(&run->count);
	sigprocmask(SIG_SETMASK, &run->open, NULL);
	if (!*ret_over && ask->after && run_shell(ask->after, "post")) {
		*ret_over = true;
		return CLI_FAILED;
	}
	return status;
}

int stat_run_once(const struct stat_ask *ask, struct stat_count *count, bool *ret_over)
{
	struct run run = {
	    .ask = ask, .control = {.command_fd = -1, .answer_fd = -1}, .count = *count};
	sigset_t blocked;
	int status;

	catch_signals(&blocked);
	status = run_once(&run, &blocked, ret_over);
	*count = run.count;
	free(run.times.ns);
	return status;
}

int stat_run(const struct stat_ask *ask, struct stat_output *output)
{
	struct run run = {.ask = ask, .output = output};
	sigset_t blocked;
	bool over = false;
	int status = cli_control_open(&run.control, ask->usage, ask->control,
				      CLI_ORDER_ENABLE | CLI_ORDER_DISABLE | CLI_ORDER_STOP |
					  CLI_ORDER_EVLIST);

	if (status)
		return status;
	catch_signals(&blocked);
	for (uint64_t i = 0; !over && (!ask->repeat || i < ask->repeat); i++) {
		if (ask->verbose && ask->repeat != 1)
			cli_say("stat", "run %llu", (unsigned long long)i + 1);
		status = run_once(&run, &blocked, &over);
		if (!ask->repeat && run.count.stat && !ask->interval_ms) /* for ever */
			stat_output_end(output, run.count.stat, &run.times);
	}
	if (ask->repeat && run.count.stat && tally_stat_runs(run.count.stat) &&
	    (!ask->interval_ms || ask->summary))
		stat_output_end(output, run.count.stat, &run.times);
	/* The other formats contain the reasons. */
	if (run.count.stat && ask->every_thread)
		stat_count_say_threads(&run.count);
	else if (run.count.stat && (output->format == STAT_CSV || output->format == STAT_PERF_JSON))
		stat_count_say_unpermitted(&run.count);
	if (stat_record_close(run.record))
		status = CLI_FAILED;
	stat_count_done(&run.count);
	cli_control_close(&run.control);
	free(run.times.ns);
	return status;
}
