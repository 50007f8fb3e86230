#include "cgroup_patterns.h"

#include <stdint.h>
#include <stdlib.h>
#include <tally/cgroup.h>
#include "command.h"
#include "say.h"

static int no_memory(const char *command)
{
	cli_say(command, "out of memory");
	return CLI_FAILED;
}

static int add_matches(struct cli_list *list, const char *command, const char *pattern)
{
	struct tally_error error;
	int result = 0;
	char **names;
	size_t count;

	if (tally_cgroups_match(NULL, pattern, &names, &count, &error)) {
		cli_say_error(command, &error);
		return CLI_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		if (!result)
			result = cli_list_add(list, names[i], SIZE_MAX);
		free(names[i]);
	}
	free(names);
	return result ? no_memory(command) : CLI_OK;
}

int cli_cgroups_expand(const char *command, struct cli_list *list)
{
	struct cli_list expanded = {0};
	int status = CLI_OK;

	for (size_t i = 0; i < list->count && !status; i++)
		if (tally_cgroup_is_pattern(list->items[i]))
			status = add_matches(&expanded, command, list->items[i]);
		else if (cli_list_add(&expanded, list->items[i], SIZE_MAX))
			status = no_memory(command);
	cli_list_done(list);
	*list = expanded;
	return status;
}
