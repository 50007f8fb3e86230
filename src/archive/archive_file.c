#include "archive/archive_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"

int tally_archive_file_open(const char *path, bool replace, uint64_t time,
			    struct tally_archive_file *ret, struct tally_error *error)
{
	struct tally_archive_file file = {.tar = NULL};
	/* A recording is for its owner only, and so is this. */
	int result =
	    tally_whole_file_open(path, replace ? WHOLE_FILE_REPLACE : 0, 0600, &file.file, error);

	if (result)
		return result;
	result = tally_tar_writer_new(file.file.fd, true, time, &file.tar);
	if (result == -ENOTSUP)
		result = tally_tar_writer_new(file.file.fd, false, time, &file.tar);
	if (result) {
		tally_archive_file_done(&file);
		return tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	}
	*ret = file;
	return 0;
}

int tally_archive_file_finish(struct tally_archive_file *file, uint64_t *ret_bytes,
			      struct tally_error *error)
{
	int result = tally_tar_writer_end(file->tar);
	struct stat about = {0};

	if (!result && fstat(file->file.fd, &about))
		result = -errno;
	if (close(file->file.fd) && !result)
		result = -errno;
	file->file.fd = -1;
	if (result)
		return tally_fail(error, result, -1, "%s: cannot be written: %s", file->file.path,
				  strerror(-result));
	*ret_bytes = (uint64_t)about.st_size;
	return tally_whole_file_name(&file->file, error);
}

void tally_archive_file_done(struct tally_archive_file *file)
{
	tally_tar_writer_free(file->tar);
	tally_whole_file_drop(&file->file);
	file->tar = NULL;
}
