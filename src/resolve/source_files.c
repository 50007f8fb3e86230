#include "resolve/source_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/regular.h"

/* Where lines begin; false: out of memory. */
static bool index_lines(struct source_file *file)
{
	size_t count = 0, at = 0;

	for (const char *next = file->text;
	     (next = memchr(next, '\n', file->size - (size_t)(next - file->text))); next++)
		count++;
	file->starts = calloc(count + 2, sizeof(*file->starts));
	if (!file->starts)
		return false;
	for (size_t i = 0; i < file->size; i++)
		if (file->text[i] == '\n')
			file->starts[++at] = (uint32_t)i + 1;
	/* the last line may lack its end */
	if (file->starts[at] < file->size)
		file->starts[++at] = (uint32_t)file->size + 1;
	file->count = (uint32_t)at;
	return true;
}

static size_t bytes_of(const struct source_file *file)
{
	return file->size + file->count * sizeof(*file->starts);
}

static void forget(struct tally_source_files *files, size_t index)
{
	struct source_file *file = &files->list[index];

	files->bytes -= bytes_of(file);
	free(file->path);
	free(file->text);
	free(file->starts);
	files->count--;
	memmove(file, file + 1, (files->count - index) * sizeof(*file));
}

static void read_file(const struct tally_source_files *files, struct source_file *file)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s", files->before ? files->before : "", file->path) < 0)
		return;
	if (file->path[0] == '/' &&
	    !tally_regular_read(path, SOURCE_BYTES_MOST / 8, false, &file->text, &file->size) &&
	    !index_lines(file)) {
		free(file->text);
		file->text = NULL;
		file->size = 0;
	}
	free(path);
}

static struct source_file *add(struct tally_source_files *files, const char *path)
{
	struct source_file file = {.path = strdup(path)};

	if (!file.path)
		return NULL;
	read_file(files, &file);
	while (files->count == SOURCE_FILES_MOST ||
	       (files->count && files->bytes + bytes_of(&file) > SOURCE_BYTES_MOST))
		forget(files, files->count - 1);
	memmove(files->list + 1, files->list, files->count * sizeof(*files->list));
	files->list[0] = file;
	files->count++;
	files->bytes += bytes_of(&file);
	return &files->list[0];
}

static struct source_file *find(struct tally_source_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++) {
		struct source_file file = files->list[i];

		if (strcmp(file.path, path) != 0)
			continue;
		memmove(files->list + 1, files->list, i * sizeof(*files->list));
		files->list[0] = file;
		return &files->list[0];
	}
	return add(files, path);
}

bool tally_source_files_line(struct tally_source_files *files, const char *path, uint32_t line,
			     const char **ret, size_t *ret_length)
{
	const struct source_file *file = find(files, path);

	if (!file || !line || line > file->count)
		return false;
	*ret = file->text + file->starts[line - 1];
	*ret_length = file->starts[line] - file->starts[line - 1] - 1;
	return true;
}

void tally_source_files_done(struct tally_source_files *files)
{
	while (files->count)
		forget(files, files->count - 1);
}
