/* `tally version`. */
#include <stdio.h>
#include <string.h>
#include <tally/version.h>
#include "command.h"
#include "options.h"

/* In perf's form, which scripts parse. */
static void print_parts(void)
{
	size_t count;
	const struct tally_version_part *parts = tally_version_parts(&count);

	for (size_t i = 0; i < count; i++)
		printf("%22s: [ %s ]  # %s\n", parts[i].name, parts[i].on ? "on " : "OFF",
		       parts[i].macro);
}

int cmd_version(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", NULL};
	const struct cli_usage usage = {
	    .command = "version",
	    .forms = forms,
	    .about = "Prints the version.",
	};
	bool build = false;
	const struct cli_option options[] = {
	    {CLI_FLAG, 0, "build-options", NULL, "and which libraries it was built with",
	     .to = &build},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (at < argc)
		return cli_usage_error(&usage, "unexpected argument '%s'", argv[at]);
	printf("tally %s\n", tally_version());
	if (build)
		print_parts();
	return CLI_OK;
}
