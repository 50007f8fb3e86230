#include "archive/archive_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"

static int create(struct tally_archive_file *file, struct tally_error *error)
{
	if (!file->replace && !access(file->path, F_OK))
		return tally_fail(error, -EEXIST, -1,
				  "%s exists already; --force replaces it, or name another file "
				  "with -o",
				  file->path);
	/* A recording is for its owner only, and so is this. */
	file->fd = open(file->made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd >= 0)
		return 0;
	if (errno == EEXIST)
		return tally_fail(error, -EEXIST, -1,
				  "%s exists: another tally writes it, or was killed; remove it",
				  file->made);
	return tally_fail(error, -errno, -1, "%s: cannot be created: %s; name another file with -o",
			  file->made, strerror(errno));
}

int tally_archive_file_open(const char *path, bool replace, uint64_t time,
			    struct tally_archive_file *ret, struct tally_error *error)
{
	struct tally_archive_file file = {.fd = -1, .replace = replace, .path = strdup(path)};
	int result;

	if (asprintf(&file.made, "%s.tmp", path) < 0)
		file.made = NULL;
	if (!file.path || !file.made)
		result = tally_fail(error, -ENOMEM, -1, "%s: out of memory", path);
	else
		result = create(&file, error);
	if (!result) {
		result = tally_tar_writer_new(file.fd, true, time, &file.tar);
		if (result == -ENOTSUP)
			result = tally_tar_writer_new(file.fd, false, time, &file.tar);
		if (result)
			tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	}
	if (result)
		tally_archive_file_done(&file);
	else
		*ret = file;
	return result;
}

/* A file that was made in the meantime is not overwritten unasked. */
static int give_name(const struct tally_archive_file *file)
{
	int result = renameat2(AT_FDCWD, file->made, AT_FDCWD, file->path,
			       file->replace ? 0 : RENAME_NOREPLACE);

	if (result && errno == EINVAL && !file->replace) /* the file system cannot */
		result = access(file->path, F_OK) ? rename(file->made, file->path)
						  : (errno = EEXIST, -1);
	return result ? -errno : 0;
}

int tally_archive_file_finish(struct tally_archive_file *file, uint64_t *ret_bytes,
			      struct tally_error *error)
{
	int result = tally_tar_writer_end(file->tar);
	struct stat about = {0};

	if (!result && fstat(file->fd, &about))
		result = -errno;
	if (close(file->fd) && !result)
		result = -errno;
	file->fd = -1;
	if (!result)
		result = give_name(file);
	if (result)
		return tally_fail(error, result, -1, "%s: cannot be written: %s", file->path,
				  strerror(-result));
	free(file->made);
	file->made = NULL;
	*ret_bytes = (uint64_t)about.st_size;
	return 0;
}

void tally_archive_file_done(struct tally_archive_file *file)
{
	bool created = file->fd >= 0 || file->tar;

	tally_tar_writer_free(file->tar);
	if (file->fd >= 0)
		close(file->fd);
	if (created && file->made)
		unlink(file->made);
	free(file->made);
	free(file->path);
	*file = (struct tally_archive_file){.fd = -1};
}
