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

#define NAME     "buildid-list"
#define ID_WIDTH 40 /* most ids are SHA-1 */

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

static int print_id(void *context, const struct tally_build_id_cache_entry *entry)
{
	char path[4096];

	(void)context;
	tally_text_escape(entry->path, path, sizeof(path));
	printf("%*s %s\n", ID_WIDTH, entry->id, path);
	return 0;
}

/* A binary of which an earlier entry has the same: perf lists it once, too. */
static bool is_again(const struct tally_data_info *info, size_t index)
{
	const struct tally_data_build_id *build_id = &info->build_ids[index];

	for (size_t i = 0; i < index; i++)
		if (info->build_ids[i].filename &&
		    !strcmp(info->build_ids[i].filename, build_id->filename) &&
		    info->build_ids[i].size == build_id->size &&
		    !memcmp(info->build_ids[i].id, build_id->id, build_id->size))
			return true;
	return false;
}

static void show_table(const struct tally_data_info *info)
{
	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct tally_data_build_id *build_id = &info->build_ids[i];
		char id[2 * sizeof(build_id->id) + 1] = "";
		const struct tally_build_id_cache_entry entry = {.id = id,
								 .path = build_id->filename};

		if (!build_id->filename || is_again(info, i))
			continue;
		for (unsigned at = 0; at < build_id->size; at++)
			snprintf(id + 2 * (size_t)at, 3, "%02x", build_id->id[at]);
		print_id(NULL, &entry);
	}
}

static int show_sampled(struct tally_data *data)
{
	const struct tally_session_options options = {.size = sizeof(options)};
	struct tally_session *session = NULL;
	struct tally_error error;
	int result = tally_session_new(data, &options, &session, &error);

	if (!result)
		result = tally_build_id_sampled(session, print_id, NULL, &error);
	tally_session_free(session);
	return result ? cli_say_error(NAME, &error) : CLI_OK;
}

/* As perf: of a recording without a table, those with samples; of one with traces all, as only a
 * decoder knows which code they lead through. */
static int show_data(const struct list *list, struct tally_data *data)
{
	const struct tally_data_info *info = tally_data_info(data);

	if (!info->build_id_count || (list->hits && !info->aux_part_count))
		return show_sampled(data);
	show_table(info);
	return CLI_OK;
}

static int show_recording(const struct list *list)
{
	struct tally_data *data;
	struct tally_error error;
	int status;

	if (cli_data_open(list->input, list->max_expand, &data, &error))
		return cli_say_error(NAME, &error);
	status = show_data(list, data);
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
