/* `tally inject`: reads a recording and writes it again, with build-ids and code made at run time
 * added. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/repair.h>
#include <tally/session.h>
#include <unistd.h>
#include "command.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "recording.h"
#include "say.h"

struct inject {
	const char *input, *output;
	const char *jit_dir;
	bool build_ids, jit, force;
	uint64_t max_expand;
	unsigned verbose;
};

static int write_out(struct tally_data *data, const struct inject *inject,
		     struct tally_repair_options *options)
{
	struct tally_repair_result result = {.size = sizeof(result)};
	struct tally_error error = {0};
	sigset_t before;
	int code;

	cli_interrupt_hold(&before); /* Ctrl-C removes the incomplete file */
	code = tally_data_repair(data, inject->output, options, &result, &error);
	cli_interrupt_release(&before);
	if (code == -EPIPE)
		return CLI_OK; /* the reader of the pipe has ended */
	if (code)
		return cli_say_error("inject", &error);
	if (result.untrusted)
		cli_say("inject", "%llu invalid records were left out, the first at offset %llu",
			(unsigned long long)result.untrusted,
			(unsigned long long)result.first_untrusted_at);
	if (inject->verbose)
		cli_say("inject", "%llu records, %zu build-ids added",
			(unsigned long long)result.records, options->build_id_count);
	return CLI_OK;
}

/* Files for what was compiled at run time, and where they are mapped. */
static int add_jit(const struct inject *inject, struct tally_data *data,
		   struct tally_jit_files *files, struct tally_error *error)
{
	const struct tally_session_options options = {.size = sizeof(options)};
	struct tally_session *session = NULL;
	int code = tally_session_new(data, &options, &session, error);

	if (!code)
		code = tally_session_jit_files(session, inject->jit_dir, files, error);
	tally_session_free(session);
	if (!code && !files->dumps)
		cli_say("inject", "no process of the recording has a dump of code made at run time "
				  "(jit-PID.dump) that can be read");
	else if (!code && inject->verbose)
		cli_say("inject", "%zu functions of %zu dumps", files->files, files->dumps);
	return code;
}

static int run(const struct inject *inject)
{
	struct tally_repair_options options = {.size = sizeof(options), .keep_unknown = true};
	struct tally_jit_files files = {.size = sizeof(files)};
	struct tally_data_build_id *ids = NULL;
	struct tally_error error = {0};
	struct tally_data *data = NULL;
	int status;

	if (cli_data_open(inject->input, inject->max_expand, &data, &error))
		return cli_say_error("inject", &error);
	if (inject->build_ids &&
	    tally_data_mapped_build_ids(data, &ids, &options.build_id_count, &error)) {
		status = cli_say_error("inject", &error);
	} else if (inject->jit && add_jit(inject, data, &files, &error)) {
		status = cli_say_error("inject", &error);
	} else {
		options.build_ids = ids;
		options.records = files.records;
		options.records_size = files.records_size;
		options.left_out = files.left_out;
		options.left_out_count = files.left_out_count;
		status = write_out(data, inject, &options);
	}
	tally_jit_files_free(&files);
	tally_data_build_ids_free(ids, options.build_id_count);
	tally_data_close(data);
	return status;
}

int cmd_inject(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", NULL};
	const struct cli_usage usage = {
	    .command = "inject",
	    .forms = forms,
	    .about = "Reads a recording and writes it again, to a file or as a stream. Compressed "
		     "records and directories become plain records. With -b the build-ids of "
		     "mapped binaries are added, with --jit code made at run time.",
	    .mixed = true,
	};
	struct inject inject = {.input = "-", .output = "-"};
	const struct cli_option options[] = {
	    {CLI_STRING, 'i', "input", "FILE",
	     "the recording: a file, a directory (default: -, standard input)",
	     .to = &inject.input},
	    {CLI_STRING, 'o', "output", "FILE",
	     "the new recording (default: -, a stream to standard output)", .to = &inject.output},
	    {CLI_FLAG, 'b', "build-ids", NULL,
	     "add missing build-ids of mapped binaries, from the files of this machine",
	     .to = &inject.build_ids},
	    {CLI_FLAG, 'j', "jit", NULL,
	     "write the functions of dumps of code made at run time (jit-PID.dump) to ELF files, "
	     "jitted-PID-NUMBER.so, and add records that map them",
	     .to = &inject.jit},
	    {CLI_STRING, 0, "jit-dir", "DIR",
	     "write these files to this folder (default: that of the dump)", .to = &inject.jit_dir},
	    CLI_MAX_EXPAND(inject.max_expand),
	    {CLI_FLAG, 0, "buildid-all", NULL, "", .to = &inject.build_ids, .flags = CLI_HIDDEN},
	    {CLI_FLAG, 'f', "force", NULL, "", .to = &inject.force, .flags = CLI_HIDDEN},
	    {CLI_COUNT, 'v', "verbose", NULL, "print how much was written", .to = &inject.verbose},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	status = cli_recording_take(&usage, argc, argv, at, &inject.input);
	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN);
	return run(&inject);
}
