#include "build_id_folder.h"

#include <stdlib.h>

#define VARIABLE "PERF_BUILDID_DIR" /* perf and its scripts use it, too */

void cli_build_id_folder_set(const char *folder)
{
	setenv(VARIABLE, folder, 1);
}

const char *cli_build_id_folder(const char *option, const char *configured)
{
	const char *given = getenv(VARIABLE);

	if (option)
		return option;
	if (given && *given)
		return given;
	return configured && *configured ? configured : NULL;
}
