/* A folder that stands for the root of a machine with a PMU, filled by the test. */
#ifndef TALLY_TEST_MADE_UP_PMU_H
#define TALLY_TEST_MADE_UP_PMU_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* cmocka: *state is the root. */
static inline int pmu_root_make(void **state)
{
	char *path = strdup("/tmp/tally-aux-XXXXXX");

	*state = path && mkdtemp(path) ? path : NULL;
	return *state ? 0 : -1;
}

static inline int pmu_remove_one(const char *path, const struct stat *stat, int type,
				 struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline int pmu_root_remove(void **state)
{
	int code = nftw(*state, pmu_remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return code;
}

/* Writes a file of the PMU's folder. */
static inline void pmu_file(const char *root, const char *pmu, const char *file, const char *text)
{
	char path[512];
	FILE *to;

	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s/%s", root, pmu, file);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	to = fopen(path, "w");
	assert_non_null(to);
	assert_true(fputs(text, to) >= 0);
	fclose(to);
}

#endif
