#include "write/file_series.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/table.h"

#define TRIES 200 /* names are 10 ms apart */

/* Source: fetch_current_timestamp() of tools/perf/util/util.c. */
static int name_now(const char *path, char **ret)
{
	struct timespec now;
	struct tm local;
	char day[32];

	clock_gettime(CLOCK_REALTIME, &now);
	if (!localtime_r(&now.tv_sec, &local) ||
	    !strftime(day, sizeof(day), "%Y%m%d%H%M%S", &local))
		return -EOVERFLOW;
	return asprintf(ret, "%s.%s%02ld", path, day, now.tv_nsec / 10000000) < 0 ? -ENOMEM : 0;
}

/* Does not overwrite: -EEXIST. Not all file systems can be asked for that. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!access(to, F_OK))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

static int rename_now(const char *path, char **ret)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int result = -EEXIST;
	char *name;

	for (int i = 0; i < TRIES && result == -EEXIST; i++) {
		if (i)
			nanosleep(&pause, NULL);
		result = name_now(path, &name);
		if (result)
			return result;
		result = rename_new(path, name);
		if (!result)
			*ret = name;
		else
			free(name);
	}
	return result;
}

static int remember(struct tally_file_series *series, char *name)
{
	if (!array_next(&series->names, &series->room, series->count, 16, sizeof(*series->names)))
		return -ENOMEM;
	series->names[series->count++] = name;
	return 0;
}

int tally_file_series_check(const struct tally_file_series *series, struct tally_error *error)
{
	struct stat about;

	if (stat(series->path, &about) || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
		return 0;
	return tally_fail(error, -ENODEV, -1,
			  "%s is not a regular file, and cannot get a name with the time; name "
			  "another file with -o",
			  series->path);
}

int tally_file_series_add(struct tally_file_series *series, const char **ret,
			  struct tally_error *error)
{
	char *name = NULL;
	int result = rename_now(series->path, &name);

	if (result)
		return tally_fail(error, result, -1,
				  "%s: cannot be renamed to a name with the time: %s", series->path,
				  strerror(-result));
	/* Who keeps all files needs the last name alone. */
	if (!series->keep && series->count) {
		free(series->names[0]);
		series->count = 0;
	}
	if (remember(series, name)) {
		free(name);
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	while (series->keep && series->count > series->keep) {
		unlink(series->names[0]); /* somebody may have taken it away */
		free(series->names[0]);
		memmove(series->names, series->names + 1, --series->count * sizeof(*series->names));
	}
	*ret = name;
	return 0;
}

void tally_file_series_done(struct tally_file_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		free(series->names[i]);
	free(series->names);
	*series = (struct tally_file_series){0};
}
