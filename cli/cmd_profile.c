/* `tally profile`: one command from a program to a picture: records it, says what limits it, prints
 * what is hottest, and writes the page.  Its text goes to stderr: stdout is the recorded command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/data.h>
#include <tally/page.h>
#include <tally/profile.h>
#include <tally/session.h>
#include <tally/text.h>
#include <unistd.h>
#include "binaries.h"
#include "command.h"
#include "ending.h"
#include "options.h"
#include "profile_hottest.h"
#include "progress.h"
#include "record_options.h"
#include "recording.h"
#include "say.h"
#include "terminal.h"
#include "wrapped.h"

#define ARGUMENTS 24 /* of record's, at most, before the command's */

struct profile {
	const char *output, *page, *pids, *parents, *frequency, *call_graph;
	bool system_wide, open, quiet, no_off_cpu, no_source;
	struct cli_binaries binaries;
};

extern char **environ;

/* --- recording --- */

/* The command line for `tally record`.  For free(). */
static char **record_arguments(const struct profile *profile, int argc, char **argv, int at,
			       int *ret_count)
{
	char **list = calloc((size_t)(argc - at) + ARGUMENTS, sizeof(*list));
	int count = 0;

	if (!list)
		return NULL;
	list[count++] = "record";
	list[count++] = profile->call_graph ? "--call-graph" : "-g";
	if (profile->call_graph)
		list[count++] = (char *)profile->call_graph;
	list[count++] = "--switch-events";
	if (!profile->no_off_cpu)
		list[count++] = "--off-cpu";
	if (profile->quiet)
		list[count++] = "-q";
	list[count++] = "-o";
	list[count++] = (char *)profile->output;
	if (profile->frequency) {
		list[count++] = "-F";
		list[count++] = (char *)profile->frequency;
	}
	if (profile->system_wide)
		list[count++] = "-a";
	if (profile->pids) {
		list[count++] = "-p";
		list[count++] = (char *)profile->pids;
	}
	if (profile->parents) {
		list[count++] = "--children-of";
		list[count++] = (char *)profile->parents;
	}
	if (at < argc)
		list[count++] = "--";
	while (at < argc)
		list[count++] = argv[at++];
	*ret_count = count;
	return list;
}

/* The time of the file's last change; 0: there is none. */
static struct timespec changed(const char *path)
{
	struct stat facts;

	return stat(path, &facts) ? (struct timespec){0} : facts.st_mtim;
}

