#include "resolve/debug_dirs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/regular.h"
#include "file/data_file.h"

static int open_one(struct tally_debug_dirs *dirs, const char *path, uint64_t expand_most,
		    struct tally_error *error)
{
	struct stat about;
	int fd, result;

	if (stat(path, &about))
		return tally_fail(error, -errno, -1, "%s: no folder or archive of debug files: %s",
				  path, strerror(errno));
	if (S_ISDIR(about.st_mode)) {
		char *copy = strdup(path);

		if (!copy)
			return -ENOMEM;
		dirs->folders[dirs->places.folder_count++] = copy;
		return 0;
	}
	fd = tally_regular_open(path, NULL);
	if (fd < 0)
		return tally_fail(error, fd, -1, "%s: cannot be opened: %s", path,
				  fd == -ENODEV ? "no folder or regular file" : strerror(-fd));
	result = tally_tar_open(fd, path, expand_most, &dirs->archives[dirs->places.archive_count],
				error);
	close(fd);
	if (!result)
		dirs->places.archive_count++;
	return result;
}

/* Where the client of debuginfod keeps what it fetched.  Source: debuginfod_find_debuginfo(3). */
static char *client_cache(void)
{
	const char *named = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *path;

	if (named && *named)
		return strdup(named);
	if (cache && *cache)
		return asprintf(&path, "%s/debuginfod_client", cache) < 0 ? NULL : path;
	if (home && *home)
		return asprintf(&path, "%s/.cache/debuginfod_client", home) < 0 ? NULL : path;
	return NULL;
}

int tally_debug_dirs_open(struct tally_data *data, const struct tally_session_options *options,
			  struct tally_debug_dirs *ret, struct tally_error *error)
{
	size_t count = options->debug_dir_count;
	int result = 0;

	*ret = (struct tally_debug_dirs){.archives = calloc(count + 1, sizeof(*ret->archives)),
					 .folders = calloc(count + 1, sizeof(*ret->folders))};
	ret->places.recording = tally_data_archive(data);
	ret->fetched = client_cache();
	ret->places.fetched = ret->fetched;
	if (!ret->archives || !ret->folders)
		result = -ENOMEM;
	for (size_t i = 0; i < count && !result; i++)
		result = open_one(ret, options->debug_dirs[i], data->options.expand_most, error);
	ret->places.archives = (const struct tally_tar *const *)ret->archives;
	ret->places.folders = (const char *const *)ret->folders;
	return result;
}

void tally_debug_dirs_done(struct tally_debug_dirs *dirs)
{
	for (size_t i = 0; i < dirs->places.archive_count; i++)
		tally_tar_close(dirs->archives[i]);
	for (size_t i = 0; i < dirs->places.folder_count; i++)
		free(dirs->folders[i]);
	free(dirs->archives);
	free(dirs->folders);
	free(dirs->fetched);
	*dirs = (struct tally_debug_dirs){.archives = NULL};
}
