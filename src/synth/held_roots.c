#include "synth/held_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "jit/jit_file.h"

/* Each is two descriptors, of which a process has 1,024 at first. */
#define ROOTS_MOST 64U

struct held_root {
	uint32_t pid, inner; /* its number in its own PID namespace */
	uid_t owner;         /* of the process */
	int folder;
	int space; /* its mount namespace, which keeps what is mounted there in place */
};

void tally_held_roots_done(struct tally_held_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		close(roots->list[i].folder);
		if (roots->list[i].space >= 0)
			close(roots->list[i].space);
	}
	free(roots->list);
	*roots = (struct tally_held_roots){0};
}

static struct held_root *find(const struct tally_held_roots *roots, uint32_t pid)
{
	for (size_t i = 0; i < roots->count; i++)
		if (roots->list[i].pid == pid)
			return &roots->list[i];
	return NULL;
}

void tally_held_roots_see(struct tally_held_roots *roots, pid_t pid, bool other)
{
	struct held_root root = {.pid = (uint32_t)pid};
	struct stat about;
	char path[64];

	if (pid <= 0 || pid == roots->last || roots->count == ROOTS_MOST || find(roots, root.pid))
		return;
	roots->last = pid;
	root.inner = tally_jit_inner_pid("", root.pid);
	if (!other && root.inner == root.pid)
		return;
	if (!roots->list)
		roots->list = calloc(ROOTS_MOST, sizeof(*roots->list));
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (!roots->list || stat(path, &about))
		return;
	root.owner = about.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root.folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root.folder < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	root.space = open(path, O_RDONLY | O_CLOEXEC);
	roots->list[roots->count++] = root;
}

/* A dump has the number that the process has in its own namespace. */
static int open_dump(const struct tally_held_roots *roots, uint32_t inner, const char *name,
		     struct stat *ret)
{
	int fd = -ENOENT;

	for (size_t i = 0; i < roots->count && fd < 0; i++)
		if (roots->list[i].inner == inner)
			fd = tally_jit_open_below(roots->list[i].folder, roots->list[i].owner, name,
						  ret);
	return fd;
}

int tally_held_roots_open(const struct tally_held_roots *roots, const char *name, struct stat *ret)
{
	const struct held_root *root;
	char inside[64];
	uint32_t pid;

	if (tally_jit_is_dump(name, &pid))
		return open_dump(roots, pid, name, ret);
	if (!tally_jit_is_map(name, &pid))
		return -ENOENT;
	root = find(roots, pid);
	if (!root)
		return -ENOENT;
	snprintf(inside, sizeof(inside), "/tmp/perf-%u.map", root->inner);
	return tally_jit_open_below(root->folder, root->owner, inside, ret);
}
