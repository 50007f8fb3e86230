#include "recording.h"

#include <sys/stat.h>
#include <unistd.h>

int cli_recording_take(const struct cli_usage *usage, int argc, char **argv, int at,
		       const char **input)
{
	struct stat about;

	if (argc - at > 1)
		return cli_usage_error(usage, "one recording at a time, not '%s' too",
				       argv[at + 1]);
	if (at < argc)
		*input = argv[at];
	else if (!*input)
		*input =
		    !fstat(STDIN_FILENO, &about) && S_ISFIFO(about.st_mode) ? "-" : "perf.data";
	return 0;
}
