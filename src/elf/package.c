#include "elf/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/pool.h"
#include "base/table.h"

/* A list of a package's files is some kilobytes, the longest some megabytes. */
#define LIST_MOST ((size_t)16 << 20)
#define FOLDER    "/var/lib/dpkg/info"

/* Lists that a thread reads at a time. */
#define PIECE 32U

/* More threads mostly wait for each other in the kernel. */
#define THREADS_MOST 4U

#define NONE UINT32_MAX

struct list {
	char *text; /* with a newline before the first line, as behind each */
	size_t size, room;
};

struct search {
	int folder;
	char **names; /* of the lists */
	size_t name_count, name_room;
	const char *const *paths;
	size_t count;
	atomic_uint *found; /* by path: the first list that has it, or NONE */
};

/* Reads a list; false: it cannot be read, and is ignored. */
static bool read_list(int folder, const char *name, struct list *list)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t got = fd < 0 ? -1 : 1;
	size_t asked = 0;

	list->size = 1;
	/* What is shorter than asked for is a file's end. */
	while (got > 0 && (size_t)got >= asked) {
		if (list->room < list->size + 4096) {
			size_t room = list->room ? list->room * 2 : 65536;
			char *grown = room <= LIST_MOST ? realloc(list->text, room) : NULL;

			if (!grown) {
				got = -1;
				break;
			}
			list->text = grown;
			list->room = room;
		}
		asked = list->room - list->size - 1;
		got = read(fd, list->text + list->size, asked);
		list->size += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (list->text)
		list->text[0] = '\n';
	return got >= 0;
}

/* Whether a line of the list is that path.  Lists may still have /lib for what is in /usr/lib,
 * since /lib is a link to it. */
static bool holds(const struct list *list, const char *path)
{
	const char *tail = strncmp(path, "/usr/", 5) ? path : path + 4;
	size_t length = strlen(tail), front = (size_t)(tail - path);
	const char *at = list->text, *end = list->text + list->size;

	while ((at = memmem(at, (size_t)(end - at), tail, length))) {
		bool is_line = at + length < end && at[length] == '\n';

		if (is_line && at[-1] == '\n')
			return true;
		if (is_line && (size_t)(at - list->text) > front &&
		    at[-1 - (ptrdiff_t)front] == '\n' && !memcmp(at - front, path, front))
			return true;
		at += length;
	}
	return false;
}

static bool are_all_found(const struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		if (*search->paths[i] && atomic_load(&search->found[i]) == NONE)
			return false;
	return true;
}

static void note(atomic_uint *found, unsigned number)
{
	unsigned known = atomic_load(found);

	while (number < known && !atomic_compare_exchange_weak(found, &known, number))
		;
}

static int search_piece(void *context, unsigned worker, size_t piece)
{
	const struct search *search = context;
	struct list list = {0};

	(void)worker;
	/* Pieces before this one are being searched, or have been. */
	for (size_t number = piece * PIECE; number < (piece + 1) * PIECE; number++) {
		if (number >= search->name_count || are_all_found(search))
			break;
		if (!read_list(search->folder, search->names[number], &list))
			continue;
		for (size_t i = 0; i < search->count; i++)
			if (*search->paths[i] && holds(&list, search->paths[i]))
				note(&search->found[i], (unsigned)number);
	}
	free(list.text);
	return 0;
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

static int read_names(struct search *search, DIR *folder)
{
	struct dirent *entry;

	while ((entry = readdir(folder)) && search->name_count < NONE) {
		if (!is_list(entry->d_name))
			continue;
		if (!array_next(&search->names, &search->name_room, search->name_count, 1024,
				sizeof(*search->names)))
			return -ENOMEM;
		search->names[search->name_count] = strdup(entry->d_name);
		if (!search->names[search->name_count])
			return -ENOMEM;
		search->name_count++;
	}
	return 0;
}

static int search_folder(struct search *search, DIR *folder)
{
	unsigned threads = tally_pool_width();
	int result = read_names(search, folder);

	search->folder = dirfd(folder);
	search->found = malloc((search->count + 1) * sizeof(*search->found));
	if (result || !search->found)
		return -ENOMEM;
	for (size_t i = 0; i < search->count; i++)
		atomic_init(&search->found[i], NONE);
	return tally_pool_run(threads < THREADS_MOST ? threads : THREADS_MOST,
			      (search->name_count + PIECE - 1) / PIECE, search_piece, search);
}

int tally_package_find(const char *root, const char *const *paths, size_t count, char **ret)
{
	struct search search = {.paths = paths, .count = count};
	char path[4096];
	int result = 0;
	DIR *folder;

	for (size_t i = 0; i < count; i++)
		ret[i] = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s" FOLDER, root) >= sizeof(path))
		return 0;
	folder = opendir(path);
	if (!folder)
		return 0;
	result = search_folder(&search, folder);
	closedir(folder);
	for (size_t i = 0; i < count && !result; i++) {
		unsigned number = atomic_load(&search.found[i]);

		if (number == NONE)
			continue;
		ret[i] = package_of(search.names[number]);
		result = ret[i] ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < count && result; i++) {
		free(ret[i]);
		ret[i] = NULL;
	}
	for (size_t i = 0; i < search.name_count; i++)
		free(search.names[i]);
	free(search.names);
	free(search.found);
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
