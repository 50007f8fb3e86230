#include "synth/build_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/abi.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/table.h"
#include "elf/build_id.h"
#include "jit/jit_file.h"

/* perf's value for "the host, not a guest". */
#define HOST_PID ((uint32_t)-1)

/* Larger ones are not kept: see tally_id_cache_open(). */
#define CODE_FILE_MOST ((uint64_t)256 << 20)

struct tally_build_id_entry {
	uint32_t name; /* in names */
	uint16_t misc;
	uint8_t size, id[20];
};

struct tally_build_id_read {
	uint8_t size, id[20];
};

void tally_build_ids_init(struct tally_build_ids *ids)
{
	*ids = (struct tally_build_ids){0};
	pthread_mutex_init(&ids->lock, NULL);
}

void tally_build_ids_done(struct tally_build_ids *ids)
{
	tally_strings_done(&ids->names);
	tally_map_done(&ids->known);
	tally_map_done(&ids->files);
	free(ids->entries);
	free(ids->read);
	tally_held_binaries_done(&ids->held);
	tally_held_roots_done(&ids->roots);
	pthread_mutex_destroy(&ids->lock);
}

static int add_locked(struct tally_build_ids *ids, uint16_t misc, const char *path,
		      const uint8_t *id, uint8_t size)
{
	size_t length = strlen(path);
	uint64_t key = hash_mix(tally_hash_bytes(path, length), tally_hash_bytes(id, size));
	struct tally_build_id_entry *entry;
	int64_t name;
	bool added;

	if (!tally_map_put(&ids->known, hash_mix(key, misc), &added))
		return -ENOMEM;
	if (!added)
		return 0;
	name = tally_strings_intern(&ids->names, path, length);
	if (name < 0)
		return (int)name;
	if (!array_next(&ids->entries, &ids->room, ids->count, 64, sizeof(*ids->entries)))
		return -ENOMEM;
	entry = &ids->entries[ids->count++];
	*entry = (struct tally_build_id_entry){.name = (uint32_t)name, .misc = misc, .size = size};
	memcpy(entry->id, id, size);
	return 0;
}

int tally_build_ids_add(struct tally_build_ids *ids, uint16_t misc, const char *path,
			const uint8_t *id, uint8_t size)
{
	int result;

	if (size > 20)
		return 0;
	/* Only files can be read for an id: not "//anon", "[vdso]", "/memfd:x". */
	if (!size && (path[0] != '/' || path[1] == '/' || !strncmp(path, "/memfd:", 7) ||
		      !strncmp(path, "/dev/", 5) || !strncmp(path, "/SYSV", 5)))
		return 0;
	pthread_mutex_lock(&ids->lock);
	result = add_locked(ids, misc, path, size ? id : (const uint8_t *)"", size);
	pthread_mutex_unlock(&ids->lock);
	return result;
}

/* Under the lock: a process that makes code at run time. */
static void see_root(struct tally_build_ids *ids, pid_t pid)
{
	if (pid != ids->roots.last)
		tally_held_roots_see(&ids->roots, pid,
				     tally_held_binaries_elsewhere(&ids->held, pid));
}

int tally_build_ids_open_held(struct tally_build_ids *ids, const uint8_t *id, uint8_t size)
{
	int fd;

	pthread_mutex_lock(&ids->lock);
	fd = tally_held_binaries_find(&ids->held, id, size);
	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&ids->lock);
	return fd < 0 ? -ENOENT : fd;
}

int tally_build_ids_map(struct tally_build_ids *ids, pid_t pid, const char *path, uint64_t file,
			const uint8_t *id, uint8_t size)
{
	uint8_t known[20] = {0};
	uint32_t number;

	if (size > sizeof(known))
		return 0;
	memcpy(known, id, size);
	pthread_mutex_lock(&ids->lock);
	if (tally_jit_is_dump(path, &number))
		see_root(ids, pid);
	else
		tally_held_binaries_see(&ids->held, pid, path, file, known, &size);
	pthread_mutex_unlock(&ids->lock);
	return tally_build_ids_add(ids, PERF_RECORD_MISC_USER, path, known, size);
}

int tally_build_ids_add_memory(struct tally_build_ids *ids, uint32_t pid, const char *path)
{
	char name[64];

	if (strncmp(path, "//anon", 6) != 0 && strncmp(path, "[anon:", 6) != 0 &&
	    strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/dev/zero", 9) != 0 &&
	    strcmp(path, "[heap]") != 0)
		return 0;
	pthread_mutex_lock(&ids->lock);
	see_root(ids, (pid_t)pid);
	pthread_mutex_unlock(&ids->lock);
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", pid);
	return tally_build_ids_add(ids, PERF_RECORD_MISC_USER, name, NULL, 0);
}

