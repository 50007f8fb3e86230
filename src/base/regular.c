#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/fs.h"

/* File systems whose files are made by the kernel while they are read. */
static bool is_of_kernel(int fd)
{
	static const uint32_t kinds[] = {
	    PROC_SUPER_MAGIC, SYSFS_MAGIC,        TRACEFS_MAGIC,       DEBUGFS_MAGIC,
	    SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SELINUX_MAGIC,
	    PSTOREFS_MAGIC,   EFIVARFS_MAGIC,     BPF_FS_MAGIC,        BINDERFS_SUPER_MAGIC,
	};
	struct statfs about;

	if (fstatfs(fd, &about))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((uint32_t)about.f_type == kinds[i])
			return true;
	return false;
}

static int check(int fd, struct stat *ret)
{
	if (fstat(fd, ret))
		return -errno;
	return S_ISREG(ret->st_mode) && !is_of_kernel(fd) ? 0 : -ENODEV;
}

/* With O_PATH nothing is opened yet.  The file that was checked is then opened through procfs, so
 * that nobody can replace it in between. */
int tally_regular_open(const char *path, struct stat *ret)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd, error;
	char again[32];
	struct stat about;

	if (at < 0)
		return -errno;
	error = check(at, &about);
	if (error) {
		close(at);
		return error;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT) /* there is no procfs */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	error = fd < 0 ? -errno : check(fd, &about);
	close(at);
	if (error) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	if (ret)
		*ret = about;
	return fd;
}

bool tally_regular_is_owned(const struct stat *about)
{
	return !about->st_uid || about->st_uid == geteuid();
}

int tally_regular_read(const char *path, size_t limit, bool owned, char **ret, size_t *ret_size)
{
	struct stat about = {0};
	int fd = tally_regular_open(path, &about), error;

	if (fd < 0)
		return fd;
	error = owned && !tally_regular_is_owned(&about)
		    ? -EPERM
		    : tally_fs_read_open(fd, limit, ret, ret_size);
	close(fd);
	return error;
}
