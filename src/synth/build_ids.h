/* Which binaries a recording ran, with their build-ids, for the file's table: a reader finds out by
 * it whether a binary has changed since. */
#ifndef TALLY_RECORD_BUILD_IDS_H
#define TALLY_RECORD_BUILD_IDS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/data.h>
#include <tally/error.h>
#include "base/map.h"
#include "synth/held_binaries.h"
#include "synth/held_roots.h"

struct tally_build_id_entry;

/* Thread safe, except init, done and write. */
struct tally_build_ids {
	pthread_mutex_t lock;
	struct tally_strings names;
	struct tally_map known; /* hash of (name, id) -> 1 */
	struct tally_map files; /* hash of (device, inode) -> index + 1 in read */
	struct tally_build_id_entry *entries;
	size_t count, room;
	struct tally_build_id_read *read;
	size_t read_count, read_room;
	struct tally_held_binaries held;
	struct tally_held_roots roots;
};

void tally_build_ids_init(struct tally_build_ids *ids);
void tally_build_ids_done(struct tally_build_ids *ids);

/* Adds a binary that was mapped by a process (misc PERF_RECORD_MISC_USER) or by the kernel. With
 * size 0 its file is read when the table is written. 0 or -ENOMEM. */
int tally_build_ids_add(struct tally_build_ids *ids, uint16_t misc, const char *path,
			const uint8_t *id, uint8_t size);

/* The same for a process's mapping, whose binary may be held open (held_binaries.h), with its
 * number there. */
int tally_build_ids_map(struct tally_build_ids *ids, pid_t pid, const char *path, uint64_t file,
			const uint8_t *id, uint8_t size);

/* A descriptor, the caller's, of a binary that is held open; -ENOENT. */
int tally_build_ids_open_held(struct tally_build_ids *ids, const uint8_t *id, uint8_t size);

/* Adds the perf map of a process that mapped memory without a file, `path` as the kernel calls it,
 * to run code in it: the map is read when the table is written.  0 or -ENOMEM. */
int tally_build_ids_add_memory(struct tally_build_ids *ids, uint32_t pid, const char *path);

/* A file as the maps of a process name it. */
struct tally_mapped_file {
	const char *root; /* the folder that holds proc; "" for / */
	pid_t pid;
	const char *path;
	uint32_t maj, min;
	uint64_t ino;
};
/* Its build-id, read once for each file. *ret_size 0: it has no build-id, or cannot be read. */
int tally_build_ids_read(struct tally_build_ids *ids, const struct tally_mapped_file *file,
			 uint8_t ret[20], uint8_t *ret_size);

/* Gives all entries to the writer. */
int tally_build_ids_write(struct tally_build_ids *ids, struct tally_writer *writer);

#endif
