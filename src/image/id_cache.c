/* Every folder on the way is opened one by one, from the cache's own on, and no link among them is
 * followed: whoever else can write there gains nothing.  What is read is opened once, looked at and
 * copied by its descriptor.  A copy has a name of its own until it is whole. */
#include "image/id_cache.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/regular.h"
#include "elf/build_id.h"
#include "image/image.h"
#include "jit/jit_file.h"

#define FOLDER_FLAGS   (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define PARTS_MOST     64
#define KALLSYMS_LIMIT ((size_t)256 << 20)
#define VDSO_MOST      ((size_t)1 << 20)

static const char *const leaves[] = {"elf", "kallsyms", "vdso"};

static const char *leaf_of(const char *path)
{
	if (path[0] == '/')
		return leaves[0];
	return !strcmp(path, "[vdso]") ? leaves[2] : leaves[1];
}

/* --- the folder --- */

static int open_folder(const char *path, int *ret)
{
	struct stat status;
	int fd;

	if (mkdir(path, 0755) && errno != EEXIST)
		return -errno;
	/* a link to elsewhere is the user's own choice: the owner of what it leads to counts */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || status.st_uid != geteuid() ||
	    status.st_mode & (S_IWOTH | S_IWGRP)) {
		close(fd);
		return -EPERM;
	}
	*ret = fd;
	return 0;
}

/* A folder in another one, made when it is not there; or -errno. */
static int enter(int folder, const char *name)
{
	int fd = openat(folder, name, FOLDER_FLAGS);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(folder, name, 0755) && errno != EEXIST)
			return -errno;
		fd = openat(folder, name, FOLDER_FLAGS);
	}
	return fd < 0 ? -errno : fd;
}

int tally_id_cache_open(struct tally_id_cache *cache, const char *folder, struct tally_error *error)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	int result;

	cache->folder = cache->ids = -1;
	cache->used = 0;
	cache->counted = false;
	if (!folder && (!home || !*home))
		return tally_fail(error, -ENOENT, -1,
				  "no build-id cache: HOME is not set; name a folder for it");
	if ((folder ? snprintf(path, sizeof(path), "%s", folder)
		    : snprintf(path, sizeof(path), "%s/.debug", home)) >= (int)sizeof(path))
		return tally_fail(error, -ENAMETOOLONG, -1,
				  "no build-id cache: its folder's name is too long");
	result = open_folder(path, &cache->folder);
	if (!result) {
		cache->ids = enter(cache->folder, ".build-id");
		result = cache->ids < 0 ? cache->ids : 0;
	}
	if (!result)
		return 0;
	tally_id_cache_close(cache);
	return tally_fail(error, result, -1, "no build-id cache in %s: %s", path,
			  result == -EPERM ? "it belongs to another user, or others may write it"
					   : strerror(-result));
}

void tally_id_cache_close(struct tally_id_cache *cache)
{
	if (cache->ids >= 0)
		close(cache->ids);
	if (cache->folder >= 0)
		close(cache->folder);
	cache->folder = cache->ids = -1;
}

/* --- how much is there --- */

static void count_ids(struct tally_id_cache *cache, const char *two)
{
	int fd = openat(cache->ids, two, FOLDER_FLAGS);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(folder))) {
		for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
			char path[NAME_MAX + 16];
			struct stat status;

			snprintf(path, sizeof(path), "%s/%s", entry->d_name, leaves[i]);
			if (entry->d_name[0] != '.' && !fstatat(fd, path, &status, 0))
				cache->used += (uint64_t)status.st_size;
		}
	}
	closedir(folder);
}

static int make_room(struct tally_id_cache *cache, uint64_t size)
{
	if (size > cache->file_most)
		return -EFBIG;
	if (!cache->counted) {
		for (unsigned i = 0; i < 256; i++) {
			char two[3];

			snprintf(two, sizeof(two), "%02x", i);
			count_ids(cache, two);
		}
		cache->counted = true;
	}
	return cache->used > cache->all_most || size > cache->all_most - cache->used ? -EFBIG : 0;
}

/* --- copies --- */

struct source {
	int fd;     /* of a file; -1: `bytes` */
	char *text; /* what to free() */
	const void *bytes;
	uint64_t size;
	mode_t mode;
	bool compiled; /* of code made at run time: jit_file.h */
};

static bool is_build(int fd, const uint8_t *id, uint8_t id_size)
{
	uint8_t found[20], size;

	return !tally_image_read_build_id_fd(fd, found, &size) &&
	       tally_build_id_equal(found, size, id, id_size);
}

