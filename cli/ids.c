#include "ids.h"
#include <limits.h>
#include <stdlib.h>
#include <tally/text.h>
#include "command.h"
#include "say.h"

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

		if (tally_text_u64(list->items[i], &id) || !id || id > INT_MAX) {
			cli_say(command, "'%s' is no %s id", list->items[i], what);
			return CLI_USAGE;
		}
		ids[i] = (pid_t)id;
	}
	return CLI_OK;
}
