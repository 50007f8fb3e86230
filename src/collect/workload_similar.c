#include "collect/workload_similar.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tally/text.h>

/* Folders of programs have some thousand; more are not looked at. */
#define NAMES_MOST 50000U

/* A program of a folder takes the place of the best one so far, if it is more similar. */
static void look_at(const char *name, int folder, const char *program, char best[PATH_MAX])
{
	const char *names[] = {best, program};
	size_t skip = *best ? 0 : 1;

	if (*program == '.' || strlen(program) >= PATH_MAX || !strcmp(program, best) ||
	    tally_text_nearest(name, names + skip, 2 - skip) != program ||
	    faccessat(folder, program, X_OK, 0))
		return;
	snprintf(best, PATH_MAX, "%s", program);
}

bool tally_workload_similar(const char *name, char ret[PATH_MAX])
{
	const char *path = getenv("PATH");
	char *folders = strdup(path ? path : "/bin:/usr/bin"), *save = NULL;
	char best[PATH_MAX] = "";
	unsigned seen = 0;

	for (char *folder = folders ? strtok_r(folders, ":", &save) : NULL; folder;
	     folder = strtok_r(NULL, ":", &save)) {
		DIR *dir = opendir(folder);
		const struct dirent *entry;

		while (dir && seen++ < NAMES_MOST && (entry = readdir(dir)))
			look_at(name, dirfd(dir), entry->d_name, best);
		if (dir)
			closedir(dir);
	}
	free(folders);
	if (*best)
		memcpy(ret, best, sizeof(best));
	return *best;
}
