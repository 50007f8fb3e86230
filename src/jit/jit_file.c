#include "jit/jit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "base/own_pid.h"
#include "base/regular.h"

#define STATUS_MOST 65536
#define PATH_ROOM   4608
#define PIECE_SIZE  65536U

/* A name like "perf-123.map". */
static bool has_number(const char *name, const char *before, const char *behind, uint32_t *ret)
{
	size_t length = strlen(before);
	unsigned long number;
	char *end;

	if (strncmp(name, before, length) != 0 || name[length] < '1' || name[length] > '9')
		return false;
	errno = 0;
	number = strtoul(name + length, &end, 10);
	if (errno || number > INT32_MAX || strcmp(end, behind) != 0)
		return false;
	*ret = (uint32_t)number;
	return true;
}

bool tally_jit_is_dump(const char *path, uint32_t *ret_pid)
{
	const char *slash = strrchr(path, '/');

	return has_number(slash ? slash + 1 : path, "jit-", ".dump", ret_pid);
}

bool tally_jit_is_map(const char *path, uint32_t *ret_pid)
{
	return has_number(path, "/tmp/perf-", ".map", ret_pid);
}

uint32_t tally_jit_inner_pid(const char *root, uint32_t pid)
{
	char *status, *line;
	unsigned long inner;

	pid = own_pid(pid);
	inner = pid;
	if (!pid || tally_fs_readf(STATUS_MOST, &status, NULL, "%s/proc/%u/status", root, pid))
		return pid;
	line = strstr(status, "\nNStgid:");
	/* Outermost first: another number than `pid` if a later process's thread has that of one
	 * that ended. */
	if (line && strtoul(line + 8, NULL, 10) == pid) {
		char *at = line + 8, *end = at;

		for (;;) {
			unsigned long number = strtoul(at, &end, 10);

			if (end == at)
				break;
			inner = number;
			at = end;
			if (*at == '\n')
				break;
		}
	}
	free(status);
	return inner && inner <= UINT32_MAX ? (uint32_t)inner : pid;
}

static bool is_trusted(const char *root, uint32_t pid, const struct stat *about)
{
	char path[PATH_ROOM];
	struct stat process;

	if (tally_regular_is_owned(about))
		return true;
	pid = own_pid(pid);
	return pid && snprintf(path, sizeof(path), "%s/proc/%u", root, pid) < (int)sizeof(path) &&
	       !stat(path, &process) && process.st_uid == about->st_uid;
}

int tally_jit_open(const char *root, uint32_t pid, const char *path, struct stat *ret)
{
	struct stat about;
	int fd;

	if (lstat(path, &about))
		return -errno;
	*ret = about;
	/* Of a link both owners count: that of the link chose the file. */
	if (!is_trusted(root, pid, &about))
		return -EPERM;
	fd = tally_regular_open(path, &about);
	if (fd < 0)
		return fd;
	*ret = about;
	if (is_trusted(root, pid, &about))
		return fd;
	close(fd);
	return -EPERM;
}

/* Links on the way lead to files of the same container; the file itself must be none. */
static int open_below(int folder, const char *path, struct stat *ret)
{
	const struct open_how how = {
	    .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int at = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how)), fd;
	char name[64];

	if (at < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	fd = fstat(at, ret) || S_ISLNK(ret->st_mode) ? -ENOENT : tally_regular_open(name, ret);
	close(at);
	return fd;
}

int tally_jit_open_below(int folder, uid_t owner, const char *path, struct stat *ret)
{
	int fd = open_below(folder, path, ret);

	if (fd < 0 || tally_regular_is_owned(ret) || ret->st_uid == owner)
		return fd;
	close(fd);
	return -EPERM;
}

int tally_jit_open_inside(const char *root, uint32_t pid, const char *path, struct stat *ret)
{
	char name[PATH_ROOM];
	int folder, fd;

	pid = own_pid(pid);
	if (!pid || snprintf(name, sizeof(name), "%s/proc/%u/root", root, pid) >= (int)sizeof(name))
		return -ENOENT;
	folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	fd = open_below(folder, path, ret);
	close(folder);
	if (fd < 0 || is_trusted(root, pid, ret))
		return fd;
	close(fd);
	return -EPERM;
}

int tally_jit_open_named(const char *root, const char *name, struct stat *ret)
{
	char inside[64];
	uint32_t pid;
	int fd;

	if (tally_jit_is_map(name, &pid)) {
		snprintf(inside, sizeof(inside), "/tmp/perf-%u.map",
			 tally_jit_inner_pid(root, pid));
		fd = tally_jit_open_inside(root, pid, inside, ret);
	} else if (tally_jit_is_dump(name, &pid)) {
		fd = tally_jit_open_inside(root, pid, name, ret);
	} else {
		return -ENOENT;
	}
	return fd < 0 ? tally_jit_open(root, pid, name, ret) : fd;
}

uint32_t tally_jit_id_size(const uint8_t id[20])
{
	return load_u32(id + 16);
}

int tally_jit_file_id(int fd, uint32_t size, uint8_t ret[20])
{
	uint64_t first = 0x6a6974, second = 0x6d6170;
	uint8_t *bytes = malloc(PIECE_SIZE);
	uint32_t place = 0;
	int result = bytes ? 0 : -ENOMEM;

	while (place < size && !result) {
		size_t wanted = size - place < PIECE_SIZE ? size - place : PIECE_SIZE;
		ssize_t got = pread(fd, bytes, wanted, (off_t)place);

		if (got != (ssize_t)wanted) {
			result = got < 0 ? -errno : -ENODATA;
		} else {
			uint64_t hash = tally_hash_bytes(bytes, wanted);

			first = hash_mix(first, hash);
			second = hash_mix(hash_u64(hash), second);
			place += (uint32_t)wanted;
		}
	}
	free(bytes);
	if (result)
		return result;
	store_u64(ret, first);
	store_u64(ret + 8, second);
	store_u32(ret + 16, size);
	return 0;
}
