#include "write/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/fail.h"
#include "write/target_folder.h"

/* Renames an old file, of which one is kept, as in perf. */
static int keep_old(const char *path, struct tally_error *error)
{
	struct tally_buf old = {0};
	int code = 0;

	tally_buf_text(&old, path);
	tally_buf_text(&old, ".old");
	if (old.failed) {
		tally_buf_done(&old);
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", path);
	}
	/* A file cannot replace a folder: the older recording of several files goes. */
	if (tally_file_folder_is_recording(tally_buf_str(&old)))
		(void)tally_file_folder_remove(tally_buf_str(&old));
	if (rename(path, tally_buf_str(&old))) {
		code = -errno;
		tally_fail(error, code, -1,
			   "%s: it exists and cannot be renamed to %s: %s; remove one of them or "
			   "record elsewhere with -o",
			   path, tally_buf_str(&old), strerror(-code));
	}
	tally_buf_done(&old);
	return code;
}

static int look(const char *path, bool *ret_null, bool *ret_kept, struct tally_error *error)
{
	struct stat stat_buf;

	if (stat(path, &stat_buf))
		return errno == ENOENT
			   ? 0
			   : tally_fail(error, -errno, -1, "%s: it cannot be checked: %s", path,
					strerror(errno));
	if (S_ISDIR(stat_buf.st_mode) && tally_file_folder_is_recording(path)) {
		*ret_kept = true;
		return keep_old(path, error);
	}
	if (S_ISDIR(stat_buf.st_mode))
		return tally_fail(error, -EISDIR, -1,
				  "%s: it is a directory; name a file, such as %s/perf.data", path,
				  path);
	if (S_ISCHR(stat_buf.st_mode) && stat_buf.st_rdev == makedev(1, 3)) {
		*ret_null = true;
		return 0;
	}
	if (!S_ISREG(stat_buf.st_mode))
		return tally_fail(error, -ESPIPE, -1,
				  "%s: it is not a regular file, so its header cannot be completed "
				  "at the end; name another file",
				  path);
	*ret_kept = stat_buf.st_size > 0;
	return *ret_kept ? keep_old(path, error) : 0;
}

int tally_file_target_open(const char *path, int *ret, bool *ret_kept, struct tally_error *error)
{
	bool kept = false;
	bool null = false;
	int code, fd;

	if (!*path)
		return tally_fail(error, -ENOENT, -1, "no file is given to record to");
	code = look(path, &null, &kept, error);
	if (code)
		return code;
	/* Recordings contain much about the recorded users, so only the owner may read them, as in
	 * perf. */
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (null ? 0 : O_TRUNC), 0600);
	if (fd < 0)
		return tally_fail(
		    error, -errno, -1, "%s: cannot be created: %s%s", path, strerror(errno),
		    errno == EACCES || errno == EROFS ? "; record where you may write, with -o"
						      : "");
	*ret = fd;
	if (ret_kept)
		*ret_kept = kept;
	return 0;
}

void tally_file_target_undo(const char *path, bool kept)
{
	struct tally_buf old = {0};
	struct stat about;

	if (stat(path, &about) || !S_ISREG(about.st_mode))
		return;
	tally_buf_text(&old, path);
	tally_buf_text(&old, ".old");
	if (!kept || old.failed || rename(tally_buf_str(&old), path))
		unlink(path);
	tally_buf_done(&old);
}
