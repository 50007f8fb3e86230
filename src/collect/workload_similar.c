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
	const char *folders = getenv("PATH");
	char best[PATH_MAX] = "", folder[PATH_MAX];
	unsigned seen = 0;

	for (folders = folders ? folders : "/bin:/usr/bin"; folders;) {
		size_t length = strcspn(folders, ":");
		const struct dirent *entry;
		DIR *dir = NULL;

		if (length < sizeof(folder) &&
		    snprintf(folder, sizeof(folder), "%.*s", (int)length, folders) > 0)
			dir = opendir(folder);
		while (dir && seen++ < NAMES_MOST && (entry = readdir(dir)))
			look_at(name, dirfd(dir), entry->d_name, best);
		if (dir)
			closedir(dir);
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	if (*best)
		memcpy(ret, best, sizeof(best));
	return *best;
}
