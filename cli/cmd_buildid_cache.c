/* `tally buildid-cache`: adds binaries to the build-id cache, removes and lists them. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tally/build_id_cache.h>
#include <tally/data.h>
#include <tally/text.h>
#include "build_id_folder.h"
#include "command.h"
#include "options.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

#define NAME "buildid-cache"

struct cache {
	struct cli_list add, remove, purge, update;
	const char *missing, *folder;
	char usual_folder[4096]; /* from a configuration file */
	bool list, purge_all, force;
	uint64_t max_expand;
	unsigned verbose;
	struct tally_build_id_cache_options options;
};

static int print_entry(void *context, const struct tally_build_id_cache_entry *entry)
{
	char path[4096];

	(void)context;
	tally_text_escape(entry->path, path, sizeof(path));
	printf("%s %s\n", entry->id, path);
	return 0;
}

static int add(const struct cache *cache, const char *file)
{
	struct tally_error error;
	int result = tally_build_id_cache_add(&cache->options, file, &error);

	if (result < 0)
		return cli_say_error(NAME, &error);
	if (cache->verbose)
		cli_say(NAME, "%s: %s", file, result ? "added" : "was there");
	return CLI_OK;
}

static int take_away(const struct cache *cache, const char *file,
		     enum tally_build_id_cache_which which)
{
	struct tally_error error;
	int result = tally_build_id_cache_remove(&cache->options, file, which, &error);

	if (result < 0)
		return cli_say_error(NAME, &error);
	if (cache->verbose)
		cli_say(NAME, "%s%s%d removed", file ? file : "", file ? ": " : "", result);
	return CLI_OK;
}

static int update(const struct cache *cache, const char *file)
{
	int status = take_away(cache, file, TALLY_BUILD_ID_CACHE_THIS);

	return status ? status : add(cache, file);
}

static int purge(const struct cache *cache, const char *file)
{
	return take_away(cache, file, TALLY_BUILD_ID_CACHE_PATH);
}

static int remove_this(const struct cache *cache, const char *file)
{
	return take_away(cache, file, TALLY_BUILD_ID_CACHE_THIS);
}

/* All of a list, also when one fails. */
static void each(const struct cache *cache, const struct cli_list *files, int *status,
		 int (*act)(const struct cache *cache, const char *file))
{
	for (size_t i = 0; i < files->count; i++) {
		int one = act(cache, files->items[i]);

		*status = *status ? *status : one;
	}
}

static int show_missing(const struct cache *cache)
{
	struct tally_data *data;
	struct tally_error error;
	int result;

	if (cli_data_open(cache->missing, cache->max_expand, &data, &error))
		return cli_say_error(NAME, &error);
	result = tally_build_id_cache_missing(data, &cache->options, print_entry, NULL, &error);
	tally_data_close(data);
	return result ? cli_say_error(NAME, &error) : CLI_OK;
}

static int run(struct cache *cache)
{
	struct tally_error error;
	int status = CLI_OK;

	cache->options = (struct tally_build_id_cache_options){
	    .size = sizeof(cache->options),
	    .folder = cli_build_id_folder(cache->folder, cache->usual_folder),
	    /* a file that was named is copied, whatever its size */
	    .file_most = UINT64_MAX,
	    .cache_most = UINT64_MAX,
	};
	if (cache->purge_all)
		status = take_away(cache, NULL, TALLY_BUILD_ID_CACHE_ALL);
	each(cache, &cache->add, &status, add);
	each(cache, &cache->remove, &status, remove_this);
	each(cache, &cache->purge, &status, purge);
	each(cache, &cache->update, &status, update);
	if (cache->list &&
	    tally_build_id_cache_list(&cache->options, print_entry, NULL, &error) < 0)
		status = cli_say_error(NAME, &error);
	if (cache->missing) {
		int missing = show_missing(cache);

		status = status ? status : missing;
	}
	return status;
}

/* Tally does not read a kcore, so a copy would be useless. */
static int refuse_kcore(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "the cache does not keep kernel code; `tally record` copies "
				      "the kernel's symbols")
		  : 0;
}

const struct cli_setting cmd_buildid_cache_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct cache, usual_folder),
     .room = sizeof(((struct cache *)0)->usual_folder)},
    {.key = NULL},
};

int cmd_buildid_cache(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Adds copies of binaries to the build-id cache, removes them and lists them. "
		     "Reports read names from a copy when the binary has changed.",
	};
	struct cache cache = {.missing = NULL};
	const struct cli_option options[] = {
	    {CLI_LIST, 'a', "add", "FILES", "add copies of these binaries", .to = &cache.add},
	    {CLI_LIST, 'u', "update", "FILES", "copy these again, whether or not there is a copy",
	     .to = &cache.update},
	    {CLI_LIST, 'r', "remove", "FILES", "remove the copies of the current versions of these",
	     .to = &cache.remove},
	    {CLI_LIST, 'p', "purge", "FILES", "remove all copies of these, also of older builds",
	     .to = &cache.purge},
	    {CLI_FLAG, 'P', "purge-all", NULL, "remove all copies", .to = &cache.purge_all},
	    {CLI_FLAG, 'l', "list", NULL, "list build-ids and paths of the copies",
	     .to = &cache.list},
	    {CLI_STRING, 'M', "missing", "FILE",
	     "list the build-ids of this recording that have no copy", .to = &cache.missing},
	    CLI_MAX_EXPAND(cache.max_expand),
	    {CLI_STRING, 0, "buildid-dir", "DIR", "the cache (default: ~/.debug)",
	     .to = &cache.folder},
	    {CLI_COUNT, 'v', "verbose", NULL, "print what is done with each file",
	     .to = &cache.verbose},
	    {CLI_CALL, 'k', "kcore", "FILE", "", .flags = CLI_HIDDEN, .call = refuse_kcore},
	    /* accepted because perf has it; there is nothing to force */
	    {CLI_FLAG, 'f', "force", NULL, "", .to = &cache.force, .flags = CLI_HIDDEN},
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_buildid_cache_settings, &cache);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0 && at < argc)
		status = cli_usage_error(
		    &usage, "unexpected argument '%s': give files to -a, -r, -p or -u", argv[at]);
	else if (at >= 0 && !cache.add.count && !cache.update.count && !cache.remove.count &&
		 !cache.purge.count && !cache.purge_all && !cache.list && !cache.missing)
		status = cli_usage_error(&usage, "nothing to do: -l lists, -a adds");
	else if (at >= 0)
		status = run(&cache);
	cli_list_done(&cache.add);
	cli_list_done(&cache.remove);
	cli_list_done(&cache.purge);
	cli_list_done(&cache.update);
	return status;
}
