#include "elf/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A list of a package's files is some kilobytes, the longest some megabytes. */
#define LIST_MOST ((size_t)16 << 20)
#define FOLDER    "/var/lib/dpkg/info"

struct list {
	char *text; /* with a newline before the first line, as behind each */
	size_t size, room;
};

/* Reads a list; false: it cannot be read, and is ignored. */
static bool read_list(int folder, const char *name, struct list *list)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t got = fd < 0 ? -1 : 1;

	list->size = 1;
	while (got > 0) {
		if (list->room < list->size + 4096) {
			size_t room = list->room ? list->room * 2 : 65536;
			char *grown = room <= LIST_MOST ? realloc(list->text, room) : NULL;

			if (!grown)
				break;
			list->text = grown;
			list->room = room;
		}
		got = read(fd, list->text + list->size, list->room - list->size - 1);
		list->size += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (list->text)
		list->text[0] = '\n';
	return !got;
}

/* Whether a line of the list is that path. */
static bool holds(const struct list *list, const char *path)
{
	size_t length = strlen(path);
	const char *at = list->text, *end = list->text + list->size;

	while ((at = memmem(at, (size_t)(end - at), path, length))) {
		if (at[-1] == '\n' && at + length < end && at[length] == '\n')
			return true;
		at += length;
	}
	return false;
}

/* Lists may still have /lib for what is in /usr/lib, since /lib is a link to it. */
static bool holds_file(const struct list *list, const char *path)
{
	return holds(list, path) || (!strncmp(path, "/usr/", 5) && holds(list, path + 4));
}

/* "name.list" or "name:architecture.list". */
static char *package_of(const char *name)
{
	return strndup(name, strcspn(name, ":") < strlen(name) ? strcspn(name, ":")
							       : strlen(name) - strlen(".list"));
}

static bool is_list(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && !strcmp(name + length - 5, ".list");
}

int tally_package_find(const char *root, const char *const *paths, size_t count, char **ret)
{
	char path[4096];
	struct list list = {0};
	struct dirent *entry;
	size_t left = count;
	int result = 0;
	DIR *folder;

	for (size_t i = 0; i < count; i++)
		ret[i] = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s" FOLDER, root) >= sizeof(path))
		return 0;
	folder = opendir(path);
	while (folder && left && !result && (entry = readdir(folder))) {
		if (!is_list(entry->d_name) || !read_list(dirfd(folder), entry->d_name, &list))
			continue;
		for (size_t i = 0; i < count && !result; i++) {
			if (ret[i] || !*paths[i] || !holds_file(&list, paths[i]))
				continue;
			ret[i] = package_of(entry->d_name);
			result = ret[i] ? 0 : -ENOMEM;
			left--;
		}
	}
	if (folder)
		closedir(folder);
	free(list.text);
	for (size_t i = 0; i < count && result; i++) {
		free(ret[i]);
		ret[i] = NULL;
	}
	return result;
}

char *tally_package_symbols(const char *package)
{
	char *name;

	/* This package is made by hand, unlike the automatic ones of all others.  Source: Debian
	 * wiki, AutomaticDebugPackages. */
	if (asprintf(&name, "%s%s", package, strcmp(package, "libc6") ? "-dbgsym" : "-dbg") < 0)
		return NULL;
	return name;
}
