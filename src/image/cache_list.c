/* What the cache holds, for people: every kind of file that is kept there is a row of a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/cache.h>
#include <time.h>
#include "base/cache_folder.h"
#include "base/fail.h"
#include "dwarf/line_index_file.h"
#include "elf/build_id.h"
#include "kallsyms/kernel_cache.h"

struct about { /* strings of a struct tally_cache_file */
	char image[256], id[TALLY_BUILD_ID_TEXT];
};

struct kind {
	const char *prefix, *name;
	/* Fills what the file says of itself.  0 or -errno. */
	int (*look)(const char *folder, const char *file, bool check, struct about *about,
		    struct tally_cache_file *ret);
};

static int look_at_kernel(const char *folder, const char *file, bool check, struct about *about,
			  struct tally_cache_file *ret)
{
	(void)ret;
	snprintf(about->image, sizeof(about->image), "[kernel.kallsyms]");
	return check ? tally_kernel_cache_check(folder, file) : 0;
}

static int look_at_lines(const char *folder, const char *file, bool check, struct about *about,
			 struct tally_cache_file *ret)
{
	struct line_index_about lines;
	int error = tally_line_index_about(folder, file, check, &lines);

	if (error)
		return error;
	memcpy(about->image, lines.path, sizeof(about->image));
	tally_build_id_format(lines.id, lines.id_size, about->id);
	ret->units = lines.units;
	ret->ready = lines.ready;
	return 0;
}

static const struct kind kinds[] = {
    {"kernel-", "kernel symbols", look_at_kernel},
    {LINE_INDEX_PREFIX, "source lines", look_at_lines},
};

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return &kinds[i];
	return NULL;
}

static int find_folder(const char *given, char **ret, struct tally_error *error)
{
	*ret = tally_cache_folder(given);
	if (*ret)
		return 0;
	return tally_fail(
	    error, -ENOENT, -1,
	    "there is no folder for the cache: neither $XDG_CACHE_HOME nor $HOME is a "
	    "folder of this user");
}

static int explain(const char *folder, int result, struct tally_error *error)
{
	if (result == -EPERM)
		return tally_fail(
		    error, result, -1,
		    "%s: belongs to another user, or others can write it; remove it, or "
		    "change its rights to 0700",
		    folder);
	return tally_fail(error, result, -1, "%s: %s", folder, strerror(-result));
}

struct list {
	const char *folder;
	bool check;
	tally_cache_file_visit visit;
	void *context;
	int result; /* what `visit` returned */
};

static int list_one(void *context, const struct tally_cache_entry *entry)
{
	struct list *list = context;
	const struct kind *kind = kind_of(entry->name);
	struct about about = {.image = ""};
	struct tally_cache_file file = {.name = entry->name,
					.kind = kind ? kind->name : "unknown",
					.image = about.image,
					.id = about.id,
					.bytes = entry->size,
					.used = entry->used};

	if (kind)
		file.state = kind->look(list->folder, entry->name, list->check, &about, &file);
	list->result = list->visit(list->context, &file);
	return list->result ? 1 : 0;
}

int tally_cache_list(const char *folder, bool check, tally_cache_file_visit visit, void *context,
		     struct tally_error *error)
{
	struct list list = {.check = check, .visit = visit, .context = context};
	char *path;
	int result = find_folder(folder, &path, error);

	if (result)
		return result;
	list.folder = path;
	result = tally_cache_each(path, list_one, &list);
	if (result > 0)
		result = list.result;
	else if (result == -ENOENT)
		result = 0;
	else if (result < 0)
		explain(path, result, error);
	free(path);
	return result;
}

struct clear {
	const char *folder, *id;
	int64_t before; /* only files that were used before this */
	int removed, error;
};

static int clear_one(void *context, const struct tally_cache_file *file)
{
	struct clear *clear = context;
	int error;

	if ((clear->id && strncmp(file->id, clear->id, strlen(clear->id)) != 0) ||
	    file->used > clear->before)
		return 0;
	error = tally_cache_remove(clear->folder, file->name);
	if (!error)
		clear->removed++;
	else if (error != -ENOENT)
		clear->error = error;
	return 0;
}

int tally_cache_clear(const char *folder, const char *id, uint64_t unused,
		      struct tally_error *error)
{
	struct clear clear = {.id = id, .before = INT64_MAX};
	int64_t now = time(NULL);
	char *path;
	int result = find_folder(folder, &path, error);

	if (result)
		return result;
	clear.folder = path;
	if (unused)
		clear.before = unused < (uint64_t)now ? now - (int64_t)unused : -1;
	result = tally_cache_list(path, false, clear_one, &clear, error);
	if (!result && clear.error)
		result = explain(path, clear.error, error);
	free(path);
	return result ? result : clear.removed;
}

int tally_cache_get_limit(const char *folder, uint64_t *ret, struct tally_error *error)
{
	char *path;
	int result = find_folder(folder, &path, error);

	if (result)
		return result;
	*ret = tally_cache_limit(path);
	free(path);
	return 0;
}

int tally_cache_take_limit(const char *folder, uint64_t limit, struct tally_error *error)
{
	char *path;
	int result = find_folder(folder, &path, error);

	if (result)
		return result;
	result = tally_cache_set_limit(path, limit);
	if (result)
		explain(path, result, error);
	free(path);
	return result;
}
