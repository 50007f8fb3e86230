#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 32

/* Columns of MANIFEST.tsv, by the names of its first line. */
enum column { FILE_NAME, FORMAT, ARCH, KERNEL, ATTR_SIZE, EVENTS, COUNTS, NOTES, COLUMN_COUNT };
static const char *const names[COLUMN_COUNT] = {"file",      "format",  "arch",          "kernel",
						"attr_size", "n_attrs", "record_counts", "notes"};

static size_t split(char *line, char *fields[COLUMNS])
{
	size_t count = 0;

	line[strcspn(line, "\n")] = 0;
	while (line && count < COLUMNS)
		fields[count++] = strsep(&line, "\t");
	return count;
}

bool corpus_each(void (*visit)(const struct corpus_row *row, void *context), void *context)
{
	const char *folder = getenv("TALLY_CORPUS");
	char *path = NULL, *line = NULL, *fields[COLUMNS];
	size_t room = 0, place[COLUMN_COUNT] = {0}, count;
	FILE *manifest = NULL;

	if (folder && asprintf(&path, "%s/MANIFEST.tsv", folder) > 0)
		manifest = fopen(path, "r");
	free(path);
	if (!manifest || getline(&line, &room, manifest) < 0) {
		free(line);
		if (manifest)
			fclose(manifest);
		return false;
	}
	count = split(line, fields);
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(fields[k], names[i]))
				place[i] = k;
	while (getline(&line, &room, manifest) >= 0) {
		const char *values[COLUMN_COUNT];
		struct corpus_row row;
		char *file = NULL;

		count = split(line, fields);
		for (size_t i = 0; i < COLUMN_COUNT; i++)
			values[i] = place[i] < count ? fields[place[i]] : "";
		if (asprintf(&file, "%s/%s", folder, values[FILE_NAME]) < 0)
			break;
		row = (struct corpus_row){.path = file,
					  .format = values[FORMAT],
					  .arch = values[ARCH],
					  .kernel = values[KERNEL],
					  .attr_size = values[ATTR_SIZE],
					  .events = values[EVENTS],
					  .counts = values[COUNTS],
					  .notes = values[NOTES]};
		visit(&row, context);
		free(file);
	}
	free(line);
	fclose(manifest);
	return true;
}

uint64_t corpus_count(const char *counts, const char *type)
{
	size_t length = strlen(type);

	for (const char *at = counts; at && *at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, type, length) && at[length] == '=')
			return strtoull(at + length + 1, NULL, 10);
	}
	return 0;
}
