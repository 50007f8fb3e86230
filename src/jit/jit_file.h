/* The files that compilers which work at run time write for profilers: /tmp/perf-PID.map and
 * jit-PID.dump.  They are found as the process saw them, and used only when somebody wrote them who
 * may: their owner is root, the caller, or the user of the process. */
#ifndef TALLY_JIT_JIT_FILE_H
#define TALLY_JIT_JIT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "elf/debug_places.h"

/* "jit-123.dump" at the end of a path: 123 in *ret_pid, in the process's own PID namespace. */
bool tally_jit_is_dump(const char *path, uint32_t *ret_pid);
/* "/tmp/perf-123.map", as perf calls the code of a process that has no file. */
bool tally_jit_is_map(const char *path, uint32_t *ret_pid);

/* The number of a process in its own PID namespace; `pid` when it is gone or its number is unknown.
 * `root` holds proc ("" for /). */
uint32_t tally_jit_inner_pid(const char *root, uint32_t pid);

/* Opens a path as process `pid` sees it, where the process still runs.  A descriptor; -EPERM: the
 * owner in *ret may not name code of that process; -ENODEV: it is no regular file; -errno. */
int tally_jit_open_inside(const char *root, uint32_t pid, const char *path, struct stat *ret);
/* The same in a folder that is the root of a process, which may have ended; its user is `owner`. */
int tally_jit_open_below(int folder, uid_t owner, const char *path, struct stat *ret);
/* The same for a path of this machine. `pid` 0: no process is known. */
int tally_jit_open(const char *root, uint32_t pid, const char *path, struct stat *ret);

/* The copy of a file without a build-id of its own that is kept in a cache (NULL: there is none),
 * by the number that was recorded for it.  A descriptor, or -ENOENT, -errno. */
int tally_jit_open_kept(const char *cache, const uint8_t *id, uint8_t id_size, struct stat *ret);

/* Where dumps are looked for: archives (for a recording in one, nowhere else but kept copies), kept
 * copies, what the process sees, and this machine's files. */
struct tally_jit_search {
	const char *root, *symfs;                /* "" for none */
	const char *cache;                       /* of build-ids; NULL: none */
	const struct tally_debug_places *places; /* archives; NULL: none */
};
/* Opens the dump of a process; `id_size` 0: no number was recorded for it. As tally_jit_open(). */
int tally_jit_open_dump(const struct tally_jit_search *search, uint32_t pid, const char *path,
			const uint8_t *id, uint8_t id_size, struct stat *ret);

/* Opens a file by its name in a recording's table of build-ids: "/tmp/perf-PID.map" with the number
 * that the process has here, or the path of a dump.  As tally_jit_open(). */
int tally_jit_open_named(const char *root, const char *name, struct stat *ret);

/* A number for the first `size` bytes of an open file, in place of a build-id; it says how many
 * they are, as such files grow at their end.  0, or -errno when there are fewer. */
int tally_jit_file_id(int fd, uint32_t size, uint8_t ret[20]);
uint32_t tally_jit_id_size(const uint8_t id[20]);

#endif
