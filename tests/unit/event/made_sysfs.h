/* A made-up sysfs, so that tests know its PMUs and need no hardware. */
#ifndef TALLY_TESTS_MADE_SYSFS_H
#define TALLY_TESTS_MADE_SYSFS_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct made_sysfs {
	char root[PATH_MAX];
};

/* Writes ROOT/bus/event_source/devices/`path`, its folders included. */
static inline int made_sysfs_file(const struct made_sysfs *sysfs, const char *path,
				  const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	if (snprintf(full, sizeof(full), "%s/bus/event_source/devices/%s", sysfs->root, path) >=
	    (int)sizeof(full))
		return -1;
	for (char *at = full + strlen(sysfs->root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(full, 0755);
		*at = '/';
	}
	file = fopen(full, "w");
	if (!file)
		return -1;
	fprintf(file, "%s\n", text);
	return fclose(file);
}

static inline int made_sysfs_init(struct made_sysfs *sysfs)
{
	const char *folder = getenv("TMPDIR");

	snprintf(sysfs->root, sizeof(sysfs->root), "%.200s/tally-sysfs-XXXXXX",
		 folder ? folder : "/tmp");
	return mkdtemp(sysfs->root) ? 0 : -1;
}

static inline int made_sysfs_remove(const char *path, const struct stat *st, int kind,
				    struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static inline void made_sysfs_done(struct made_sysfs *sysfs)
{
	nftw(sysfs->root, made_sysfs_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
