#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"

static int refuse(struct tally_error *error, const char *path, int code)
{
	return tally_fail(error, code, -1, "cannot write %s: %s; name another file", path,
			  strerror(-code));
}

static bool is_standard_output(const struct stat *about)
{
	struct stat output;

	return !fstat(STDOUT_FILENO, &output) && output.st_dev == about->st_dev &&
	       output.st_ino == about->st_ino;
}

/* The offset of standard output goes on: what was written to it before is kept. */
static int open_direct(const struct stat *about, struct whole_file *file, struct tally_error *error)
{
	file->fd = is_standard_output(about) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
					     : open(file->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return file->fd < 0 ? refuse(error, file->path, -errno) : 0;
}

static int create(struct whole_file *file, mode_t mode, struct tally_error *error)
{
	char *incomplete;

	if (asprintf(&incomplete, "%s.%ld.tmp", file->path, (long)getpid()) < 0)
		return -ENOMEM;
	file->incomplete = incomplete;
	file->fd = open(file->incomplete, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return file->fd < 0 ? refuse(error, file->path, -errno) : 0;
}

/* A link stays: the file that it leads to is replaced. */
static int follow(struct whole_file *file, struct tally_error *error)
{
	char *path = realpath(file->path, NULL);

	if (!path)
		return refuse(error, file->path, -errno);
	free(file->path);
	file->path = path;
	return 0;
}

static int open_at(struct whole_file *file, mode_t mode, struct tally_error *error)
{
	bool direct = file->may & WHOLE_FILE_DIRECT;
	struct stat about;
	int result = 0;

	if (stat(file->path, &about))
		return errno == ENOENT ? create(file, mode, error)
				       : refuse(error, file->path, -errno);
	if (S_ISDIR(about.st_mode))
		return refuse(error, file->path, -EISDIR);
	if (direct && (!S_ISREG(about.st_mode) || is_standard_output(&about)))
		return open_direct(&about, file, error);
	if (!S_ISREG(about.st_mode))
		return tally_fail(
		    error, -ENODEV, -1,
		    "%s is not a regular file, which is needed here; name another file",
		    file->path);
	if (!(file->may & WHOLE_FILE_REPLACE))
		return tally_fail(error, -EEXIST, -1,
				  "%s exists; --force replaces it, or name another file",
				  file->path);
	result = follow(file, error);
	return result ? result : create(file, mode, error);
}

int tally_whole_file_open(const char *path, unsigned may, mode_t mode, struct whole_file *ret,
			  struct tally_error *error)
{
	struct whole_file file = {.fd = -1, .path = strdup(path), .may = may};
	int result = file.path ? open_at(&file, mode, error) : -ENOMEM;

	if (!result) {
		*ret = file;
		return 0;
	}
	free(file.incomplete);
	free(file.path);
	return result == -ENOMEM ? tally_fail(error, result, -1, "%s: out of memory", path)
				 : result;
}

FILE *tally_whole_file_stream(struct whole_file *file)
{
	FILE *stream = fdopen(file->fd, "w");

	if (stream)
		file->fd = -1;
	return stream;
}

int tally_whole_file_name(struct whole_file *file, struct tally_error *error)
{
	bool replace = file->may & WHOLE_FILE_REPLACE;
	int result;

	if (!file->incomplete)
		return 0;
	result = renameat2(AT_FDCWD, file->incomplete, AT_FDCWD, file->path,
			   replace ? 0 : RENAME_NOREPLACE);
	if (result && (errno == EINVAL || errno == ENOSYS) && !replace) /* the file system cannot */
		result = access(file->path, F_OK) ? rename(file->incomplete, file->path)
						  : (errno = EEXIST, -1);
	if (result)
		return tally_fail(error, -errno, -1, "%s: cannot become %s: %s", file->incomplete,
				  file->path, strerror(errno));
	free(file->incomplete);
	file->incomplete = NULL;
	return 0;
}

void tally_whole_file_drop(struct whole_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->incomplete)
		unlink(file->incomplete);
	free(file->incomplete);
	free(file->path);
	*file = (struct whole_file){.fd = -1};
}
