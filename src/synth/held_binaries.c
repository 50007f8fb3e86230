#include "synth/held_binaries.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/regular.h"
#include "elf/build_id.h"

/* Each is a descriptor, of which a process has 1,024 at first. */
#define HELD_MOST 256U

void tally_held_binaries_done(struct tally_held_binaries *held)
{
	for (size_t i = 0; i < held->count; i++)
		close(held->list[i].fd);
	free(held->list);
	tally_map_done(&held->seen);
	tally_map_done(&held->ours);
	*held = (struct tally_held_binaries){.list = NULL};
}

/* The number of a process's mount namespace; 0: it has ended, or may not be looked at. */
static uint64_t space_of(const char *process)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
	return stat(path, &status) ? 0 : (uint64_t)status.st_ino;
}

/* The same of others than ours; 0: it is ours. */
static uint64_t other_space(struct tally_held_binaries *held, pid_t pid)
{
	char number[24];

	if (!held->own)
		held->own = space_of("self");
	if (held->last != pid) {
		snprintf(number, sizeof(number), "%d", pid);
		held->last = pid;
		held->last_space = space_of(number);
	}
	return held->last_space == held->own ? 0 : held->last_space;
}

static bool is_new(struct tally_held_binaries *held, uint64_t key)
{
	bool added = false;

	return tally_map_put(&held->seen, key, &added) && added;
}

int tally_held_binaries_add(struct tally_held_binaries *held, int fd, const uint8_t id[20],
			    uint8_t id_size)
{
	struct tally_held_binary binary = {.fd = fd, .id_size = id_size};

	if (!held->list)
		held->list = calloc(HELD_MOST, sizeof(*held->list));
	if (!held->list || held->count == HELD_MOST) {
		close(fd);
		return -ENFILE;
	}
	memcpy(binary.id, id, sizeof(binary.id));
	held->list[held->count++] = binary;
	return 0;
}

int tally_held_binaries_find(const struct tally_held_binaries *held, const uint8_t *id,
			     uint8_t id_size)
{
	for (size_t i = 0; i < held->count; i++)
		if (tally_build_id_equal(held->list[i].id, held->list[i].id_size, id, id_size))
			return held->list[i].fd;
	return -ENOENT;
}

bool tally_held_binaries_elsewhere(struct tally_held_binaries *held, pid_t pid)
{
	return other_space(held, pid) != 0;
}

static void hold(struct tally_held_binaries *held, pid_t pid, const char *path, uint8_t id[20],
		 uint8_t *id_size)
{
	uint8_t found[20], found_size = 0;
	char whole[PATH_MAX + 32];
	int fd;

	if (snprintf(whole, sizeof(whole), "/proc/%d/root%s", pid, path) >= (int)sizeof(whole))
		return;
	fd = tally_regular_open(whole, NULL);
	if (fd < 0)
		return;
	if (tally_image_read_build_id_fd(fd, found, &found_size) ||
	    (*id_size && !tally_build_id_equal(found, found_size, id, *id_size))) {
		close(fd);
		return;
	}
	if (!*id_size) {
		memcpy(id, found, sizeof(found));
		*id_size = found_size;
	}
	(void)tally_held_binaries_add(held, fd, found, found_size);
}

void tally_held_binaries_see(struct tally_held_binaries *held, pid_t pid, const char *path,
			     uint64_t file, uint8_t id[20], uint8_t *id_size)
{
	uint64_t space, known;
	bool added;

	if (path[0] != '/' || path[1] == '/' || pid <= 0 || held->count == HELD_MOST)
		return;
	/* One build is enough, wherever it is: usually it was seen before. */
	if (*id_size && tally_map_find(&held->seen, tally_hash_bytes(id, *id_size)))
		return;
	known = file || *id_size ? hash_mix(tally_hash_bytes(path, strlen(path)),
					    file ? file : tally_hash_bytes(id, *id_size))
				 : 0;
	if (known && tally_map_find(&held->ours, known))
		return;
	space = other_space(held, pid);
	if (known && !space && held->last_space)
		tally_map_put(&held->ours, known, &added);
	if (!space ||
	    !is_new(held, *id_size ? tally_hash_bytes(id, *id_size)
				   : hash_mix(tally_hash_bytes(path, strlen(path)), space)))
		return;
	hold(held, pid, path, id, id_size);
}
