#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <tally/data.h>
#include <tally/evlist.h>
#include "command.h"
#include "progress.h"
#include "record_control.h"
#include "say.h"
#include "stack_room.h"

int record_control_open(struct record_control *control, const struct cli_usage *usage,
			const char *where)
{
	const unsigned orders = CLI_ORDER_ENABLE | CLI_ORDER_DISABLE | CLI_ORDER_STOP |
				CLI_ORDER_SNAPSHOT | CLI_ORDER_EVLIST;
	int status;

	*control = (struct record_control){.end_fd = -1};
	status = cli_control_open(&control->control, usage, where, orders);
	if (status || !where)
		return status;
	control->end_fd = eventfd(0, EFD_CLOEXEC);
	if (control->end_fd >= 0)
		return 0;
	cli_say(usage->command, "--control: eventfd: %s", strerror(errno));
	cli_control_close(&control->control);
	return CLI_FAILED;
}

/* The file that is being written can be read at each moment. */
static void list_events(const struct record_control *control)
{
	const char *how = control->control.rest;
	struct tally_evlist_options options = {
	    .size = sizeof(options),
	    .verbose = strstr(how, "-v"),
	    .freq = strstr(how, "-F"),
	    .group = strstr(how, "-g"),
	};
	struct tally_data *data;
	struct tally_error error;

	if (cli_data_open(control->output, 0, &data, &error)) {
		cli_say_error("record", &error);
		return;
	}
	tally_evlist_text(data, &options, stderr);
	tally_data_close(data);
}

static const char *event_name(void *recorder, size_t event)
{
	return tally_recorder_event_name(recorder, event);
}

static int enable_event(void *recorder, size_t event, bool on)
{
	return tally_recorder_enable_event(recorder, event, on);
}

static void follow(struct record_control *control, enum cli_order order)
{
	struct tally_recorder *recorder = control->recorder;
	const struct cli_control_events events = {recorder, event_name, enable_event};

	if (order & (CLI_ORDER_ENABLE | CLI_ORDER_DISABLE) &&
	    cli_control_one_event(&control->control, order, &events)) {
		cli_control_answer(&control->control);
		return;
	}
	switch (order) {
	case CLI_ORDER_ENABLE:
		tally_recorder_enable(recorder);
		break;
	case CLI_ORDER_DISABLE:
		tally_recorder_disable(recorder);
		break;
	case CLI_ORDER_SNAPSHOT:
		tally_recorder_snapshot(recorder);
		break;
	case CLI_ORDER_STOP:
		tally_recorder_stop(recorder, 0);
		break;
	case CLI_ORDER_EVLIST:
		list_events(control);
		break;
	default:
		break;
	}
	/* An order is answered when it is done; the end of the recording does all of them. */
	if (order != CLI_ORDER_STOP && order != CLI_ORDER_EVLIST)
		tally_recorder_sync(recorder);
	cli_control_answer(&control->control);
}

static void *control_main(void *context)
{
	struct record_control *control = context;

	while (control->control.command_fd >= 0) {
		struct pollfd polls[2] = {{.fd = control->control.command_fd, .events = POLLIN},
					  {.fd = control->end_fd, .events = POLLIN}};
		enum cli_order order;

		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			break;
		if (polls[1].revents)
			break;
		while (control->control.command_fd >= 0 &&
		       (order = cli_control_next(&control->control)))
			follow(control, order);
	}
	return NULL;
}

void record_control_start(struct record_control *control, struct tally_recorder *recorder,
			  const char *output)
{
	sigset_t all, before;
	int code;

	if (control->control.command_fd < 0)
		return;
	control->recorder = recorder;
	control->output = output;
	/* Signals are for the thread that records. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = cli_thread_start(&control->thread, control_main, control);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	control->started = !code;
	if (code)
		cli_say("record", "--control: no thread to follow orders: %s", strerror(code));
}

void record_control_close(struct record_control *control)
{
	const uint64_t one = 1;

	if (control->started && write(control->end_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(control->thread, NULL);
	control->started = false;
	cli_control_close(&control->control);
	if (control->end_fd >= 0)
		close(control->end_fd);
	control->end_fd = -1;
}
