/* --control: another program says what to do, by perf's words, one per line, and is answered. */
#ifndef TALLY_CLI_CONTROL_CHANNEL_H
#define TALLY_CLI_CONTROL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include "options.h"

enum cli_order {
	CLI_ORDER_NONE,
	CLI_ORDER_ENABLE = 1 << 0,
	CLI_ORDER_DISABLE = 1 << 1,
	CLI_ORDER_STOP = 1 << 2,
	CLI_ORDER_SNAPSHOT = 1 << 3,
	CLI_ORDER_EVLIST = 1 << 4,
};

struct cli_control {
	const struct cli_usage *usage; /* of the command, for messages */
	unsigned orders;               /* that it follows, besides ping */
	int command_fd, answer_fd;     /* -1: none */
	bool close_command, close_answer;
	char line[256];
	size_t length;
	const char
	    *rest; /* of the last order: what is behind its word; borrowed until the next one */
};

/* `text`: "fd:N[,M]" or "fifo:PATH[,PATH]"; NULL: there is none.  0, or CLI_USAGE after having
 * printed what is wrong. */
int cli_control_open(struct cli_control *control, const struct cli_usage *usage, const char *text,
		     unsigned orders);
void cli_control_close(struct cli_control *control);
/* Reads one order; CLI_ORDER_NONE when there is none (any more). */
enum cli_order cli_control_next(struct cli_control *control);
/* The events of a command, for orders about one of them. */
struct cli_control_events {
	void *context;
	const char *(*name)(void *context, size_t event);    /* NULL after the last one */
	int (*enable)(void *context, size_t event, bool on); /* 0 or -errno */
};
/* Whether `enable` or `disable` names an event; then all events of that name follow, or a message
 * says why not. */
bool cli_control_one_event(const struct cli_control *control, enum cli_order order,
			   const struct cli_control_events *events);
/* Acknowledges the last order. */
void cli_control_answer(struct cli_control *control);

#endif
