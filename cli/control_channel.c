/* Source of the words: perf-record(1) and perf-stat(1), --control. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <unistd.h>
#include "command.h"
#include "control_channel.h"
#include "say.h"

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

static int refuse_channel(const struct cli_usage *usage, const char *text)
{
	static const char *const kinds[] = {"fd", "fifo", NULL};
	size_t length = strcspn(text, ":");
	struct tally_error error;

	if (!text[length])
		return cli_usage_error(
		    usage, "--control: expected fd:N[,M] or fifo:PATH[,PATH], not '%s'", text);
	cli_refuse_listed(&error, text, length, "channel", kinds);
	return cli_usage_error(usage, "--control: %s", error.text);
}

int cli_control_open(struct cli_control *control, const struct cli_usage *usage, const char *text,
		     unsigned orders)
{
	bool fifo = text && !strncmp(text, "fifo:", 5);
	bool fd = text && !strncmp(text, "fd:", 3);
	char *first, *answer;
	int result;

	*control = (struct cli_control){
	    .usage = usage, .orders = orders, .command_fd = -1, .answer_fd = -1};
	if (!text)
		return CLI_OK;
	if (!fifo && !fd)
		return refuse_channel(usage, text);
	first = strdup(text + (fifo ? 5 : 3));
	if (!first) {
		cli_say(usage->command, "out of memory");
		return CLI_FAILED;
	}
	answer = strchr(first, ',');
	if (answer)
		*answer++ = 0;
	result = fifo ? open_fifo(first, &control->command_fd)
		      : take_number(first, &control->command_fd);
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
		cli_say(usage->command, "--control: '%s': %s",
			control->command_fd < 0 ? first : answer, strerror(-result));
	free(first);
	if (result)
		cli_control_close(control);
	return result ? CLI_USAGE : CLI_OK;
}

void cli_control_close(struct cli_control *control)
{
	if (control->close_command && control->command_fd >= 0)
		close(control->command_fd);
	if (control->close_answer && control->answer_fd >= 0)
		close(control->answer_fd);
	control->command_fd = control->answer_fd = -1;
}

static const struct {
	const char *word;
	enum cli_order order;
} words[] = {
    {"enable", CLI_ORDER_ENABLE}, {"disable", CLI_ORDER_DISABLE},   {"stop", CLI_ORDER_STOP},
    {"evlist", CLI_ORDER_EVLIST}, {"snapshot", CLI_ORDER_SNAPSHOT},
};

#define WORDS (sizeof(words) / sizeof(*words))

static void refuse(const struct cli_control *control)
{
	const char *valid[WORDS + 2];
	struct tally_error error;
	size_t count = 0;

	for (size_t i = 0; i < WORDS; i++)
		if (control->orders & words[i].order)
			valid[count++] = words[i].word;
	valid[count++] = "ping";
	valid[count] = NULL;
	cli_refuse_listed(&error, control->line, strlen(control->line), "order", valid);
	cli_say(control->usage->command, "--control: %s", error.text);
}

static enum cli_order order_of(struct cli_control *control)
{
	size_t length = strcspn(control->line, " ");

	control->rest = control->line + length + strspn(control->line + length, " ");
	for (size_t i = 0; i < WORDS; i++)
		if (control->orders & words[i].order && strlen(words[i].word) == length &&
		    !strncmp(control->line, words[i].word, length))
			return words[i].order;
	if (!strcmp(control->line, "ping"))
		cli_control_answer(control);
	else if (control->length)
		refuse(control);
	return CLI_ORDER_NONE;
}

enum cli_order cli_control_next(struct cli_control *control)
{
	char byte;

	for (;;) {
		ssize_t got = read(control->command_fd, &byte, 1);
		enum cli_order order;

		if (got < 0)
			return CLI_ORDER_NONE;
		if (!got) { /* the other side has closed it */
			if (control->close_command)
				close(control->command_fd);
			control->command_fd = -1;
			return CLI_ORDER_NONE;
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

static void refuse_event(const struct cli_control *control, const struct cli_control_events *events)
{
	struct tally_error error;
	const char **names;
	size_t count = 0;

	while (events->name(events->context, count))
		count++;
	names = calloc(count + 1, sizeof(*names));
	if (!names)
		return;
	for (size_t i = 0; i < count; i++)
		names[i] = events->name(events->context, i);
	cli_refuse_listed(&error, control->rest, strlen(control->rest), "event", names);
	cli_say(control->usage->command, "--control: %s", error.text);
	free(names);
}

bool cli_control_one_event(const struct cli_control *control, enum cli_order order,
			   const struct cli_control_events *events)
{
	const char *name;
	bool known = false;

	if (!*control->rest)
		return false;
	for (size_t i = 0; (name = events->name(events->context, i)); i++) {
		int result;

		if (strcmp(name, control->rest) != 0)
			continue;
		known = true;
		result = events->enable(events->context, i, order == CLI_ORDER_ENABLE);
		if (result)
			cli_say(control->usage->command, "--control: %s: %s", name,
				result == -EBADF ? "it is open nowhere" : strerror(-result));
	}
	if (!known)
		refuse_event(control, events);
	return true;
}

void cli_control_answer(struct cli_control *control)
{
	/* When nobody reads the answers, they are dropped. */
	if (control->answer_fd >= 0 && write(control->answer_fd, "ack\n", 5) < 0 && errno == EPIPE)
		control->answer_fd = -1;
}
