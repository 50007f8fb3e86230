/* Where the dynamic linker looks: ld.so(8); its configuration is not read, but the usual folders of
 * distributions are known. */
#include "probe/find_program.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fs.h"
#include "base/option_struct.h"
#include "elf/needed.h"

#if defined(__x86_64__)
#define TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define TRIPLET "aarch64-linux-gnu"
#else
#define TRIPLET "linux-gnu"
#endif

static const char *const library_folders[] = {
    "/lib/" TRIPLET, "/usr/lib/" TRIPLET, "/lib64",         "/usr/lib64",
    "/lib",          "/usr/lib",          "/usr/local/lib",
};
#define LIBRARY_FOLDERS (sizeof(library_folders) / sizeof(library_folders[0]))

/* --- by name --- */

/* libc.so of developers' packages is a text for the linker. */
static bool is_elf(const char *folder, const char *file)
{
	char path[PATH_MAX], magic[4] = "";
	FILE *open;

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path))
		return false;
	open = fopen(path, "re");
	if (!open)
		return false;
	if (fread(magic, 1, sizeof(magic), open) != sizeof(magic))
		magic[0] = '\0';
	fclose(open);
	return !memcmp(magic, "\177ELF", sizeof(magic));
}

/* "libc" for libc.so.6, the shortest such name of a folder. */
static bool is_library(const char *file, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(file, name, length) && !strncmp(file + length, ".so", 3) &&
	       (!file[length + 3] || file[length + 3] == '.');
}

static bool shorter(const char *a, const char *b)
{
	size_t left = strlen(a), right = strlen(b);

	return left < right || (left == right && strcmp(a, b) < 0);
}

static bool in_folder(const char *folder, const char *name, char to[PATH_MAX])
{
	char best[NAME_MAX + 1] = "";
	struct dirent *entry;
	DIR *open = opendir(folder);
	int made;

	while (open && (entry = readdir(open)))
		if (is_library(entry->d_name, name) && (!*best || shorter(entry->d_name, best)) &&
		    is_elf(folder, entry->d_name))
			snprintf(best, sizeof(best), "%s", entry->d_name);
	if (open)
		closedir(open);
	made = snprintf(to, PATH_MAX, "%s/%s", folder, *best ? best : name);
	return made > 0 && made < PATH_MAX && !tally_fs_is_file(to, false);
}

/* A path is used unchanged: opening it shows whether it exists. */
int tally_program_find(const char *name, char **ret)
{
	char found[PATH_MAX];
	bool there;

	if (strchr(name, '/')) {
		*ret = strdup(name);
		return *ret ? 0 : -ENOMEM;
	}
	there = !tally_fs_search_program(name, found) ||
		!tally_fs_search(getenv("LD_LIBRARY_PATH"), name, false, found);
	for (size_t i = 0; i < LIBRARY_FOLDERS && !there; i++)
		there = in_folder(library_folders[i], name, found);
	if (!there)
		return -ENOENT;
	*ret = strdup(found);
	return *ret ? 0 : -ENOMEM;
}

/* --- what targets run --- */

static int add(struct tally_strings *to, const char *path)
{
	return tally_strings_intern(to, path, strlen(path)) < 0 ? -ENOMEM : 0;
}

static int add_library(const char *name, const struct tally_strings *folders,
		       struct tally_strings *to)
{
	char path[PATH_MAX];

	if (strchr(name, '/'))
		return !tally_fs_is_file(name, false) ? add(to, name) : 0;
	for (size_t i = 0; i < folders->count; i++) {
		int made = snprintf(path, sizeof(path), "%s/%s", folders->text[i], name);

		if (made > 0 && (size_t)made < sizeof(path) && !tally_fs_is_file(path, false))
			return add(to, path);
	}
	if (!tally_fs_search(getenv("LD_LIBRARY_PATH"), name, false, path))
		return add(to, path);
	for (size_t i = 0; i < LIBRARY_FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", library_folders[i], name);
		if (!tally_fs_is_file(path, false))
			return add(to, path);
	}
	return 0;
}

/* A program, what it is linked to, what that is linked to, and so on. */
static int add_program(const char *name, struct tally_strings *to)
{
	struct tally_strings libraries = {0}, folders = {0};
	size_t first = to->count, known = 0;
	char *path;
	int result = tally_program_find(name, &path);

	if (result)
		return result == -ENOENT ? 0 : result;
	result = add(to, path);
	free(path);
	for (size_t i = first; i < to->count && !result; i++) {
		if (tally_image_needed(to->text[i], &libraries, &folders) == -ENOMEM)
			result = -ENOMEM;
		for (; known < libraries.count && !result; known++)
			result = add_library(libraries.text[known], &folders, to);
	}
	tally_strings_done(&libraries);
	tally_strings_done(&folders);
	return result;
}

/* Lines of /proc/PID/maps, proc(5): "start-end perms offset device inode      path". */
static int add_process(pid_t pid, struct tally_strings *to)
{
	const char *line;
	char *text;
	size_t size;
	int result = 0;

	if (tally_fs_readf(64u << 20, &text, &size, "/proc/%d/maps", (int)pid))
		return 0;
	for (line = text; *line && !result;) {
		size_t length = strcspn(line, "\n");
		const char *rights = memchr(line, ' ', length), *path = memchr(line, '/', length);

		if (path && rights && path - rights > 4 && rights[3] == 'x' &&
		    tally_strings_intern(to, path, length - (size_t)(path - line)) < 0)
			result = -ENOMEM;
		line += length + (line[length] == '\n');
	}
	free(text);
	return result;
}

static int add_processes(struct tally_strings *to)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	int result = 0;

	while (folder && !result && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			result = add_process((pid_t)strtol(entry->d_name, NULL, 10), to);
	if (folder)
		closedir(folder);
	return result;
}

int tally_probe_programs(const struct tally_probe_options *options, char ***ret, size_t *ret_count)
{
	struct tally_probe_options known = {.size = sizeof(known)};
	struct tally_strings paths = {0};
	int result = tally_options_take(&known, sizeof(known), options);
	size_t bytes = 0;
	char **made = NULL, *at;

	if (!result)
		result = tally_program_list(&known, &paths);
	for (size_t i = 0; i < paths.count; i++)
		bytes += paths.length[i] + 1;
	if (!result)
		made = malloc((paths.count + 1) * sizeof(*made) + bytes);
	if (made) {
		at = (char *)(made + paths.count + 1);
		for (size_t i = 0; i < paths.count; i++) {
			made[i] = at;
			at = stpcpy(at, paths.text[i]) + 1;
		}
		made[paths.count] = NULL;
		*ret = made;
		*ret_count = paths.count;
	} else if (!result) {
		result = -ENOMEM;
	}
	tally_strings_done(&paths);
	return result;
}

int tally_program_list(const struct tally_probe_options *options, struct tally_strings *ret)
{
	int result = 0;

	if (options->command && options->command[0])
		result = add_program(options->command[0], ret);
	for (size_t i = 0; i < options->pid_count && !result; i++)
		result = add_process(options->pids[i], ret);
	if (!result && options->system_wide)
		result = add_processes(ret);
	return result;
}
