#include "base/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/table.h"

/* A file that was used within so many seconds is not marked again. */
#define MARK_EVERY 60
/* What a killed writer left is removed when it is so many seconds old. */
#define PART_OLD 600
/* Files of the folder that are looked at. */
#define FILES_MOST 65536

static const char limit_name[] = "limit";

/* Root with another user's home (sudo) must not leave files of root's there, nor follow links. */
static bool is_own(const char *path)
{
	struct stat about;

	return !stat(path, &about) && about.st_uid == geteuid();
}

/* A cache folder that is not there yet will be made, where the home is ours. */
static bool is_own_cache(const char *cache, const char *home)
{
	struct stat about;

	if (!stat(cache, &about))
		return about.st_uid == geteuid();
	return errno == ENOENT && home && is_own(home);
}

char *tally_cache_folder(const char *given)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char *folder = NULL;
	int length = 0;

	if (given)
		return *given ? strdup(given) : NULL;
	if (cache && cache[0] == '/') { /* relative ones are void by the XDG specification */
		if (is_own_cache(cache, home))
			length = asprintf(&folder, "%s/tally", cache);
	} else if (home && home[0] == '/' && is_own(home)) {
		length = asprintf(&folder, "%s/.cache/tally", home);
	}
	return length < 0 ? NULL : folder;
}

/* Ours, and nobody else's to write: what is in there names what people look at. */
static bool is_safe(int fd, mode_t type)
{
	struct stat about;

	return !fstat(fd, &about) && (about.st_mode & S_IFMT) == type &&
	       about.st_uid == geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH));
}

static int open_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!is_safe(fd, S_IFDIR)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int make_folders(const char *folder)
{
	char *path = strdup(folder);
	int error = path ? tally_fs_make_folders(path, 0700) : -ENOMEM;

	free(path);
	return error;
}

static int open_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (!is_safe(fd, S_IFREG)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static void mark_used(int fd)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
	struct stat about;

	if (!fstat(fd, &about) && time(NULL) - about.st_mtim.tv_sec >= MARK_EVERY)
		(void)futimens(fd, times); /* of a file system that is read only it stays */
}

static int map(const char *folder, const char *name, bool use, struct tally_mapped *ret)
{
	int at = open_folder(folder), fd, error;

	if (at < 0)
		return at;
	fd = open_file(at, name);
	close(at);
	if (fd < 0)
		return fd;
	error = tally_fs_map(fd, ret);
	if (!error && use)
		mark_used(fd);
	close(fd);
	return error;
}

int tally_cache_map(const char *folder, const char *name, struct tally_mapped *ret)
{
	return map(folder, name, true, ret);
}

int tally_cache_peek(const char *folder, const char *name, struct tally_mapped *ret)
{
	return map(folder, name, false, ret);
}

/* --- listing --- */

struct file {
	char name[TALLY_CACHE_NAME_MOST];
	uint64_t size;
	int64_t used;
};

struct files {
	struct file *list;
	size_t count, room;
};

/* Names of files that are being written have a dot. */
static bool is_part(const char *name)
{
	return strchr(name, '.') != NULL;
}

static int add(struct files *files, const char *name, const struct stat *about)
{
	struct file *file;

	if (files->count == files->room) {
		size_t room = files->room ? files->room * 2 : 64;

		if (room > FILES_MOST || !array_resize(&files->list, room, sizeof(*files->list)))
			return -ENOMEM;
		files->room = room;
	}
	file = &files->list[files->count++];
	snprintf(file->name, sizeof(file->name), "%s", name);
	file->size = (uint64_t)about->st_size;
	file->used = about->st_mtim.tv_sec;
	return 0;
}

/* Also removes what killed writers left. */
static int list_files(int at, struct files *ret)
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	int64_t now = time(NULL);
	struct dirent *entry;

	if (!folder) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	while (!error && (entry = readdir(folder))) {
		struct stat about;

		if (!strcmp(entry->d_name, limit_name) || entry->d_name[0] == '.' ||
		    strlen(entry->d_name) >= TALLY_CACHE_NAME_MOST + 32 ||
		    fstatat(at, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(about.st_mode) || about.st_uid != geteuid())
			continue;
		if (!is_part(entry->d_name))
			error = strlen(entry->d_name) < TALLY_CACHE_NAME_MOST
				    ? add(ret, entry->d_name, &about)
				    : 0;
		else if (now - about.st_mtim.tv_sec > PART_OLD)
			unlinkat(at, entry->d_name, 0);
	}
	closedir(folder);
	return error;
}

static int by_name(const void *a, const void *b)
{
	const struct file *one = a, *other = b;

	return strcmp(one->name, other->name);
}

