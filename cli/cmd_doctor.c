/* `tally doctor`: what prevents counting and sampling, and how to fix it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/doctor.h>
#include "command.h"
#include "options.h"
#include "pager.h"
#include "say.h"
#include "terminal.h"

struct doctor {
	const char *root;
	bool json, quiet;
};

static int show(const struct doctor *asked, const struct tally_doctor *doctor)
{
	const struct tally_doctor_text_options options = {
	    .size = sizeof(options),
	    .width = cli_term_width(),
	    .colour = cli_term_colour(),
	    .all = !asked->quiet,
	};
	struct cli_pager pager;
	int result;

	cli_pager_start(&pager);
	result = asked->json ? tally_doctor_json(doctor, stdout)
			     : tally_doctor_text(doctor, &options, stdout);
	cli_pager_finish(&pager);
	return result == -EPIPE ? 0 : result; /* the reader of the pipe has ended */
}

int cmd_doctor(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", NULL};
	const struct cli_usage usage = {
	    .command = "doctor",
	    .forms = forms,
	    .about = "Shows what prevents counting and sampling on this machine for this user, "
		     "which features that affects, and how to fix it. Changes nothing.",
	};
	struct doctor asked = {.root = NULL};
	const struct cli_option options[] = {
	    {CLI_FLAG, 0, "json", NULL, "JSON, all findings", .to = &asked.json},
	    {CLI_FLAG, 'q', "quiet", NULL, "only problems, not what works", .to = &asked.quiet},
	    {CLI_STRING, 0, "root", "DIR",
	     "read another machine's /proc and /sys below DIR; nothing is tried",
	     .to = &asked.root},
	    {.kind = CLI_END},
	};
	struct tally_doctor_options looks = {.size = sizeof(looks)};
	struct tally_doctor *doctor;
	int status, result, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (at < argc)
		return cli_usage_error(&usage, "unexpected argument '%s'", argv[at]);
	looks.root = asked.root;
	result = tally_doctor_new(&looks, &doctor);
	if (!result) {
		status = tally_doctor_count(doctor, TALLY_FINDING_BLOCKED) ? CLI_FAILED : CLI_OK;
		result = show(&asked, doctor);
		tally_doctor_free(doctor);
	}
	if (result) {
		cli_say("doctor", "%s", strerror(-result));
		return CLI_FAILED;
	}
	return status;
}
