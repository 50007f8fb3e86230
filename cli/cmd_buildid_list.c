/* `tally buildid-list`: the build-ids of a recording, of a file, of the running kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/build_id_cache.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/session.h>
#include <tally/text.h>
#include "command.h"
#include "options.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

#define NAME "buildid-list"

struct list {
	const char *input;
	uint64_t max_expand;
	bool kernel, maps, hits, force;
	unsigned verbose;
};

static int print_loaded(void *context, const struct tally_build_id_loaded *loaded)
{
	const struct list *list = context;

	if (list->maps)
		printf("%s %16" PRIx64 " %16" PRIx64 " %s\n", loaded->id, loaded->start,
		       loaded->end, loaded->name);
	else
		printf("%s\n", loaded->id);
	return 0;
}

static void print_id(const struct tally_data_build_id *build_id)
{
	char path[4096];

	for (unsigned i = 0; i < build_id->size; i++)
		printf("%02x", build_id->id[i]);
	tally_text_escape(build_id->filename, path, sizeof(path));
	printf(" %s\n", path);
}

/* The build-ids of the recording's table; with `hits` only of binaries that have samples. */
static int show_table(const struct list *list, struct tally_data *data)
{
	const struct tally_session_options options = {.size = sizeof(options)};
	const struct tally_data_info *info = tally_data_info(data);
	bool *hits = calloc(info->build_id_count + 1, sizeof(*hits));
	struct tally_session *session = NULL;
	struct tally_error error = {.text = "out of memory"};
	int result = hits ? 0 : -ENOMEM;

	if (!result && list->hits)
		result = tally_session_new(data, &options, &session, &error);
	if (!result && list->hits)
		result = tally_build_id_hits(session, hits, &error);
	for (size_t i = 0; !result && i < info->build_id_count; i++)
		if (info->build_ids[i].filename && (!list->hits || hits[i]))
			print_id(&info->build_ids[i]);
	tally_session_free(session);
	free(hits);
	return result ? cli_say_error(NAME, &error) : CLI_OK;
}

static int show_recording(const struct list *list)
{
	struct tally_data *data;
	struct tally_error error;
	int status;

	if (cli_data_open(list->input, list->max_expand, &data, &error))
		return cli_say_error(NAME, &error);
	status = show_table(list, data);
	tally_data_close(data);
	return status;
}

static int run(const struct list *list)
{
	struct list shown = *list;
	struct tally_error error;
	char id[41];

	if (list->kernel || list->maps)
		return tally_build_id_running(NULL, list->maps, print_loaded, &shown, &error)
			   ? cli_say_error(NAME, &error)
			   : CLI_OK;
	/* a binary: print its own build-id */
	if (strcmp(list->input, "-") != 0 && !tally_build_id_of_file(list->input, id)) {
		printf("%s\n", id);
		return CLI_OK;
	}
	return show_recording(list);
}

int cmd_buildid_list(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] FILE", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Lists the build-ids of a recording, each with the path of its binary; or the "
		     "build-id of a binary.",
	    .mixed = true,
	};
	struct list list = {.input = NULL};
	const struct cli_option options[] = {
	    {CLI_STRING, 'i', "input", "FILE",
	     "the recording, - for standard input, or a binary (default: perf.data)",
	     .to = &list.input},
	    {CLI_FLAG, 'H', "with-hits", NULL, "only binaries that have samples", .to = &list.hits},
	    {CLI_FLAG, 'k', "kernel", NULL, "the running kernel's", .to = &list.kernel},
	    {CLI_FLAG, 'm', "kernel-maps", NULL,
	     "those of the running kernel and its modules, with addresses", .to = &list.maps},
	    CLI_MAX_EXPAND(list.max_expand),
	    {CLI_FLAG, 'f', "force", NULL, "", .to = &list.force, .flags = CLI_HIDDEN},
	    {CLI_COUNT, 'v', "verbose", NULL, "", .to = &list.verbose, .flags = CLI_HIDDEN},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	status = cli_recording_take(&usage, argc, argv, at, &list.input);
	return status ? status : run(&list);
}