int tally_cache_each(const char *folder, tally_cache_visit visit, void *context)
{
	struct files files = {0};
	int at = open_folder(folder), error;

	if (at < 0)
		return at;
	error = list_files(at, &files);
	close(at);
	if (files.count)
		qsort(files.list, files.count, sizeof(*files.list), by_name);
	for (size_t i = 0; i < files.count && !error; i++) {
		const struct tally_cache_entry entry = {files.list[i].name, files.list[i].size,
							files.list[i].used};

		error = visit(context, &entry);
	}
	free(files.list);
	return error;
}

int tally_cache_remove(const char *folder, const char *name)
{
	int at = open_folder(folder), error = 0;

	if (at < 0)
		return at;
	if (unlinkat(at, name, 0))
		error = -errno;
	close(at);
	return error;
}

/* --- the limit --- */

static uint64_t read_limit(int at)
{
	int fd = open_file(at, limit_name);
	uint64_t limit = TALLY_CACHE_LIMIT;
	char *text, *end;

	if (fd < 0)
		return limit;
	if (!tally_fs_read_open(fd, 64, &text, NULL)) {
		unsigned long long value = strtoull(text, &end, 10);

		if (end != text && (!*end || *end == '\n'))
			limit = value;
		free(text);
	}
	close(fd);
	return limit;
}

/* The longest unused last; of equal ones the larger. */
static int by_use(const void *a, const void *b)
{
	const struct file *one = a, *other = b;

	if (one->used != other->used)
		return one->used > other->used ? -1 : 1;
	return one->size < other->size ? -1 : one->size > other->size;
}

/* `kept` was just written, and goes last. */
static void trim(int at, uint64_t limit, const char *kept)
{
	struct files files = {0};
	uint64_t total = 0;

	if (!list_files(at, &files)) {
		for (size_t i = 0; i < files.count; i++) {
			total += files.list[i].size;
			if (!strcmp(files.list[i].name, kept))
				files.list[i].used = INT64_MAX;
		}
		if (files.count)
			qsort(files.list, files.count, sizeof(*files.list), by_use);
		for (size_t i = files.count; i && total > limit; i--)
			if (!unlinkat(at, files.list[i - 1].name, 0))
				total -= files.list[i - 1].size;
	}
	free(files.list);
}

uint64_t tally_cache_limit(const char *folder)
{
	int at = open_folder(folder);
	uint64_t limit = at < 0 ? TALLY_CACHE_LIMIT : read_limit(at);

	if (at >= 0)
		close(at);
	return limit;
}

int tally_cache_set_limit(const char *folder, uint64_t limit)
{
	struct tally_cache_writer writer = {.fd = -1};
	char text[32];
	int length = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)limit);
	int error = tally_cache_begin(folder, limit_name, &writer);

	return error ? error : tally_cache_end(&writer, text, (size_t)length);
}

/* --- writing --- */

int tally_cache_begin(const char *folder, const char *name, struct tally_cache_writer *ret)
{
	struct tally_cache_writer writer;
	int error = make_folders(folder);
	uint64_t random;

	if (strlen(name) >= sizeof(writer.name))
		return -ENAMETOOLONG;
	memset(&writer, 0, sizeof(writer));
	writer.folder = open_folder(folder);
	if (writer.folder < 0)
		return error ? error : writer.folder;
	memcpy(writer.name, name, strlen(name) + 1);
	writer.most = read_limit(writer.folder);
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)gettid();
	snprintf(writer.part, sizeof(writer.part), "%s.%016llx", name, (unsigned long long)random);
	writer.fd = openat(writer.folder, writer.part,
			   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (writer.fd < 0) {
		error = -errno;
		close(writer.folder);
		return error;
	}
	*ret = writer;
	return 0;
}

uint64_t tally_cache_put(struct tally_cache_writer *writer, const void *bytes, size_t size)
{
	uint64_t start = align_up(writer->at, 8);

	if (!writer->error && (size > writer->most || start > writer->most - size))
		writer->error = -EFBIG;
	if (!writer->error)
		writer->error = tally_fs_write_at(writer->fd, bytes, size, start);
	writer->at = start + size;
	return start;
}

int tally_cache_end(struct tally_cache_writer *writer, const void *head, size_t size)
{
	int error = writer->error;

	if (!error)
		error = tally_fs_write_at(writer->fd, head, size, 0);
	if (close(writer->fd) && !error)
		error = -errno;
	if (!error && renameat(writer->folder, writer->part, writer->folder, writer->name))
		error = -errno;
	if (error)
		unlinkat(writer->folder, writer->part, 0);
	else
		trim(writer->folder, read_limit(writer->folder), writer->name);
	close(writer->folder);
	return error;
}
