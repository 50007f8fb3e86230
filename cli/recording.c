#include "recording.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_pipe(int fd)
{
	struct stat about;

	return !fstat(fd, &about) && S_ISFIFO(about.st_mode);
}

const char *cli_recording_output(const char *output)
{
	return output ? output : is_pipe(STDOUT_FILENO) ? "-" : "perf.data";
}

char *cli_recording_beside(const char *given, const char *recording, const char *name)
{
	const char *slash = strrchr(recording, '/');
	int length = slash ? (int)(slash + 1 - recording) : 0;
	char *path = NULL;

	if (given)
		return strdup(given);
	return asprintf(&path, "%.*s%s", length, recording, name) < 0 ? NULL : path;
}

int cli_recording_take(const struct cli_usage *usage, int argc, char **argv, int at,
		       const char **input)
{
	if (argc - at > 1)
		return cli_usage_error(usage,
				       "only one recording can be read at a time: leave out '%s'",
				       argv[at + 1]);
	if (at < argc)
		*input = argv[at];
	else if (!*input)
		*input = is_pipe(STDIN_FILENO) ? "-" : "perf.data";
	return 0;
}