static bool is_compiled(int fd, const uint8_t *id)
{
	uint8_t found[20];

	return !tally_jit_file_id(fd, tally_jit_id_size(id), found) &&
	       !memcmp(found, id, sizeof(found));
}

/* The part that the id is of: more may have been added since. */
static int open_compiled(const char *path, const uint8_t *id, uint8_t id_size, struct source *ret)
{
	struct stat status;

	ret->fd = id_size == 20 ? tally_jit_open_named("", path, &status) : -ENOENT;
	if (ret->fd < 0)
		return ret->fd == -ENODEV ? -ENOENT : ret->fd;
	ret->size = tally_jit_id_size(id);
	ret->mode = 0644;
	ret->compiled = true;
	return is_compiled(ret->fd, id) ? 0 : -ESTALE;
}

static int open_file(const char *path, const uint8_t *id, uint8_t id_size, struct source *ret)
{
	struct stat status;
	uint32_t pid;

	if (tally_jit_is_map(path, &pid) || tally_jit_is_dump(path, &pid))
		return open_compiled(path, id, id_size, ret);
	ret->fd = tally_regular_open(path, &status);
	if (ret->fd < 0)
		return ret->fd == -ENODEV ? -ENOENT : ret->fd;
	ret->size = (uint64_t)status.st_size;
	ret->mode = status.st_mode & 0755;
	return is_build(ret->fd, id, id_size) ? 0 : -ESTALE;
}

/* Whether any address is shown. */
static bool shows_addresses(const char *text)
{
	while (*text) {
		size_t zeros = strspn(text, "0");

		if (text[zeros] != ' ')
			return true;
		text = strchr(text, '\n');
		if (!text)
			return false;
		text++;
	}
	return false;
}

static int read_kernel(const uint8_t *id, uint8_t id_size, struct source *ret)
{
	uint8_t running[20], running_size;
	size_t size;
	int result = tally_image_kernel_build_id(NULL, running, &running_size);

	if (result)
		return result;
	if (!tally_build_id_equal(running, running_size, id, id_size))
		return -ESTALE;
	result = tally_fs_read("/proc/kallsyms", KALLSYMS_LIMIT, &ret->text, &size);
	if (result)
		return result;
	ret->bytes = ret->text;
	ret->size = size;
	ret->mode = 0600; /* addresses that others may not be allowed to see */
	return shows_addresses(ret->text) ? 0 : -EACCES;
}

/* The kernel's own copy is mapped into this process, too. */
static int find_vdso(struct source *ret)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	unsigned long from, until;
	char *maps, *line, *end;
	int result = tally_fs_read("/proc/self/maps", KALLSYMS_LIMIT, &maps, NULL);

	if (result)
		return result;
	result = -ENOENT;
	for (line = maps; vdso && *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		from = strtoul(line, &line, 16);
		if (from != vdso || *line != '-')
			continue;
		until = strtoul(line + 1, NULL, 16);
		if (until > from && until - from <= VDSO_MOST) {
			ret->bytes = (const void *)vdso;
			ret->size = until - from;
			ret->mode = 0644;
			result = 0;
		}
		break;
	}
	free(maps);
	return result;
}

static int copy_file(const struct source *source, int to)
{
	/* file systems that can share the blocks take no time and no room */
	if (!source->compiled && !ioctl(to, FICLONE, source->fd))
		return 0;
	return tally_fs_copy(source->fd, source->size, to);
}

/* Writes the source under its name into the folder of the build. */
static int put(const struct source *source, int folder, const char *leaf, const uint8_t *id,
	       uint8_t id_size)
{
	bool elf = leaf != leaves[1];
	char name[64];
	int fd, result;

	snprintf(name, sizeof(name), "%s.%ld.new", leaf, (long)getpid());
	(void)unlinkat(folder, name, 0);
	fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	result = source->fd >= 0 ? copy_file(source, fd)
				 : tally_fs_write(fd, source->bytes, source->size);
	/* it may have been written over meanwhile */
	if (!result && elf && !(source->compiled ? is_compiled(fd, id) : is_build(fd, id, id_size)))
		result = -ESTALE;
	if (!result && fchmod(fd, source->mode))
		result = -errno;
	if (close(fd) && !result)
		result = -errno;
	if (!result && renameat(folder, name, folder, leaf))
		result = -errno;
	if (result)
		(void)unlinkat(folder, name, 0);
	return result;
}

