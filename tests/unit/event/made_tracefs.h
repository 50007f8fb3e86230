/* A made-up tracefs, so that tests know its ids and need no rights. */
#ifndef TALLY_TESTS_MADE_TRACEFS_H
#define TALLY_TESTS_MADE_TRACEFS_H

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct made_tracefs {
	char root[64];
	int next_id;
};

static inline int made_tracefs_init(struct made_tracefs *tracefs)
{
	char path[128];

	*tracefs = (struct made_tracefs){.root = "/tmp/tally-tracefs-XXXXXX", .next_id = 100};
	if (!mkdtemp(tracefs->root))
		return -1;
	snprintf(path, sizeof(path), "%s/events", tracefs->root);
	return mkdir(path, 0755);
}

/* The id of system:name, made when it is new. */
static inline int made_tracefs_id(struct made_tracefs *tracefs, const char *system,
				  const char *name)
{
	char path[PATH_MAX];
	FILE *file;
	int id = 0;

	snprintf(path, sizeof(path), "%s/events/%s", tracefs->root, system);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/events/%s/%s", tracefs->root, system, name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs->root, system, name);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%d", &id) != 1)
			id = -1;
		fclose(file);
		return id;
	}
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "%d\n", tracefs->next_id);
	fclose(file);
	return tracefs->next_id++;
}

static inline void made_tracefs_done(struct made_tracefs *tracefs)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", tracefs->root);
	if (system(command))
		fprintf(stderr, "cannot remove %s\n", tracefs->root);
}

#endif
