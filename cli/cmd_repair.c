/* `tally repair`: writes a recording again, as a file that every perf can read. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tally/data.h>
#include <tally/record.h>
#include <tally/repair.h>
#include "command.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

/* A sentence that grows; it is cut when it is too long. */
struct sentence {
	char text[1024];
	size_t size;
};

static void add(struct sentence *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct sentence *to, const char *format, ...)
{
	size_t room = sizeof(to->text) - to->size;
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(to->text + to->size, room, format, args);
	va_end(args);
	if (size > 0)
		to->size += (size_t)size < room ? (size_t)size : room - 1;
}

static void add_type(struct sentence *to, uint32_t type)
{
	const char *name = tally_record_type_name(type);

	if (name)
		add(to, "%s", name);
	else
		add(to, "type %u", type);
}

static void add_dropped(struct sentence *to, const struct tally_repair_result *result)
{
	if (result->unknown) {
		add(to, "; %llu record%s of types that perf 6.1 does not know left out (first ",
		    (unsigned long long)result->unknown, result->unknown == 1 ? "" : "s");
		add_type(to, result->first_unknown_type);
		add(to, ")");
	}
	if (result->untrusted)
		add(to, "; %llu invalid record%s left out (first at offset %llu)",
		    (unsigned long long)result->untrusted, result->untrusted == 1 ? "" : "s",
		    (unsigned long long)result->first_untrusted_at);
	if (result->features_lost)
		add(to, "; %u feature section%s left out (first %u)", result->features_lost,
		    result->features_lost == 1 ? "" : "s", result->first_feature_lost);
}

static void report_result(const struct tally_data *data, const char *output,
			  const struct tally_repair_result *result)
{
	const struct tally_data_damage *damage = tally_data_damage(data);
	struct sentence line = {.size = 0};

	add(&line, "%llu records in %s, %llu of them samples, %u feature sections",
	    (unsigned long long)result->records, output, (unsigned long long)result->samples,
	    result->features);
	add_dropped(&line, result);
	if (damage->count)
		add(&line,
		    "; %s was damaged at %llu place%s, the first at offset %llu (%s): %llu bytes "
		    "could not be read",
		    tally_data_path(data), (unsigned long long)damage->count,
		    damage->count == 1 ? "" : "s", (unsigned long long)damage->first_at,
		    damage->text, (unsigned long long)damage->lost_bytes);
	else if (damage->no_end)
		add(&line, "; the end of %s is missing, nothing before it was lost",
		    tally_data_path(data));
	else if (!result->unknown && !result->untrusted && !result->features_lost)
		add(&line, "; nothing was lost");
	cli_say(NULL, "%s", line.text);
	if (result->attrs_cut)
		cli_say("repair",
			"fields of events that perf 6.1 does not know were cut off "
			"(--compat): the file does not show their newest attributes any more");
	else if (result->attr_size > 128)
		cli_say("repair",
			"its events have %u bytes, which perf before 6.3 cannot read: --compat "
			"cuts them",
			result->attr_size);
	if (result->formats_missing)
		cli_say("repair", "it has tracepoints without their formats, which perf refuses");
}

/* Ctrl-C removes the incomplete file. */
static int repair(struct tally_data *data, const char *output, struct tally_repair_options *options,
		  struct tally_repair_result *ret, struct tally_error *error)
{
	struct cli_progress progress;
	sigset_t before;
	int result;

	options->progress = cli_progress_update;
	options->progress_context = &progress;
	cli_progress_start(&progress, "Writing the recording");
	cli_interrupt_hold(&before);
	result = tally_data_repair(data, output, options, ret, error);
	cli_progress_done(&progress);
	cli_interrupt_release(&before);
	return result;
}

static int run(const char *input, const char *output, uint64_t max_expand,
	       struct tally_repair_options *options)
{
	struct tally_repair_result result = {.size = sizeof(result)};
	struct tally_error error = {0};
	struct tally_data *data = NULL;
	int status = CLI_OK;

	if (cli_data_open(input, max_expand, &data, &error) ||
	    repair(data, output, options, &result, &error))
		status = cli_say_error("repair", &error);
	else
		report_result(data, output, &result);
	if (data)
		tally_data_close(data);
	return status;
}

int cmd_repair(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] IN OUT", NULL};
	const struct cli_usage usage = {
	    .command = "repair",
	    .forms = forms,
	    .about = "Writes a recording again, as one regular file that perf can read. The "
		     "recording may be incomplete (a killed recorder, a full disk), damaged, a "
		     "stream, compressed, a directory, or of the other byte order.",
	    .mixed = true,
	};
	struct tally_repair_options wanted = {.size = sizeof(wanted)};
	uint64_t max_expand = 0;
	const struct cli_option options[] = {
	    {CLI_FLAG, 0, "compat", NULL,
	     "cut events to the attributes that perf 6.1 knows, even if newer attributes are lost",
	     .to = &wanted.compat},
	    {CLI_FLAG, 0, "keep-unknown", NULL,
	     "keep records of unknown types, at which perf 6.1 stops reading",
	     .to = &wanted.keep_unknown},
	    CLI_MAX_EXPAND(max_expand),
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (argc - at != 2)
		return cli_usage_error(
		    &usage, argc - at < 2 ? "give the recording, and the file to write"
					  : "give only one recording and one file to write");
	if (!strcmp(argv[at + 1], "-"))
		return cli_usage_error(&usage, "the output must be a regular file, not '-'; `tally "
					       "inject -i IN` writes a stream");
	return run(argv[at], argv[at + 1], max_expand, &wanted);
}
