/* The tables below a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/table.h"
#include "fleet/fleet_read.h"

bool tally_fleet_named(const char *name, const char *begin)
{
	size_t length = strlen(name), end = strlen(".parquet");

	return !strncmp(name, begin, strlen(begin)) && length > end &&
	       !strcmp(name + length - end, ".parquet");
}

static bool begins_with(const char *text, size_t length, const char *begin)
{
	size_t size = strlen(begin);

	return length >= size && !memcmp(text, begin, size);
}

bool tally_fleet_is_kernel(const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length), *name = slash ? slash + 1 : path;
	const char *module = memmem(path, length, ".ko", 3);
	const char *end = path + length;

	return begins_with(path, length, "[kernel") || begins_with(path, length, "[guest.kernel") ||
	       begins_with(path, length, "bpf_prog_") ||
	       (module && (module + 3 == end || module[3] == '.')) ||
	       begins_with(name, (size_t)(end - name), "vmlinux");
}

struct walk {
	tally_fleet_file_fn take;
	void *context;
	char path[4096];
};

/* Symbolic links to folders are not followed: there may be circles. */
static int walk_folder(struct walk *walk, unsigned depth)
{
	struct dirent **list = NULL;
	size_t length = strlen(walk->path);
	int count = scandir(walk->path, &list, NULL, alphasort), result = 0;

	if (count < 0)
		return depth ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		const char *name = list[i]->d_name;
		struct stat about;

		if (!result && name[0] != '.' && length + 1 + strlen(name) < sizeof(walk->path)) {
			snprintf(walk->path + length, sizeof(walk->path) - length, "/%s", name);
			if (lstat(walk->path, &about))
				result = 0;
			else if (S_ISDIR(about.st_mode) && depth < FLEET_DEPTH_MOST)
				result = walk_folder(walk, depth + 1);
			else if (!S_ISDIR(about.st_mode))
				result = walk->take(walk->context, walk->path, name);
			walk->path[length] = 0;
		}
		free(list[i]);
	}
	free(list);
	return result;
}

int tally_fleet_walk(const char *folder, tally_fleet_file_fn take, void *context)
{
	struct walk walk = {.take = take, .context = context};
	size_t length = strlen(folder);

	if (length >= sizeof(walk.path))
		return -ENAMETOOLONG;
	memcpy(walk.path, folder, length + 1);
	return walk_folder(&walk, 0);
}

static int is_table(void *context, const char *path, const char *name)
{
	(void)context;
	(void)path;
	return tally_fleet_named(name, "samples") ? 1 : 0;
}

bool tally_fleet_is_folder(const char *path)
{
	struct stat about;
	char *data = NULL;
	bool recording;

	if (!path || stat(path, &about) || !S_ISDIR(about.st_mode))
		return false;
	recording = asprintf(&data, "%s/data", path) > 0 && !access(data, F_OK);
	free(data);
	return !recording && tally_fleet_walk(path, is_table, NULL) > 0;
}

int tally_fleet_fail(struct tally_fleet *fleet, const struct fleet_file *file, int result,
		     const char *why)
{
	pthread_mutex_lock(&fleet->lock);
	if (!fleet->failure.code)
		tally_fail(&fleet->failure, result, -1, "%s: %s", file->path, why);
	pthread_mutex_unlock(&fleet->lock);
	return result;
}

int tally_fleet_open_file(struct tally_fleet *fleet, const struct fleet_file *file,
			  struct fleet_table *ret)
{
	struct fleet_state state;
	const char *why;
	int result = tally_fleet_table_open(file->path, ret, &state, &why);

	if (!result && !tally_fleet_state_is(&state, &file->state)) {
		result = -ESTALE;
		why = "it was changed while it was read";
	}
	return result ? tally_fleet_fail(fleet, file, result, why) : 0;
}

/* Whether a stack has a caller: more places of frames than rows. */
static bool has_chains(const struct parquet_reader *reader)
{
	int leaf = tally_parquet_find(reader, "frames", "symbol");

	for (uint32_t group = 0; leaf >= 0 && group < reader->group_count; group++)
		if (reader->groups[group].places[leaf].values > reader->groups[group].rows)
			return true;
	return false;
}

/* What must be known of all files before they are read. */
static int look_at(struct tally_fleet *fleet, struct fleet_file *file)
{
	struct fleet_table table;
	const char *why;
	int result = tally_fleet_table_open(file->path, &table, &file->state, &why);

	if (!result && fleet_claims_too_much(&fleet->claim, &table.reader)) {
		result = -EBADMSG;
		why = FLEET_CLAIM_WHY;
	}
	if (!result)
		fleet->has_chains |= has_chains(&table.reader);
	tally_fleet_table_close(&table);
	return result ? tally_fleet_fail(fleet, file, result, why) : 0;
}

static int take_file(void *context, const char *path, const char *name)
{
	struct tally_fleet *fleet = context;
	bool samples = tally_fleet_named(name, "samples");
	struct fleet_file *file;
	uint32_t room;

	if (!samples && !tally_fleet_named(name, "stacks"))
		return 0;
	room = array_room(fleet->file_room, fleet->file_count + 1, 16);
	if (fleet->file_count == FLEET_FILES_MOST)
		return -EFBIG;
	if (room != fleet->file_room && !array_resize(&fleet->files, room, sizeof(*fleet->files)))
		return -ENOMEM;
	fleet->file_room = room;
	file = &fleet->files[fleet->file_count];
	*file = (struct fleet_file){.path = strdup(path),
				    .kind = samples ? FLEET_SAMPLES : FLEET_STACKS};
	if (!file->path)
		return -ENOMEM;
	fleet->file_count++;
	return look_at(fleet, file);
}

int tally_fleet_find(struct tally_fleet *fleet, struct tally_error *error)
{
	int result = tally_fleet_walk(fleet->folder, take_file, fleet);

	if (result && fleet->failure.code)
		return tally_fail(error, result, -1, "%s", fleet->failure.text);
	if (result)
		return tally_fail(error, result, -1, "%s: %s", fleet->folder, strerror(-result));
	for (uint32_t i = 0; i < fleet->file_count; i++)
		if (fleet->files[i].kind == FLEET_SAMPLES)
			return 0;
	return tally_fail(error, -ENOENT, -1,
			  "%s: there is no table of samples (samples*.parquet) in this folder",
			  fleet->folder);
}

void tally_fleet_forget_files(struct tally_fleet *fleet)
{
	for (uint32_t i = 0; i < fleet->file_count; i++)
		free(fleet->files[i].path);
	free(fleet->files);
}