/* Opens, and makes, the folder of a path and build below the cache; or -errno. */
static int enter_path(const struct tally_id_cache *cache, const char *path, const char *id)
{
	int at = fcntl(cache->folder, F_DUPFD_CLOEXEC, 0);
	unsigned parts = 0;

	while (at >= 0 && *path) {
		size_t length = strcspn(path, "/");
		char name[NAME_MAX + 1];
		int next;

		if (length) {
			if (length > NAME_MAX || parts++ == PARTS_MOST) {
				close(at);
				return -ENAMETOOLONG;
			}
			memcpy(name, path, length);
			name[length] = '\0';
			next =
			    !strcmp(name, "..") || !strcmp(name, ".") ? -EINVAL : enter(at, name);
			close(at);
			at = next;
		}
		path += length + (path[length] == '/');
	}
	if (at >= 0) {
		int next = enter(at, id);

		close(at);
		at = next;
	}
	return at;
}

/* .build-id/AB/CDEF... -> ../../PATH/ID */
static int put_link(const struct tally_id_cache *cache, const char *path, const char *id)
{
	char two[3] = {id[0], id[1], '\0'}, target[PATH_MAX];
	int folder, result = 0;

	if (snprintf(target, sizeof(target), "../../%s/%s", path + strspn(path, "/"), id) >=
	    (int)sizeof(target))
		return -ENAMETOOLONG;
	folder = enter(cache->ids, two);
	if (folder < 0)
		return folder;
	/* one that is there leads nowhere */
	(void)unlinkat(folder, id + 2, 0);
	if (symlinkat(target, folder, id + 2) && errno != EEXIST)
		result = -errno;
	close(folder);
	return result;
}

static int add(struct tally_id_cache *cache, const char *path, const struct source *source,
	       const uint8_t *id, uint8_t id_size, const char *text)
{
	int folder, result = make_room(cache, source->size);

	if (result)
		return result;
	folder = enter_path(cache, path, text);
	if (folder < 0)
		return folder;
	result = put(source, folder, leaf_of(path), id, id_size);
	close(folder);
	if (!result)
		result = put_link(cache, path, text);
	if (result)
		return result;
	cache->used += source->size;
	return 1;
}

int tally_id_cache_add(struct tally_id_cache *cache, const char *path, const uint8_t *id,
		       uint8_t id_size)
{
	char text[TALLY_BUILD_ID_TEXT], known[TALLY_BUILD_ID_TEXT + 16];
	struct source source = {.fd = -1};
	struct stat status;
	int result;

	if (id_size < 2 || id_size > 20)
		return -ENOENT;
	tally_build_id_format(id, id_size, text);
	snprintf(known, sizeof(known), "%.2s/%s/%s", text, text + 2, leaf_of(path));
	if (!fstatat(cache->ids, known, &status, 0))
		return 0;
	if (path[0] == '/')
		result = open_file(path, id, id_size, &source);
	else if (!strcmp(path, "[vdso]"))
		result = find_vdso(&source);
	else if (!strncmp(path, "[kernel.kallsyms]", 17))
		result = read_kernel(id, id_size, &source);
	else
		result = -ENOENT;
	if (!result)
		result = add(cache, path[0] == '/' || path[1] == 'v' ? path : "[kernel.kallsyms]",
			     &source, id, id_size, text);
	if (source.fd >= 0)
		close(source.fd);
	free(source.text);
	return result;
}

int tally_id_cache_add_open(struct tally_id_cache *cache, int fd, const char *path,
			    const uint8_t *id, uint8_t id_size)
{
	struct source source = {.fd = fd};
	char text[TALLY_BUILD_ID_TEXT];
	struct stat status;
	uint32_t pid;

	if (id_size < 2 || id_size > 20 || path[0] != '/')
		return -ENOENT;
	if (fstat(fd, &status))
		return -errno;
	source.size = (uint64_t)status.st_size;
	source.mode = status.st_mode & 0755;
	if (id_size == 20 && (tally_jit_is_map(path, &pid) || tally_jit_is_dump(path, &pid)))
		source = (struct source){
		    .fd = fd, .size = tally_jit_id_size(id), .mode = 0644, .compiled = true};
	if (!(source.compiled ? is_compiled(fd, id) : is_build(fd, id, id_size)))
		return -ESTALE;
	tally_build_id_format(id, id_size, text);
	return add(cache, path, &source, id, id_size, text);
}
