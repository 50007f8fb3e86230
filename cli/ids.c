#include "ids.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/descendants.h>
#include <tally/text.h>
#include "command.h"
#include "say.h"

/* "4058 4057" and "nginx", as `pidof nginx` prints them, and as people type them. */
static int refuse(const char *command, const char *text, const char *what)
{
	bool numbers = *text != 0;

	for (const char *at = text; *at; at++)
		numbers &= isdigit((unsigned char)*at) || isspace((unsigned char)*at);
	if (numbers && strpbrk(text, " \t\n"))
		cli_say(command,
			"'%s' is not a %s id: separate several by commas, as `pgrep -d, NAME` does",
			text, what);
	else if (isalpha((unsigned char)*text) && !strcmp(what, "process"))
		cli_say(command,
			"'%s' is not a process id: `pgrep -d, %s` prints the ids of a name, with "
			"commas",
			text, text);
	else
		cli_say(command, "'%s' is not a %s id", text, what);
	return CLI_USAGE;
}

int cli_parse_ids(const char *command, const struct cli_list *list, const char *what, pid_t **ret)
{
	pid_t *ids = calloc(list->count + 1, sizeof(*ids));

	if (!ids) {
		cli_say(command, "out of memory");
		return CLI_FAILED;
	}
	*ret = ids;
	for (size_t i = 0; i < list->count; i++) {
		uint64_t id;

		if (tally_text_u64(list->items[i], &id) || !id || id > INT_MAX)
			return refuse(command, list->items[i], what);
		ids[i] = (pid_t)id;
	}
	return CLI_OK;
}

int cli_ids_check_words(const struct cli_usage *usage, const char *option,
			const struct cli_list *list, int argc, char **argv, int at)
{
	char all[256];
	size_t length = 0;

	if (!list->count || at >= argc || !strcmp(argv[at - 1], "--"))
		return CLI_OK;
	for (size_t i = 0; i < list->count && length < sizeof(all); i++)
		length +=
		    (size_t)snprintf(all + length, sizeof(all) - length, "%s,", list->items[i]);
	for (int i = at; i < argc; i++) {
		if (!*argv[i] || argv[i][strspn(argv[i], "0123456789")])
			return CLI_OK; /* a command */
		if (length < sizeof(all))
			length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s",
						   argv[i], i + 1 < argc ? "," : "");
	}
	return cli_usage_error(usage,
			       "'%s' is a number, not a command: give several ids to one %s, "
			       "separated by commas: %s %s",
			       argv[at], option, option,
			       length < sizeof(all) ? all : "\"$(pgrep -d, NAME)\"");
}

void cli_ids_report_children(const pid_t *pids, size_t count, const char *verb)
{
	pid_t *below = NULL;
	size_t number = 0;
	char list[128] = "";

	if (!count || tally_descendants(NULL, pids, count, &below, &number) || !number)
		return;
	free(below);
	for (size_t i = 0, length = 0; i < count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%d",
					   i ? "," : "", pids[i]);
	cli_say(NULL,
		"%zu process%s below %s run%s already and %s not %s: --children-of %s includes %s",
		number, number == 1 ? "" : "es", count == 1 ? list : "these",
		number == 1 ? "s" : "", number == 1 ? "is" : "are", verb,
		strlen(list) + 12 < sizeof(list) ? list : "PID,...", number == 1 ? "it" : "them");
}
