/* --control: another program says when to count, by perf's words, one per line. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <unistd.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

/* 0, or -errno. */
static int open_fifo(const char *path, int *ret)
{
	/* Both ends are opened, so that neither waits for the other, and there is no end of file
	 * between two writers. */
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

static int take_number(const char *text, int *ret)
{
	uint64_t number;

	if (tally_text_u64(text, &number) || number > INT_MAX)
		return -EINVAL;
	if (fcntl((int)number, F_GETFD) < 0)
		return -errno;
	*ret = (int)number;
	return 0;
}

int stat_control_open(struct stat_control *control, const struct stat_ask *ask)
{
	bool fifo = ask->control && !strncmp(ask->control, "fifo:", 5);
	bool fd = ask->control && !strncmp(ask->control, "fd:", 3);
	char *text, *answer;
	int result;

	*control = (struct stat_control){.command_fd = -1, .answer_fd = -1};
	if (!ask->control)
		return CLI_OK;
	if (!fifo && !fd)
		return cli_usage_error(ask->usage,
				       "--control: expected fd:N[,M] or fifo:PATH[,PATH], not '%s'",
				       ask->control);
	text = strdup(ask->control + (fifo ? 5 : 3));
	if (!text) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	answer = strchr(text, ',');
	if (answer)
		*answer++ = 0;
	result =
	    fifo ? open_fifo(text, &control->command_fd) : take_number(text, &control->command_fd);
	control->close_command = fifo;
	if (!result && answer) {
		result = fifo ? open_fifo(answer, &control->answer_fd)
			      : take_number(answer, &control->answer_fd);
		control->close_answer = fifo;
	}
	if (!result && fd)
		fcntl(control->command_fd, F_SETFL,
		      fcntl(control->command_fd, F_GETFL) | O_NONBLOCK);
	if (result)
		cli_say("stat", "--control: '%s': %s", control->command_fd < 0 ? text : answer,
			strerror(-result));
	free(text);
	if (result)
		stat_control_close(control);
	return result ? CLI_USAGE : CLI_OK;
}

void stat_control_close(struct stat_control *control)
{
	if (control->close_command && control->command_fd >= 0)
		close(control->command_fd);
	if (control->close_answer && control->answer_fd >= 0)
		close(control->answer_fd);
	control->command_fd = control->answer_fd = -1;
}

static enum stat_order order_of(struct stat_control *control)
{
	static const struct {
		const char *word;
		enum stat_order order;
	} words[] = {
	    {"enable", STAT_ORDER_ENABLE},
	    {"disable", STAT_ORDER_DISABLE},
	    {"stop", STAT_ORDER_STOP},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(control->line, words[i].word))
			return words[i].order;
	if (!strcmp(control->line, "ping"))
		stat_control_answer(control);
	else if (control->length)
		cli_say("stat",
			"--control: unknown order '%s'; valid are enable, disable, ping and stop",
			control->line);
	return STAT_ORDER_NONE;
}

enum stat_order stat_control_next(struct stat_control *control)
{
	char byte;

	for (;;) {
		ssize_t got = read(control->command_fd, &byte, 1);
		enum stat_order order;

		if (got < 0)
			return STAT_ORDER_NONE;
		if (!got) { /* the other side has closed it */
			if (control->close_command)
				close(control->command_fd);
			control->command_fd = -1;
			return STAT_ORDER_NONE;
		}
		if (byte && byte != '\n') {
			if (control->length < sizeof(control->line) - 1)
				control->line[control->length++] = byte;
			continue;
		}
		control->line[control->length] = 0;
		order = order_of(control);
		control->length = 0;
		if (order)
			return order;
	}
}

void stat_control_answer(struct stat_control *control)
{
	/* When nobody reads the answers, they are dropped. */
	if (control->answer_fd >= 0 && write(control->answer_fd, "ack\n", 5) < 0 && errno == EPIPE)
		control->answer_fd = -1;
}
