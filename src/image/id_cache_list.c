/* What is in the build-id cache, and removing it.  As in id_cache.c every folder is opened one by
 * one from the cache's own on, and no link is followed: a link is read, checked and walked. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "elf/build_id.h"
#include "image/id_cache.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define ID_LEAST     4  /* digits */
#define ID_MOST      40 /* as many as a build-id of 20 bytes has */
#define TARGET_START "../../"

static bool is_hex(const char *text)
{
	return !text[strspn(text, "0123456789abcdef")];
}

static int is_rest(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length >= ID_LEAST - 2 && length <= ID_MOST - 2 && is_hex(entry->d_name);
}

/* Where a build's link leads, without "../../" and the id: "tmp/prog".  0, -ENOENT: there is no
 * link, -EINVAL: it is not one of the cache's. */
static int read_target(const struct tally_id_cache *cache, const char *id, char ret[PATH_MAX])
{
	char link[TALLY_BUILD_ID_TEXT + 2], *end;
	ssize_t length;

	snprintf(link, sizeof(link), "%.2s/%s", id, id + 2);
	length = readlinkat(cache->ids, link, ret, PATH_MAX - 1);
	if (length < 0)
		return errno == EINVAL ? -EINVAL : -errno;
	ret[length] = '\0';
	end = strrchr(ret, '/');
	if (strncmp(ret, TARGET_START, strlen(TARGET_START)) || !end ||
	    end < ret + strlen(TARGET_START) || strcmp(end + 1, id) != 0)
		return -EINVAL;
	*end = '\0';
	memmove(ret, ret + strlen(TARGET_START), strlen(ret + strlen(TARGET_START)) + 1);
	return 0;
}

/* The builds whose ids begin with these two digits. */
static int each_of(const struct tally_id_cache *cache, const char *two, tally_id_cache_visit visit,
		   void *context)
{
	struct dirent **names = NULL;
	char id[TALLY_BUILD_ID_TEXT], target[PATH_MAX + 1];
	int fd = openat(cache->ids, two, FOLDER_FLAGS), count, result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	count = scandirat(fd, ".", &names, is_rest, alphasort);
	if (count < 0)
		result = -errno;
	for (int i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "%s%.38s", two, names[i]->d_name);
		if (!result && !read_target(cache, id, target + 1)) {
			target[0] = '/';
			result = visit(context, id, target[1] == '[' ? target + 1 : target);
		}
		free(names[i]);
	}
	free(names);
	close(fd);
	return result;
}

int tally_id_cache_each(const struct tally_id_cache *cache, tally_id_cache_visit visit,
			void *context)
{
	int result = 0;

	for (unsigned i = 0; i < 256 && !result; i++) {
		char two[3];

		snprintf(two, sizeof(two), "%02x", i);
		result = each_of(cache, two, visit, context);
	}
	return result;
}

bool tally_id_cache_has(const struct tally_id_cache *cache, const uint8_t *id, uint8_t id_size)
{
	static const char *const leaves[] = {"elf", "kallsyms", "vdso"};
	char text[TALLY_BUILD_ID_TEXT], known[TALLY_BUILD_ID_TEXT + 16];
	struct stat status;

	if (id_size < 2 || id_size > 20)
		return false;
	tally_build_id_format(id, id_size, text);
	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		snprintf(known, sizeof(known), "%.2s/%s/%s", text, text + 2, leaves[i]);
		if (!fstatat(cache->ids, known, &status, 0))
			return true;
	}
	return false;
}

/* --- removing --- */

/* The folder of a path below the cache, or -errno. */
static int open_below(const struct tally_id_cache *cache, const char *path)
{
	int at = fcntl(cache->folder, F_DUPFD_CLOEXEC, 0);

	while (at >= 0 && *path) {
		size_t length = strcspn(path, "/");
		char name[NAME_MAX + 1];
		int next = -1, why = EINVAL;

		if (length && length <= NAME_MAX) {
			memcpy(name, path, length);
			name[length] = '\0';
			if (strcmp(name, "..") && strcmp(name, ".")) {
				next = openat(at, name, FOLDER_FLAGS);
				why = errno;
			}
		}
		close(at);
		if (next < 0)
			return -why;
		at = next;
		path += length + (path[length] == '/');
	}
	return at < 0 ? -errno : at;
}

/* The files of a build's folder, and the folder. */
static int remove_folder(int parent, const char *name)
{
	int fd = openat(parent, name, FOLDER_FLAGS);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		int result = -errno;

		if (fd >= 0)
			close(fd);
		return result == -ENOENT ? 0 : result;
	}
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			(void)unlinkat(fd, entry->d_name, 0);
	closedir(folder);
	return unlinkat(parent, name, AT_REMOVEDIR) ? -errno : 0;
}

int tally_id_cache_remove(struct tally_id_cache *cache, const char *id)
{
	char link[TALLY_BUILD_ID_TEXT + 2], target[PATH_MAX], two[3] = {id[0], id[1], '\0'};
	int folder, result = read_target(cache, id, target);

	if (result == -ENOENT)
		return 0;
	if (result)
		return result;
	folder = open_below(cache, target);
	if (folder >= 0) {
		result = remove_folder(folder, id);
		close(folder);
	} else if (folder != -ENOENT) {
		result = folder;
	}
	snprintf(link, sizeof(link), "%s/%s", two, id + 2);
	if (!result && unlinkat(cache->ids, link, 0))
		result = -errno;
	if (result)
		return result;
	(void)unlinkat(cache->ids, two, AT_REMOVEDIR); /* when it was the last */
	return 1;
}
