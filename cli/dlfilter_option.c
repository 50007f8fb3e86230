#include "dlfilter_option.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "dlfilter_guard.h"
#include "say.h"

static struct cli_dlfilter_choice *add(struct cli_dlfilters *filters)
{
	struct cli_dlfilter_choice *choices =
	    reallocarray(filters->choices, filters->count + 1, sizeof(*choices));

	if (!choices)
		return NULL;
	filters->choices = choices;
	choices[filters->count] = (struct cli_dlfilter_choice){0};
	return &choices[filters->count++];
}

static void forget(struct cli_dlfilters *filters)
{
	for (size_t i = 0; i < filters->count; i++)
		cli_list_done(&filters->choices[i].args);
	free(filters->choices);
	filters->choices = NULL;
	filters->count = 0;
}

static int no_memory(struct tally_error *error)
{
	snprintf(error->text, sizeof(error->text), "out of memory");
	return -ENOMEM;
}

int cli_dlfilters_take(void *to, const char *value, bool on, struct tally_error *error)
{
	struct cli_dlfilters *filters = to;
	struct cli_dlfilter_choice *choice;

	if (!on) {
		forget(filters);
		return 0;
	}
	/* Arguments before the first filter belong to the first filter. */
	choice = filters->count == 1 && !filters->choices[0].name ? filters->choices : add(filters);
	if (!choice)
		return no_memory(error);
	choice->name = value;
	return 0;
}

int cli_dlfilters_take_arg(void *to, const char *value, bool on, struct tally_error *error)
{
	struct cli_dlfilters *filters = to;
	struct cli_dlfilter_choice *choice =
	    filters->count ? &filters->choices[filters->count - 1] : add(filters);
	char **items;

	if (!choice)
		return no_memory(error);
	if (!on) {
		cli_list_done(&choice->args);
		return 0;
	}
	items = reallocarray(choice->args.items, choice->args.count + 1, sizeof(*items));
	if (!items)
		return no_memory(error);
	choice->args.items = items;
	items[choice->args.count] = strdup(value);
	if (!items[choice->args.count])
		return no_memory(error);
	choice->args.count++;
	return 0;
}

int cli_dlfilters_take_list(void *to, const char *value, bool on, struct tally_error *error)
{
	struct cli_dlfilters *filters = to;

	(void)value, (void)error;
	filters->list = on;
	filters->list_verbose = filters->verbose;
	return 0;
}

/* Prints the lines of the longer description. */
static void print_more(const char *text)
{
	while (text) {
		size_t length = strcspn(text, "\n");

		printf("%39s%.*s\n", "", (int)length, text);
		text = text[length] ? text + length + 1 : NULL;
	}
}

static void list_folder(const char *folder, bool verbose)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);
		char *path, *brief, *more;

		if (entry->d_type == DT_DIR || length < 4 ||
		    strcmp(entry->d_name + length - 3, ".so") != 0 ||
		    asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			continue;
		if (!tally_dlfilter_describe(path, &brief, &more)) {
			printf("  %-36s %s\n", entry->d_name, brief ? brief : "");
			if (verbose)
				print_more(more);
			free(brief);
			free(more);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
}

void cli_dlfilters_list(const struct cli_dlfilters *filters)
{
	char *folder;

	puts("List of available dlfilters:");
	list_folder(".", filters->list_verbose);
	for (unsigned i = 0; (folder = tally_dlfilters_folder(i)); i++) {
		list_folder(folder, filters->list_verbose);
		free(folder);
	}
}

/* The status that perf has for everything that fails before a filter runs. */
#define STATUS_FAILED 255

int cli_dlfilters_load(const char *command, struct cli_dlfilters *filters)
{
	struct tally_error error = {0};

	filters->command = command;
	if (!filters->count)
		return CLI_OK;
	if (!filters->choices[0].name) {
		cli_say(command, "--dlarg is not used, as no filter is named; name one with "
				 "--dlfilter FILE");
		return CLI_OK;
	}
	if (tally_dlfilters_new(&filters->filters)) {
		cli_say(command, "out of memory");
		return STATUS_FAILED;
	}
	cli_dlfilter_guard_begin(command, filters->filters);
	for (size_t i = 0; i < filters->count; i++) {
		const struct cli_dlfilter_choice *choice = &filters->choices[i];

		if (tally_dlfilters_add(filters->filters, choice->name,
					(const char *const *)choice->args.items, choice->args.count,
					&error)) {
			cli_say_error(command, &error);
			return STATUS_FAILED;
		}
	}
	return CLI_OK;
}

int cli_dlfilters_start(struct cli_dlfilters *filters, struct tally_session *session,
			bool kernel_path)
{
	struct tally_dlfilter_end end = {.size = sizeof(end)};
	struct tally_error error = {0};

	if (!filters->filters ||
	    !tally_dlfilters_start(filters->filters, session, kernel_path, &error))
		return CLI_OK;
	tally_dlfilters_ended(filters->filters, &end);
	if (end.name)
		return STATUS_FAILED; /* reported after all filters are stopped */
	return cli_say_error(filters->command, &error);
}

int cli_dlfilters_stop(struct cli_dlfilters *filters, int status)
{
	struct tally_dlfilter_end end = {.size = sizeof(end)};

	if (!filters->filters)
		return status;
	tally_dlfilters_stop(filters->filters);
	tally_dlfilters_ended(filters->filters, &end);
	if (end.name) {
		cli_say(filters->command, "the filter '%s' stopped the command: %s returned %d",
			end.name, end.callback, end.value);
		status = end.value & 0xff;
	}
	return status;
}

void cli_dlfilters_done(struct cli_dlfilters *filters)
{
	cli_dlfilter_guard_end();
	tally_dlfilters_free(filters->filters);
	filters->filters = NULL;
	forget(filters);
}

bool cli_dlfilters_interrupted(void)
{
	return cli_dlfilter_guard_signal() != 0;
}
