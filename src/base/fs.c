#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"

int tally_fs_read_open(int fd, size_t limit, char **ret, size_t *ret_size)
{
	struct tally_buf buf = {0};
	int error;

	for (;;) {
		ssize_t got;

		error = tally_buf_reserve(&buf, 4096);
		if (error)
			break;
		got = read(fd, buf.data + buf.size, buf.room - buf.size - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = -errno;
		if (got <= 0)
			break;
		buf.size += (size_t)got;
		if (buf.size > limit) {
			error = -EFBIG;
			break;
		}
	}
	if (error) {
		tally_buf_done(&buf);
		return error;
	}
	buf.data[buf.size] = 0;
	*ret = (char *)buf.data;
	if (ret_size)
		*ret_size = buf.size;
	return 0;
}

int tally_fs_read(const char *path, size_t limit, char **ret, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = tally_fs_read_open(fd, limit, ret, ret_size);
	close(fd);
	return error;
}

int tally_fs_readf(size_t limit, char **ret, size_t *ret_size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	return tally_fs_read(path, limit, ret, ret_size);
}

int tally_fs_read_number(const char *path, int64_t *ret)
{
	char *text = NULL, *at, *end, *digits;
	int error = tally_fs_read(path, 4096, &text, NULL);
	int64_t value;

	if (error)
		return error;
	/* Never base 0: sysfs pads some numbers with zeros, which are not octal. */
	at = text + strspn(text, " \t");
	digits = at + (*at == '-' || *at == '+');
	errno = 0;
	value = strtoll(at, &end, digits[0] == '0' && (digits[1] | 0x20) == 'x' ? 16 : 10);
	error = end == at || errno ? -EINVAL : 0;
	free(text);
	if (!error)
		*ret = value;
	return error;
}

int tally_fs_map(int fd, struct tally_mapped *ret)
{
	struct stat stat;
	void *data;

	if (fstat(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -ESPIPE;
	if (!stat.st_size) {
		*ret = (struct tally_mapped){0};
		return 0;
	}
	data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	*ret = (struct tally_mapped){.data = data, .size = (size_t)stat.st_size};
	return 0;
}

int tally_fs_map_path(const char *path, struct tally_mapped *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = tally_fs_map(fd, ret);
	close(fd);
	return error;
}

void tally_fs_unmap(struct tally_mapped *mapped)
{
	if (mapped->data)
		munmap((void *)mapped->data, mapped->size);
	*mapped = (struct tally_mapped){0};
}

int tally_fs_make_folders(char *path, mode_t mode)
{
	char *end = path, *failed = NULL;
	int error = 0, last;

	if (!*path)
		return -ENOENT;
	do {
		char before;

		end += 1 + strcspn(end + 1, "/");
		before = *end;
		*end = 0;
		last = mkdir(path, mode) && errno != EEXIST ? -errno : 0;
		*end = before;
		if (last && !failed) {
			error = last;
			failed = end;
		}
	} while (*end);
	if (last)
		*failed = 0;
	return last ? error : 0;
}

int tally_fs_write(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t wrote = write(fd, at, size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		at += wrote;
		size -= (size_t)wrote;
	}
	return 0;
}

int tally_fs_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t wrote = pwrite(fd, at, size, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		at += wrote;
		offset += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	return 0;
}

int tally_fs_copy(int from, uint64_t size, int to)
{
	off_t at = 0;

	while ((uint64_t)at < size) {
		ssize_t sent = sendfile(to, from, &at, (size_t)(size - (uint64_t)at));

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return sent ? -errno : -EIO;
	}
	return 0;
}

int tally_fs_is_file(const char *path, bool runs)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return runs && access(path, X_OK) ? -errno : 0;
}

int tally_fs_search(const char *folders, const char *name, bool runs, char ret[PATH_MAX])
{
	int best = -ENOENT;

	while (folders) {
		size_t length = strcspn(folders, ":");
		int made = snprintf(ret, PATH_MAX, "%.*s%s%s", (int)length, folders,
				    length ? "/" : "./", name);
		int result = made < PATH_MAX ? tally_fs_is_file(ret, runs) : -ENAMETOOLONG;

		if (!result)
			return 0;
		/* As in execvp(3), the search goes on after a file that may not be run.  A folder
		 * that may not be searched has none that is known of: so shells see it. */
		if (result == -EACCES && !access(ret, F_OK))
			best = result;
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return best;
}

int tally_fs_search_program(const char *name, char ret[PATH_MAX])
{
	const char *folders = getenv("PATH");

	return tally_fs_search(folders ? folders : "/bin:/usr/bin", name, true, ret);
}
