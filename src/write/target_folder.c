#include "write/target_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/fail.h"
#include "write/kernel_copy.h"

/* "data", "data.0", ...: what this writes. */
static bool is_part(const char *name)
{
	if (strncmp(name, "data", 4) != 0)
		return false;
	if (!name[4])
		return true;
	return name[4] == '.' && isdigit((unsigned char)name[5]) &&
	       strspn(name + 5, "0123456789") == strlen(name + 5);
}

bool tally_file_folder_is_recording(const char *path)
{
	struct stat about;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is;

	if (folder < 0)
		return false;
	is = !fstatat(folder, "data", &about, AT_SYMLINK_NOFOLLOW) && S_ISREG(about.st_mode);
	close(folder);
	return is;
}

/* The copy of the kernel: write/kernel_copy.h. */
static int remove_kernel_copy(int folder)
{
	static const char *const names[] = {"kallsyms", "modules", "kcore"};
	int copy = openat(folder, TALLY_KERNEL_COPY_FOLDER,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (copy < 0)
		return errno == ENOENT ? 0 : -errno;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(copy, names[i], 0);
	close(copy);
	return unlinkat(folder, TALLY_KERNEL_COPY_FOLDER, AT_REMOVEDIR) ? -errno : 0;
}

int tally_file_folder_remove(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int code = 0;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder)) && !code)
		if (is_part(entry->d_name) && unlinkat(dirfd(folder), entry->d_name, 0))
			code = -errno;
	if (!code)
		code = remove_kernel_copy(dirfd(folder));
	closedir(folder);
	return !code && rmdir(path) ? -errno : code;
}

static int keep_old(const char *path, struct tally_error *error)
{
	char *old = NULL;
	int code = 0;

	if (asprintf(&old, "%s.old", path) < 0)
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", path);
	/* rename(2) replaces neither a folder by a file nor one that has files. */
	if (tally_file_folder_is_recording(old))
		code = tally_file_folder_remove(old);
	else if (unlink(old) && errno != ENOENT)
		code = -errno;
	if (!code && rename(path, old))
		code = -errno;
	if (code)
		tally_fail(error, code, -1,
			   "%s: it exists and cannot be renamed to %s: %s; remove one of them or "
			   "record elsewhere with -o",
			   path, old, strerror(-code));
	free(old);
	return code;
}

int tally_file_folder_open(const char *path, int *ret, bool *ret_kept, struct tally_error *error)
{
	struct stat about;
	bool kept = false;
	int folder, fd, code;

	if (!lstat(path, &about)) {
		if (!S_ISREG(about.st_mode) && !tally_file_folder_is_recording(path))
			return tally_fail(
			    error, -EEXIST, -1,
			    "%s: it is neither a file nor a recording: a folder of that "
			    "name cannot be made; record elsewhere with -o",
			    path);
		kept = true;
		code = keep_old(path, error);
		if (code)
			return code;
	}
	/* For the owner only, as the files in it. */
	if (mkdir(path, 0700)) {
		code = tally_fail(error, -errno, -1, "%s: cannot be created: %s", path,
				  strerror(errno));
		tally_file_folder_undo(path, kept);
		return code;
	}
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = folder < 0 ? -1 : openat(folder, "data", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	code = fd < 0 ? tally_fail(error, -errno, -1, "%s/data: cannot be created: %s", path,
				   strerror(errno))
		      : 0;
	if (folder >= 0)
		close(folder);
	if (code) {
		tally_file_folder_undo(path, kept);
		return code;
	}
	*ret = fd;
	*ret_kept = kept;
	return 0;
}

void tally_file_folder_undo(const char *path, bool kept)
{
	char *old = NULL;

	if (tally_file_folder_is_recording(path))
		(void)tally_file_folder_remove(path);
	else
		(void)rmdir(path);
	if (kept && asprintf(&old, "%s.old", path) >= 0 && rename(old, path))
		unlink(path); /* nothing that could be read */
	free(old);
}
