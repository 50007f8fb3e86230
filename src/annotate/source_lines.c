#include "annotate/source_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/regular.h"
#include "base/table.h"
#include "base/text.h"

#define TAB 8U

struct source_file {
	struct source_file *next; /* of the same hash */
	char *path, *text;        /* text NULL: it cannot be read */
	size_t size;
	uint32_t *starts; /* of lines, and the end */
	uint32_t count;
};

void tally_source_lines_free(struct source_lines *texts)
{
	for (size_t i = 0; i < texts->by_path.room; i++) {
		struct source_file *file =
		    texts->by_path.slots[i].key
			? (struct source_file *)(uintptr_t)texts->by_path.slots[i].value
			: NULL;

		while (file) {
			struct source_file *next = file->next;

			free(file->path);
			free(file->text);
			free(file->starts);
			free(file);
			file = next;
		}
	}
	tally_map_done(&texts->by_path);
}

/* As objdump has it: folders are taken from the front, and the prefix put there. */
static char *with_prefix(const struct source_lines *texts, const char *path)
{
	const char *at = path;
	char *made;

	if (*path != '/' || !texts->prefix)
		return strdup(path);
	for (unsigned i = 0; i < texts->prefix_strip; i++) {
		const char *slash = strchr(at + 1, '/');

		if (!slash)
			break;
		at = slash;
	}
	return asprintf(&made, "%s%s", texts->prefix, at) < 0 ? NULL : made;
}

static void find_lines(struct source_file *file)
{
	uint32_t count = 1;

	for (size_t i = 0; i < file->size; i++)
		count += file->text[i] == '\n';
	file->starts = malloc((count + 1) * sizeof(*file->starts));
	if (!file->starts)
		return;
	file->starts[0] = 0;
	for (size_t i = 0; i < file->size; i++)
		if (file->text[i] == '\n')
			file->starts[++file->count] = (uint32_t)(i + 1);
	if (file->starts[file->count] < file->size) /* a last line without an end */
		file->starts[++file->count] = (uint32_t)file->size + 1;
}

static void read_file(const struct source_lines *texts, struct source_file *file)
{
	char *path = with_prefix(texts, file->path), *below;
	int error = -1;

	if (!path)
		return;
	if (texts->symfs && *texts->symfs && *path == '/' &&
	    asprintf(&below, "%s%s", texts->symfs, path) >= 0) {
		error =
		    tally_regular_read(below, SOURCE_FILE_MOST, false, &file->text, &file->size);
		free(below);
	}
	if (error)
		error = tally_regular_read(path, SOURCE_FILE_MOST, false, &file->text, &file->size);
	free(path);
	if (error)
		file->text = NULL;
	else
		find_lines(file);
}

static struct source_file *file_of(struct source_lines *texts, const char *path)
{
	uint64_t hash = tally_hash_bytes(path, strlen(path)) | 1;
	bool added;
	uint64_t *slot = tally_map_put(&texts->by_path, hash, &added);
	struct source_file *file;

	if (!slot)
		return NULL;
	for (file = (struct source_file *)(uintptr_t)*slot; file; file = file->next)
		if (!strcmp(file->path, path))
			return file;
	file = calloc(1, sizeof(*file));
	if (file)
		file->path = strdup(path);
	if (!file || !file->path) {
		free(file);
		return NULL;
	}
	file->next = (struct source_file *)(uintptr_t)*slot;
	*slot = (uintptr_t)file;
	read_file(texts, file);
	return file;
}

const char *tally_source_lines_find(struct source_lines *texts, const char *path, uint32_t line,
				    size_t *ret_length)
{
	const struct source_file *file = file_of(texts, path);
	size_t from, until;

	if (!file || !file->starts || !line || line > file->count)
		return NULL;
	from = file->starts[line - 1];
	until = file->starts[line] - 1;
	while (until > from && file->text[until - 1] == '\r')
		until--;
	*ret_length = until - from;
	return file->text + from;
}

void tally_source_lines_put(struct tally_buf *to, const char *text, size_t length)
{
	size_t column = 0, from = 0;

	for (size_t i = 0; i <= length; i++) {
		if (i < length && text[i] != '\t')
			continue;
		tally_text_add_escaped(to, text + from, i - from);
		column += i - from;
		for (size_t end = i < length ? (column / TAB + 1) * TAB : column; column < end;
		     column++)
			tally_buf_byte(to, ' ');
		from = i + 1;
	}
}
