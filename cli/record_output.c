/* Where `tally record` writes, and what it keeps beside the recording. */
#include <string.h>
#include <tally/text.h>
#include "record_options.h"
#include "recording.h"
#include "say.h"

static int take_level(void *to, const char *value, bool on, struct tally_error *error)
{
	uint64_t level = on;

	if (value && (tally_text_u64(value, &level) || !level || level > 22))
		return cli_refuse(error, "'%s' is not a level of zstd: give 1 to 22", value);
	*(uint64_t *)to = level;
	return 0;
}

/* What every recording has. */
static int take_nothing(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? 0 : cli_refuse(error, "it cannot be left out");
}

size_t record_output_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Output"},
	    {CLI_STRING, 'o', "output", "FILE",
	     "the recording; - is a stream to standard output (default: perf.data, or a stream "
	     "when standard output is a pipe)",
	     &record->output},
	    {CLI_CALL, 'z', "compression-level", "LEVEL",
	     "compress records with zstd, level 1 (default) to 22", &record->compress,
	     .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_level},
	    {CLI_FLAG, 'N', "no-buildid-cache", NULL,
	     "do not copy the sampled binaries to the build-id cache", &record->no_cache},
	    {CLI_FLAG, 'B', "no-buildid", NULL, "the same, and write no table of build-ids",
	     &record->no_build_ids},
	    {CLI_FLAG, 0, "buildid-mmap", NULL,
	     "build-ids in the records of maps, and neither copies nor a table",
	     &record->build_id_maps},
	    {CLI_FLAG, 0, "buildid-all", NULL, "also keep binaries without samples",
	     &record->all_binaries},
	    {CLI_STRING, 0, "buildid-dir", "DIR",
	     "where copies of binaries are kept (default: ~/.debug)", &record->build_id_folder},
	    {CLI_FLAG, 0, "kcore", NULL,
	     "make a folder, with copies of the kernel's code and symbols beside the recording",
	     &record->kernel_copy},
	    CLI_DEBUGINFOD(record->debuginfod),
	    {CLI_FLAG, 0, "no-buffering", NULL, "write each sample at once", &record->unbuffered},
	    {CLI_U64, 'r', "realtime", "PRIORITY",
	     "the recorder runs with this real-time priority (SCHED_FIFO), 1 to 99",
	     &record->realtime},
	    {CLI_CALL, 0, "timestamp-boundary", NULL,
	     "the times of the first and last sample in the header, where they always are", record,
	     CLI_BARE, take_nothing},
	    {CLI_FLAG, 0, "dry-run", NULL, "check the options and end", &record->dry_run},
	    {CLI_FLAG, 'q', "quiet", NULL, "print errors only", &record->quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print more", &record->verbose},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

bool record_output_take(struct record *record, struct tally_recorder_options *to)
{
	to->output = cli_recording_output(record->output);
	to->compress_level = (int)record->compress;
	if (record->build_id_maps)
		record->no_build_ids = record->no_cache = true;
	if (record->realtime > 99) {
		cli_say(record->command, "-r: a real-time priority is 1 to 99 (sched(7))");
		return false;
	}
	to->build_id_maps = record->build_id_maps;
	to->wake_each = record->unbuffered;
	to->realtime = (unsigned)record->realtime;
	to->no_build_ids = record->no_build_ids;
	to->kernel_copy = record->kernel_copy;
	to->verbose = record->verbose > 0;
	return true;
}
