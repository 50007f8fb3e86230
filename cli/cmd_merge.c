/* `tally merge`: recordings of several runs or hosts become one file. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/merge.h>
#include "command.h"
#include "damage_notice.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

#define NAME         "merge"
#define OUTPUT_USUAL "merged.data"

struct merge {
	const char *output;
	struct cli_list names;
	enum tally_merge_times times;
	bool strict, quiet;
	uint64_t max_expand;
	const char **cmdline;
	size_t cmdline_count;
};

static const char *times_word(size_t index, const char **ret_help)
{
	static const struct {
		const char *name, *help;
	} words[] = {
	    [TALLY_MERGE_IN_TURN] = {"in-turn",
				     "each recording begins where the one before ends (default)"},
	    [TALLY_MERGE_SAME_CLOCK] = {"same-clock", "as they were recorded, by one clock"},
	};

	if (index >= sizeof(words) / sizeof(*words))
		return NULL;
	if (ret_help)
		*ret_help = words[index].help;
	return words[index].name;
}

static int take_times(void *to, const char *value, bool on, struct tally_error *error)
{
	const char *name;

	*(enum tally_merge_times *)to = TALLY_MERGE_IN_TURN;
	if (!on)
		return 0;
	for (size_t i = 0; (name = times_word(i, NULL)); i++)
		if (!strcmp(name, value)) {
			*(enum tally_merge_times *)to = (enum tally_merge_times)i;
			return 0;
		}
	return cli_refuse_word(error, value, strlen(value), "way to place times", times_word);
}

static void report(const struct merge *merge, const struct tally_merge_result *result)
{
	if (result->left_out)
		cli_say(NAME, "%llu records were left out: invalid, unknown, or too long",
			(unsigned long long)result->left_out);
	if (result->other_kernels)
		cli_say(
		    NAME,
		    "%zu of the recordings %s of another kernel than the first one: `tally` knows "
		    "each one's functions, perf knows one kernel and may name them wrongly",
		    result->other_kernels, result->other_kernels == 1 ? "is" : "are");
	if (result->other_formats)
		cli_say(
		    NAME,
		    "%zu tracepoint%s another format than one of the same name: they stay events "
		    "of their own",
		    result->other_formats, result->other_formats == 1 ? " has" : "s have");
	if (!merge->quiet)
		cli_say(NULL,
			"%zu recordings in %s: %zu event%s, %llu records, %llu of them samples",
			result->recordings, merge->output, result->events,
			result->events == 1 ? "" : "s", (unsigned long long)result->records,
			(unsigned long long)result->samples);
}

/* Ctrl-C removes the incomplete file. */
static int write_out(const struct merge *merge, struct tally_data *const *data, size_t count)
{
	struct cli_progress progress;
	const struct tally_merge_options options = {
	    .size = sizeof(options),
	    .times = merge->times,
	    .names = (const char *const *)merge->names.items,
	    .cmdline = merge->cmdline,
	    .cmdline_count = merge->cmdline_count,
	    .progress = cli_progress_update,
	    .progress_context = &progress,
	};
	struct tally_merge_result result = {.size = sizeof(result)};
	struct tally_error error = {0};
	sigset_t before;
	int code;

	cli_progress_start(&progress, "Merging the recordings");
	cli_interrupt_hold(&before);
	code = tally_data_merge(data, count, merge->output, &options, &result, &error);
	cli_progress_done(&progress);
	cli_interrupt_release(&before);
	if (code)
		return cli_say_error(NAME, &error);
	report(merge, &result);
	return CLI_OK;
}

/* For --strict: damage is known when all records were read. */
static int read_all(struct tally_data *data)
{
	struct tally_error error = {0};
	struct tally_record record;
	int more;

	while ((more = tally_data_next_record(data, &record, &error)) > 0)
		;
	if (more)
		return cli_say_error(NAME, &error);
	return cli_refuse_damage(NAME, data) ? CLI_FAILED : CLI_OK;
}

static int run(const struct merge *merge, char **paths, size_t count)
{
	struct tally_data **data = calloc(count, sizeof(struct tally_data *));
	struct tally_error error = {0};
	int status = data ? 0 : CLI_FAILED, damage = 0;

	if (!data)
		cli_say(NAME, "not enough memory");
	for (size_t i = 0; i < count && !status; i++) {
		if (cli_data_open(paths[i], merge->max_expand, &data[i], &error))
			status = cli_say_error(NAME, &error);
		else if (merge->strict)
			status = read_all(data[i]);
	}
	if (!status)
		status = write_out(merge, data, count);
	for (size_t i = 0; data && i < count; i++) {
		if (!data[i])
			continue;
		if (!status && cli_report_damage(NAME, data[i]))
			damage = CLI_FAILED;
		tally_data_close(data[i]);
	}
	free(data);
	return status ? status : damage;
}

static int take_cmdline(struct merge *merge, int argc, char **argv)
{
	merge->cmdline = calloc((size_t)argc + 1, sizeof(*merge->cmdline));
	if (!merge->cmdline) {
		cli_say(NAME, "not enough memory");
		return CLI_FAILED;
	}
	merge->cmdline[0] = "tally";
	for (int i = 0; i < argc; i++)
		merge->cmdline[i + 1] = argv[i];
	merge->cmdline_count = (size_t)argc + 1;
	return 0;
}

static int check(const struct cli_usage *usage, const struct merge *merge, int files)
{
	if (files < 2)
		return cli_usage_error(usage, "give two recordings or more");
	if (!strcmp(merge->output, "-"))
		return cli_usage_error(usage,
				       "the output must be a regular file, not '-'; `tally inject "
				       "-i FILE` writes a stream of it");
	if (merge->names.count && merge->names.count != (size_t)files)
		return cli_usage_error(usage, "--names has %zu names, and there are %d files",
				       merge->names.count, files);
	return 0;
}

int cmd_merge(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] FILE FILE...", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about =
		"Writes the recordings of several runs or hosts to one file, which perf reads, "
		"too. `tally report -s recording` shows which of them a sample is of.",
	    .mixed = true,
	};
	struct merge merge = {.output = OUTPUT_USUAL};
	const struct cli_option options[] = {
	    {CLI_STRING, 'o', "output", "FILE", "the file to write (default: " OUTPUT_USUAL ")",
	     .to = &merge.output},
	    {CLI_LIST, 0, "names", "NAMES",
	     "names of the recordings, one for each file (default: their paths)",
	     .to = &merge.names},
	    {CLI_CALL, 0, "times", "HOW", "what becomes of times: {}", .to = &merge.times,
	     .call = take_times, .word = times_word},
	    CLI_STRICT(merge.strict),
	    CLI_MAX_EXPAND(merge.max_expand),
	    {CLI_FLAG, 'q', "quiet", NULL, "do not print what was written", .to = &merge.quiet},
	    {.kind = CLI_END},
	};
	int status, at;

	/* Before parsing, which moves the files behind the options. */
	if (take_cmdline(&merge, argc, argv))
		return CLI_FAILED;
	at = cli_parse(&usage, options, argc, argv, &status);
	if (at >= 0)
		status = check(&usage, &merge, argc - at);
	if (at >= 0 && !status)
		status = run(&merge, argv + at, (size_t)(argc - at));
	cli_list_done(&merge.names);
	free(merge.cmdline);
	return status;
}
