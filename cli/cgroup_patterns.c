#include "cgroup_patterns.h"

#include <stdlib.h>
#include <string.h>
#include <tally/cgroup.h>
#include "command.h"
#include "say.h"

static int add(struct cli_list *list, char *name)
{
	char **more = reallocarray(list->items, list->count + 1, sizeof(*more));

	if (!more || !name) {
		list->items = more ? more : list->items;
		free(name);
		return CLI_FAILED;
	}
	more[list->count] = name;
	list->items = more;
	list->count++;
	return CLI_OK;
}

static int add_matches(struct cli_list *list, const char *command, const char *pattern)
{
	struct tally_error error;
	int status = CLI_OK;
	char **names;
	size_t count;

	if (tally_cgroups_match(NULL, pattern, &names, &count, &error)) {
		cli_say_error(command, &error);
		return CLI_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		if (!status)
			status = add(list, names[i]);
		else
			free(names[i]);
	}
	free(names);
	return status;
}

int cli_cgroups_expand(const char *command, struct cli_list *list)
{
	struct cli_list expanded = {0};
	int status = CLI_OK;

	for (size_t i = 0; i < list->count && !status; i++)
		status = tally_cgroup_is_pattern(list->items[i])
			     ? add_matches(&expanded, command, list->items[i])
			     : add(&expanded, strdup(list->items[i]));
	cli_list_done(list);
	*list = expanded;
	return status;
}
