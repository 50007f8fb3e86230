#include "filter_lists.h"

#include <stdlib.h>
#include <tally/text.h>
#include "command.h"
#include "say.h"

static int numbers(const struct cli_usage *usage, const char *option, const struct cli_list *list,
		   uint32_t **ret)
{
	*ret = calloc(list->count + 1, sizeof(**ret));
	if (!*ret) {
		cli_say(usage->command, "out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < list->count; i++) {
		uint64_t number;

		if (tally_text_u64(list->items[i], &number) || number > UINT32_MAX)
			return cli_usage_error(usage, "%s: '%s' is not a process or thread id",
					       option, list->items[i]);
		(*ret)[i] = (uint32_t)number;
	}
	return 0;
}

int cli_filter_numbers(const struct cli_usage *usage, struct cli_filter *filter)
{
	int status = numbers(usage, "--pid", &filter->pids, &filter->pid_numbers);

	return status ? status : numbers(usage, "--tid", &filter->tids, &filter->tid_numbers);
}

void cli_filter_done(struct cli_filter *filter)
{
	cli_list_done(&filter->comms);
	cli_list_done(&filter->dsos);
	cli_list_done(&filter->symbols);
	cli_list_done(&filter->pids);
	cli_list_done(&filter->tids);
	free(filter->pid_numbers);
	free(filter->tid_numbers);
	*filter = (struct cli_filter){0};
}
