#include "recording.h"

#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cli_recording(const char *named)
{
	struct stat about;

	if (named)
		return named;
	return !fstat(STDIN_FILENO, &about) && S_ISFIFO(about.st_mode) ? "-" : "perf.data";
}
