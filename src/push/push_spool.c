#include "push/push_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/regular.h"
#include "base/table.h"

#define DISK_BLOCK 4096ULL /* a file takes whole ones */
#define PART       "part-" /* a file that is being written: part-PID-NUMBER */
#define ENDING     ".push"
#define COPY_SIZE  65536
#define LOW_52     (((uint64_t)1 << 52) - 1)

/* --- the folder --- */

static int make_folder(const char *path)
{
	char *copy = strdup(path);
	int result = copy ? tally_fs_make_folders(copy, 0700) : -ENOMEM;

	free(copy);
	return result;
}

int tally_push_spool_open(struct push_spool *spool, const char *path, uint64_t most,
			  struct tally_error *error)
{
	struct stat about = {.st_mode = 0};
	int result = make_folder(path);

	*spool = (struct push_spool){.path = path, .most = most, .folder = -1, .lock = -1};
	if (!result)
		spool->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!result && (spool->folder < 0 || fstat(spool->folder, &about)))
		result = -errno;
	if (result) {
		tally_push_spool_close(spool);
		return tally_fail(error, result, -1, "the spool %s: %s", path, strerror(-result));
	}
	if (about.st_uid == geteuid() && !(about.st_mode & 022))
		return 0;
	tally_push_spool_close(spool);
	return tally_fail(error, -EPERM, -1,
			  "the spool %s: it must be your own, and only you may write it", path);
}

void tally_push_spool_close(struct push_spool *spool)
{
	tally_push_spool_unlock(spool);
	if (spool->folder >= 0)
		close(spool->folder);
	spool->folder = -1;
}

/* --- entries --- */

/* 20 digits, '-', 13 hexadecimal ones: the time in ns; who added it. */
static bool is_entry(const char *name)
{
	return strspn(name, "0123456789") == 20 && name[20] == '-' &&
	       strspn(name + 21, "0123456789abcdef") == 13 && !strcmp(name + 34, ENDING);
}

static uint64_t on_disk(uint64_t size)
{
	return (size + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct push_entry *)left)->name,
		      ((const struct push_entry *)right)->name);
}

/* The folder, to be walked; NULL with errno. */
static DIR *walk(const struct push_spool *spool)
{
	int fd = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

int tally_push_spool_list(const struct push_spool *spool, struct push_entry **ret,
			  size_t *ret_count)
{
	struct push_entry *list = NULL;
	size_t count = 0, room = 0;
	const struct dirent *entry;
	DIR *folder = walk(spool);
	struct stat about;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		if (!is_entry(entry->d_name) ||
		    fstatat(spool->folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(about.st_mode))
			continue;
		if (!array_next(&list, &room, count, 64, sizeof(*list))) {
			free(list);
			closedir(folder);
			return -ENOMEM;
		}
		memcpy(list[count].name, entry->d_name, strlen(entry->d_name) + 1);
		list[count++].size = (uint64_t)about.st_size;
	}
	closedir(folder);
	if (count)
		qsort(list, count, sizeof(*list), by_name);
	*ret = list;
	*ret_count = count;
	return 0;
}

int tally_push_spool_read(const struct push_spool *spool, const char *name, uint64_t *ret_size)
{
	int fd = openat(spool->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat about;

	if (fd < 0 || fstat(fd, &about)) {
		int result = -errno;

		if (fd >= 0)
			close(fd);
		return result;
	}
	*ret_size = (uint64_t)about.st_size;
	return fd;
}

int tally_push_spool_remove(const struct push_spool *spool, const char *name)
{
	return unlinkat(spool->folder, name, 0) ? -errno : 0;
}

/* Drops the oldest entries until `more` bytes fit. */
static int make_room(const struct push_spool *spool, uint64_t more, push_dropped dropped,
		     void *context)
{
	struct push_entry *list = NULL;
	uint64_t total = more;
	size_t count = 0;
	int result = tally_push_spool_list(spool, &list, &count);

	if (result)
		return result;
	for (size_t i = 0; i < count; i++)
		total += on_disk(list[i].size);
	for (size_t i = 0; i < count && total > spool->most; i++) {
		/* One that is gone was sent meanwhile. */
		if (!tally_push_spool_remove(spool, list[i].name))
			dropped(context, &list[i]);
		total -= on_disk(list[i].size);
	}
	free(list);
	return 0;
}

static int write_entry(int fd, const struct tally_buf *head, FILE *body, uint64_t size)
{
	char bytes[COPY_SIZE];
	int result = tally_fs_write(fd, head->data, head->size);

	while (size && !result) {
		size_t got = fread(bytes, 1, size < COPY_SIZE ? (size_t)size : COPY_SIZE, body);

		if (!got)
			return -EIO;
		result = tally_fs_write(fd, bytes, got);
		size -= got;
	}
	if (!result && fsync(fd))
		result = -errno;
	return result;
}

int tally_push_spool_add(struct push_spool *spool, const struct tally_buf *head, FILE *body,
			 uint64_t size, push_dropped dropped, void *context)
{
	uint64_t number = ((uint64_t)getpid() << 20 | (spool->added++ & 0xfffff)) & LOW_52;
	char part[SPOOL_NAME_SIZE], name[SPOOL_NAME_SIZE + 16];
	struct timespec now;
	int fd, result;

	if (on_disk(head->size + size) > spool->most)
		return -EFBIG;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(part, sizeof(part), PART "%u-%u", (unsigned)getpid(), spool->added);
	snprintf(name, sizeof(name), "%020" PRIu64 "-%013" PRIx64 ENDING,
		 (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, number);
	fd = openat(spool->folder, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	result = write_entry(fd, head, body, size);
	close(fd);
	if (!result)
		result = make_room(spool, on_disk(head->size + size), dropped, context);
	if (!result && renameat(spool->folder, part, spool->folder, name))
		result = -errno;
	if (result)
		unlinkat(spool->folder, part, 0);
	else if (fsync(spool->folder))
		result = -errno;
	return result;
}

/* --- who sends --- */

/* Whether the process that a part is named after still runs. */
static bool is_written(const char *name)
{
	long pid = strtol(name + strlen(PART), NULL, 10);

	return pid > 0 && (!kill((pid_t)pid, 0) || errno != ESRCH);
}

static void remove_parts(const struct push_spool *spool)
{
	DIR *folder = walk(spool);
	const struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (!strncmp(entry->d_name, PART, strlen(PART)) && !is_written(entry->d_name))
			unlinkat(spool->folder, entry->d_name, 0);
	closedir(folder);
}

int tally_push_spool_lock(struct push_spool *spool)
{
	int fd = openat(spool->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		int result = -errno;

		close(fd);
		return result;
	}
	spool->lock = fd;
	remove_parts(spool);
	return 0;
}

void tally_push_spool_unlock(struct push_spool *spool)
{
	if (spool->lock >= 0)
		close(spool->lock);
	spool->lock = -1;
}