/* 0 if there is a new recording; *ret_status is that of the recorded command. */
static int record_it(const struct profile *profile, int argc, char **argv, int at, int *ret_status)
{
	struct timespec before = changed(profile->output), after;
	int count = 0;
	char **list = record_arguments(profile, argc, argv, at, &count);

	if (!list) {
		cli_say("profile", "not enough memory for the command line");
		*ret_status = CLI_FAILED;
		return -ENOMEM;
	}
	*ret_status = record_main("profile", count, list);
	free(list);
	/* The recording is complete: from here on a signal ends us. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	after = changed(profile->output);
	return after.tv_sec == before.tv_sec && after.tv_nsec == before.tv_nsec ? -ENOENT : 0;
}

/* --- the page --- */

/* Starts the desktop's program for pages, and does not wait for it. */
static void open_page(const char *path)
{
	char *arguments[] = {"xdg-open", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code)
		cli_say("profile", "cannot start xdg-open: %s; open %s in a browser",
			strerror(code), path);
}

/* Lines, each on a line of its own and as wide as the terminal. */
static void print_lines(const char *from, const char *to)
{
	unsigned width = cli_term_width_of(STDERR_FILENO);

	fputc('\n', stderr);
	while (from < to) {
		size_t length = strcspn(from, "\n");

		cli_put_wrapped(from, length, width, stderr);
		from += length + 1;
	}
}

static int show(const struct profile *profile, struct tally_session *session, const char *path,
		struct tally_error *error)
{
	struct tally_profile_options all = {.size = sizeof(all)};
	struct tally_page_options page = {.size = sizeof(page)};
	struct cli_profile_rows rows = {.count = 0};
	char *words = NULL, *lists = NULL;
	size_t size = 0, list_size = 0;
	uint64_t bytes = 0;
	int result = -ENOMEM;

	page.no_source = profile->no_source;
	page.words = open_memstream(&words, &size);
	page.row_context = &rows;
	page.row = cli_profile_put_row;
	rows.to = open_memstream(&lists, &list_size);
	if (page.words && rows.to)
		result = tally_page_write(session, &all, &page, path, &bytes, error);
	if (page.words)
		fclose(page.words);
	if (rows.to)
		fclose(rows.to);
	if (!result && !profile->quiet) {
		const char *notes = words + strcspn(words, "\n") + 1;

		print_lines(words, notes);
		fputs(lists, stderr);
		result = cli_profile_print_lines(session, error);
		if (*notes)
			print_lines(notes, words + size);
		if (!result)
			fputc('\n', stderr);
	}
	if (!result)
		fprintf(stderr, "%s (%.1f MB): open it in a browser\n", path, (double)bytes / 1e6);
	free(words);
	free(lists);
	return result;
}

static int analyse(struct profile *profile, const char *path)
{
	struct tally_session_options options = {.size = sizeof(options),
						.progress = cli_progress_update};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error = {0};
	struct cli_progress progress;
	int status = cli_binaries_apply("profile", &profile->binaries, &options);

	if (status)
		return status;
	options.functions = true;
	cli_progress_start(&progress, "Reading the recording");
	options.progress_context = &progress;
	if (!cli_data_open(profile->output, 0, &data, &error)) {
		cli_binaries_fit(&profile->binaries, data, &options);
		if (tally_session_new(data, &options, &session, &error))
			session = NULL;
	}
	if (!session || show(profile, session, path, &error))
		status = CLI_FAILED;
	cli_progress_done(&progress);
	if (status)
		cli_say_error("profile", &error);
	else if (profile->open)
		open_page(path);
	tally_session_free(session);
	if (data)
		tally_data_close(data);
	return status;
}

static int run(struct profile *profile, int argc, char **argv, int at)
{
	char *path = cli_recording_beside(profile->page, profile->output, "profile.html");
	int status, recorded, own;

	if (!path) {
		cli_say("profile", "not enough memory for the page");
		return CLI_FAILED;
	}
	recorded = record_it(profile, argc, argv, at, &status);
	own = recorded ? 0 : analyse(profile, path);
	free(path);
	/* Ctrl-C ended the recording, as it should: that is no failure. */
	if (!recorded && status == CLI_DIE_OF + SIGINT)
		status = CLI_OK;
	return own && status == CLI_OK ? own : status;
}

int cmd_profile(int argc, char **argv)
{
	static const char *const forms[] = {
	    "[OPTIONS] [--] COMMAND [ARGUMENTS]", "[OPTIONS] -p PID,...",
	    "[OPTIONS] --children-of PID,...", "[OPTIONS] -a", NULL};
	struct profile profile = {.output = "perf.data", .binaries.inlines = CLI_INLINE_USUAL};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "What is recorded"},
	    {CLI_FLAG, 'a', "all-cpus", NULL, "the whole system", .to = &profile.system_wide},
	    {CLI_STRING, 'p', "pid", "PIDS", "these running processes", .to = &profile.pids},
	    {CLI_STRING, 0, "children-of", "PIDS", "processes with all their descendants",
	     .to = &profile.parents},
	    {CLI_STRING, 'F', "freq", "HZ",
	     "samples a second; max: as many as the kernel allows (default: 4000)",
	     .to = &profile.frequency},
	    {CLI_CALL, 0, "call-graph", "HOW",
	     "record call chains by auto (unwound while recording, else fp; the default), fp "
	     "(frame "
	     "pointers), dwarf[,SIZE] (unwound) or lbr",
	     .to = &profile.call_graph, .call = record_take_call_graph,
	     .word = record_call_graph_word},
	    {CLI_FLAG, 0, "no-off-cpu", NULL, "do not sample where threads are blocked",
	     .to = &profile.no_off_cpu},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_STRING, 'o', "output", "FILE", "the recording (default: perf.data)",
	     .to = &profile.output},
	    {CLI_STRING, 0, "html", "FILE", "the page (default: profile.html beside the recording)",
	     .to = &profile.page},
	    {CLI_FLAG, 0, "no-source", NULL,
	     "a page without the source and assembly of the hottest functions",
	     .to = &profile.no_source},
	    {CLI_FLAG, 0, "open", NULL, "show the page in the desktop's browser",
	     .to = &profile.open},
	    {CLI_FLAG, 'q', "quiet", NULL, "print only where the page is", .to = &profile.quiet},
	    {.kind = CLI_END},
	};
	static const struct cli_rule rules[] = {
	    {"-a", CLI_EXCLUDES, "-p,--children-of",
	     "-a records the whole system, the others parts of it"},
	    {NULL},
	};
	const struct cli_usage usage = {
	    .command = "profile",
	    .forms = forms,
	    .about = "Records a command, processes or the whole system, prints what limits it and "
		     "the hottest functions and lines, and writes a page for a browser.",
	    .rules = rules,
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (at >= argc && !profile.pids && !profile.parents && !profile.system_wide)
		return cli_usage_error(
		    &usage, "nothing to profile: give a command, -p, --children-of or -a");
	return run(&profile, argc, argv, at);
}
