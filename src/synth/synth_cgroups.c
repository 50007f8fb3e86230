/* Namespaces of threads, and all cgroups, as records. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tally/abi.h>
#include "collect/cgroup.h"
#include "synth/synth.h"

#define DEEPEST 64 /* folders within each other */

int tally_synth_namespaces(const struct tally_synth *synth, pid_t pid, pid_t tid,
			   struct tally_buf *to)
{
	/* In the order of include/uapi/linux/perf_event.h, NET_NS_INDEX to CGROUP_NS_INDEX. */
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	struct tally_namespace links[sizeof(names) / sizeof(names[0])] = {0};
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_NAMESPACES,
	    .namespaces = {(uint32_t)pid, (uint32_t)tid, sizeof(names) / sizeof(names[0]), links},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];
		struct stat status;

		snprintf(path, sizeof(path), "%s/proc/%d/ns/%s", synth->root, tid, names[i]);
		if (stat(path, &status))
			continue;
		links[i].dev = status.st_dev;
		links[i].ino = status.st_ino;
	}
	return tally_synth_add(synth, &body, to);
}

/* The number that samples have: the handle of its folder. Source: cgroup_id() of
 * include/linux/cgroup.h; perf_event_open(2), PERF_RECORD_CGROUP. */
static int find_id(const char *path, uint64_t *ret)
{
	union {
		struct file_handle handle;
		uint8_t bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} room = {.handle.handle_bytes = sizeof(uint64_t)};
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &room.handle, &mount, 0))
		return -errno;
	memcpy(ret, room.handle.f_handle, sizeof(*ret));
	return 0;
}

static int add_folder(const struct tally_synth *synth, char path[PATH_MAX], size_t mount, int depth,
		      struct tally_buf *to)
{
	size_t length = strlen(path);
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_CGROUP,
	    .cgroup.path = length > mount ? path + mount : "/",
	};
	struct dirent *entry;
	DIR *dir;
	int result;

	/* File systems without handles have no numbers, and the cgroups of samples no names. */
	if (find_id(path, &body.cgroup.id))
		return 0;
	result = tally_synth_add(synth, &body, to);
	dir = !result && depth < DEEPEST ? opendir(path) : NULL;
	while (dir && !result && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, "..") ||
		    snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name) >=
			(int)(PATH_MAX - length))
			continue;
		result = add_folder(synth, path, mount, depth + 1, to);
	}
	path[length] = 0;
	if (dir)
		closedir(dir);
	return result;
}

int tally_synth_cgroups(const struct tally_synth *synth, struct tally_buf *to)
{
	char path[PATH_MAX];

	if (tally_cgroup_mount(synth->root, path, sizeof(path)))
		return 0;
	return add_folder(synth, path, strlen(path), 0, to);
}