/* Only the file that is mapped is read: another may have taken its path. Devices are not compared:
 * on overlays and btrfs, maps and stat(2) show different ones. */
static void read_file(const struct tally_mapped_file *file, struct tally_build_id_read *ret)
{
	char path[PATH_MAX];

	for (int inside = 0; inside < 2; inside++) {
		struct stat status;
		int length;

		/* A process in another mount namespace: its path is valid only from there. */
		if (inside)
			length = snprintf(path, sizeof(path), "%s/proc/%d/root%s", file->root,
					  file->pid, file->path);
		else
			length = snprintf(path, sizeof(path), "%s", file->path);
		if (length < 0 || length >= (int)sizeof(path) || stat(path, &status) ||
		    !S_ISREG(status.st_mode) || status.st_ino != file->ino)
			continue;
		if (!tally_image_read_build_id(path, ret->id, &ret->size))
			return;
		break;
	}
	ret->size = 0;
}

static const struct tally_build_id_read *find_read(struct tally_build_ids *ids, uint64_t key)
{
	const uint64_t *index = tally_map_find(&ids->files, key);

	return index ? &ids->read[*index - 1] : NULL;
}

static int keep_read(struct tally_build_ids *ids, uint64_t key,
		     const struct tally_build_id_read *read)
{
	uint64_t *index;
	bool added;

	if (!array_next(&ids->read, &ids->read_room, ids->read_count, 64, sizeof(*ids->read)))
		return -ENOMEM;
	index = tally_map_put(&ids->files, key, &added);
	if (!index)
		return -ENOMEM;
	if (added) {
		ids->read[ids->read_count++] = *read;
		*index = ids->read_count;
	}
	return 0;
}

int tally_build_ids_read(struct tally_build_ids *ids, const struct tally_mapped_file *file,
			 uint8_t ret[20], uint8_t *ret_size)
{
	uint64_t key = hash_mix(hash_mix(file->ino, file->maj), file->min);
	const struct tally_build_id_read *known;
	struct tally_build_id_read read = {0};
	int result = 0;

	pthread_mutex_lock(&ids->lock);
	known = find_read(ids, key);
	if (known)
		read = *known;
	pthread_mutex_unlock(&ids->lock);
	if (!known) {
		/* Two threads may read one file at once; the first answer stays. */
		read_file(file, &read);
		pthread_mutex_lock(&ids->lock);
		result = keep_read(ids, key, &read);
		pthread_mutex_unlock(&ids->lock);
	}
	if (result)
		return result;
	memcpy(ret, read.id, sizeof(read.id));
	*ret_size = read.size;
	return 0;
}

/* Of what a process says of the code that it made at run time; the size of its id, 0: none. What
 * was found through a root that is held is held open itself: its name leads elsewhere. */
static uint8_t read_code(struct tally_build_ids *ids, const char *name, uint8_t ret[20])
{
	struct stat status;
	int fd = tally_held_roots_open(&ids->roots, name, &status), result = -EFBIG;
	bool held = fd >= 0;

	if (!held)
		fd = tally_jit_open_named("", name, &status);
	if (fd < 0)
		return 0;
	if (status.st_size > 0 && (uint64_t)status.st_size <= CODE_FILE_MOST)
		result = tally_jit_file_id(fd, (uint32_t)status.st_size, ret);
	if (held && !result)
		result = tally_held_binaries_add(&ids->held, fd, ret, 20);
	else
		close(fd);
	return result ? 0 : 20;
}

int tally_build_ids_write(struct tally_build_ids *ids, struct tally_writer *writer)
{
	int result = 0;

	for (size_t i = 0; i < ids->count && !result; i++) {
		const struct tally_build_id_entry *entry = &ids->entries[i];
		struct tally_data_build_id build_id = {
		    .misc = entry->misc,
		    .pid = HOST_PID,
		    .size = entry->size,
		    .filename = ids->names.text[entry->name],
		};

		memcpy(build_id.id, entry->id, sizeof(build_id.id));
		if (!entry->size &&
		    tally_image_read_build_id(build_id.filename, build_id.id, &build_id.size))
			build_id.size = read_code(ids, build_id.filename, build_id.id);
		if (build_id.size)
			result = tally_writer_add_build_id(writer, &build_id);
	}
	return result;
}
