/* `tally report --html`: the report as a page for a browser. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/page.h>
#include "command.h"
#include "recording.h"
#include "report_options.h"

#define PAGE_NAME "profile.html"

int report_take_file(void *to, const char *value, bool on, struct tally_error *error)
{
	if (value && !*value)
		return cli_refuse(error, "a file name is missing behind the =");
	*(const char **)to = on ? (value ? value : "") : NULL;
	return 0;
}

int report_page_write(const struct report *report, struct tally_session *session,
		      struct tally_profile_options *options, struct cli_progress *progress)
{
	struct tally_page_options page = {.size = sizeof(page)};
	char *path =
	    cli_recording_beside(*report->page ? report->page : NULL, report->input, PAGE_NAME);
	struct tally_error error = {0};
	uint64_t size = 0;
	bool stream = path && !strcmp(path, "-");
	int result;

	if (!path) {
		cli_say("report", "not enough memory for the page");
		return CLI_FAILED;
	}
	/* Branches have no stacks; they are rows only where somebody asked for them. */
	if (options->kind == TALLY_PROFILE_BRANCHES && report->branches < 1)
		options->kind = TALLY_PROFILE_SAMPLES;
	page.to = stream ? stdout : NULL;
	page.no_source = report->no_source;
	result = tally_page_write(session, options, &page, path, &size, &error);
	cli_progress_done(progress);
	if (!result && !stream)
		cli_say("report", "%s: %.1f MB, for a browser", path, (double)size / 1e6);
	free(path);
	if (!result || (result == -EPIPE && stream))
		return CLI_OK;
	return cli_dlfilters_interrupted() ? CLI_FAILED : cli_say_error("report", &error);
}
