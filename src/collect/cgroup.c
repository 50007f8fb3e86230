#include "collect/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/fs.h"

#define MOUNTS_MOST (1 << 22)

/* A word of a line of /proc/self/mounts: what, where, type, options. */
struct word {
	const char *at;
	size_t length;
};

static bool is_word(struct word word, const char *text)
{
	return strlen(text) == word.length && !memcmp(word.at, text, word.length);
}

/* Whether "a,b,c" contains an entry. */
static bool has_option(struct word options, const char *name)
{
	const char *end = options.at + options.length;

	for (const char *at = options.at; at < end; at += *at == ',') {
		struct word option = {at, strcspn(at, ", \n")};

		if (is_word(option, name))
			return true;
		at += option.length;
	}
	return false;
}

/* The folder of a mount below root; \040 and the like are decoded. Source: getmntent(3). */
static int folder_of(struct word word, const char *root, char *to, size_t room)
{
	size_t length = strlen(root);
	const char *at = word.at, *end = word.at + word.length;

	if (length + word.length >= room)
		return -ENAMETOOLONG;
	memcpy(to, root, length);
	while (at < end) {
		if (*at == '\\' && end - at > 3 && strspn(at + 1, "01234567") >= 3) {
			to[length++] =
			    (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
			at += 4;
		} else {
			to[length++] = *at++;
		}
	}
	to[length] = 0;
	return 0;
}

int tally_cgroup_mount(const char *root, char *to, size_t room)
{
	char *text;
	int result, found = -ENODEV;

	result = tally_fs_readf(MOUNTS_MOST, &text, NULL, "%s/proc/self/mounts", root);
	if (result)
		return result;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct word words[4];
		const char *at = line;

		for (size_t i = 0; i < 4; i++) {
			words[i] = (struct word){at, strcspn(at, " \n")};
			at += words[i].length;
			at += *at == ' ';
		}
		if (is_word(words[2], "cgroup") && has_option(words[3], "perf_event")) {
			found = folder_of(words[1], root, to, room);
			break;
		}
		if (found == -ENODEV && is_word(words[2], "cgroup2"))
			found = folder_of(words[1], root, to, room);
	}
	free(text);
	return found;
}

/* Whether a path has ".." in it. */
static bool has_dots(const char *name)
{
	for (const char *at = name; *at; at += strcspn(at, "/"), at += strspn(at, "/"))
		if (!strncmp(at, "..", 2) && (at[2] == '/' || !at[2]))
			return true;
	return false;
}

int tally_cgroup_open(const char *root, const char *name, struct tally_error *error)
{
	char mount[PATH_MAX], path[PATH_MAX];
	int fd, result;

	if (has_dots(name))
		return tally_fail(
		    error, -EINVAL, -1,
		    "cgroup '%s': '..' is not allowed; give a path from the top of the cgroups",
		    name);
	result = tally_cgroup_mount(root, mount, sizeof(mount));
	if (result == -ENODEV)
		return tally_fail(error, result, -1,
				  "cgroup '%s': no cgroup hierarchy is mounted; `sudo mount -t "
				  "cgroup2 none /sys/fs/cgroup` mounts one",
				  name);
	if (result)
		return tally_fail(error, result, -1, "%s/proc/self/mounts: %s", root,
				  strerror(-result));
	name += strspn(name, "/");
	if (snprintf(path, sizeof(path), "%s/%s", mount, name) >= (int)sizeof(path))
		return tally_fail(error, -ENAMETOOLONG, -1,
				  "cgroup '%.100s...': the name is too long", name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	result = -errno;
	if (result == -ENOENT || result == -ENOTDIR)
		return tally_fail(error, result, -1,
				  "no cgroup '%s': there is no folder %s (find %s -type d lists "
				  "them)",
				  name, path, mount);
	return tally_fail(error, result, -1, "cgroup '%s': %s: %s", name, path, strerror(-result));
}
