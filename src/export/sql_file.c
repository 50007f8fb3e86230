#include "export/sql_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"

struct tally_sql_file {
	char *path, *made;
	bool replace, created;
	int fd;
};

void tally_sql_file_abandon(struct tally_sql_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->created)
		unlink(file->made);
	free(file->path);
	free(file->made);
	free(file);
}

static int create(struct tally_sql_file *file, struct tally_error *error)
{
	if (!file->replace && !access(file->path, F_OK))
		return tally_fail(error, -EEXIST, -1,
				  "%s exists; --force replaces it, or name another file",
				  file->path);
	file->fd = open(file->made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file->fd < 0 && errno == EEXIST)
		return tally_fail(
		    error, -EEXIST, -1,
		    "%s exists: another command is writing it, or was killed; remove it",
		    file->made);
	if (file->fd < 0)
		return tally_fail(error, -errno, -1, "%s: cannot be created: %s", file->made,
				  strerror(errno));
	file->created = true;
	return 0;
}

int tally_sql_file_open(const char *path, bool replace, struct tally_sql_file **ret,
			struct tally_error *error)
{
	struct tally_sql_file *file = calloc(1, sizeof(*file));
	int result;

	if (!file)
		return -ENOMEM;
	file->fd = -1;
	file->replace = replace;
	file->path = strdup(path);
	if (asprintf(&file->made, "%s.tmp", path) < 0)
		file->made = NULL;
	result = file->path && file->made ? create(file, error) : -ENOMEM;
	if (result)
		tally_sql_file_abandon(file);
	else
		*ret = file;
	return result;
}

int tally_sql_file_fd(const struct tally_sql_file *file)
{
	return file->fd;
}

const char *tally_sql_file_path(const struct tally_sql_file *file)
{
	return file->made;
}

/* A file that came to be in the meantime is not overwritten unasked. */
static int give_name(const struct tally_sql_file *file, struct tally_error *error)
{
	int result = renameat2(AT_FDCWD, file->made, AT_FDCWD, file->path,
			       file->replace ? 0 : RENAME_NOREPLACE);

	if (result && errno == EINVAL && !file->replace) /* the file system cannot */
		result = access(file->path, F_OK) ? rename(file->made, file->path)
						  : (errno = EEXIST, -1);
	return result ? tally_fail(error, -errno, -1, "%s: cannot become %s: %s", file->made,
				   file->path, strerror(errno))
		      : 0;
}

int tally_sql_file_finish(struct tally_sql_file *file, struct tally_error *error)
{
	int result = give_name(file, error);

	if (!result)
		file->created = false;
	tally_sql_file_abandon(file);
	return result;
}
