/* The table inside: what its parts share. */
#ifndef TALLY_PROCESS_PROCESS_TABLE_H
#define TALLY_PROCESS_PROCESS_TABLE_H

#include <pthread.h>
#include "base/arena.h"
#include "base/chunks.h"
#include "base/map.h"
#include "process/process.h"
#include "process/space.h"
#include "process/timeline.h"

#define PROCESS_KERNEL_SPACE 0U

/* A thread's EXIT record. */
struct tally_process_exit {
	uint32_t pid, tid;
	uint64_t time;
};

struct tally_process_table {
	struct tally_strings strings;
	struct tally_timeline comms;  /* by tid: string */
	struct tally_timeline spaces; /* by pid: space */
	struct tally_space *space_list;
	size_t space_count, space_room;
	uint32_t space_ids; /* given so far */
	struct tally_mapping_row *rows;
	size_t row_count, row_room;
	struct tally_map files; /* hash -> struct tally_mapped_file *, the arena's */
	struct tally_arena file_arena;
	uint32_t *own; /* row numbers by space, in order of arrival */

	/* Names made after freezing, for threads that only samples have. */
	pthread_mutex_t late_lock;
	struct tally_chunks late; /* const char * */
	struct tally_map late_ids;
	struct tally_arena late_arena;

	/* Of tables that are renewed: which process a thread is of, and the ends of threads that
	 * are not forgotten yet. */
	bool renews;
	struct tally_map pids; /* tid -> pid */
	struct tally_process_exit *exits;
	size_t exit_count, exit_room;
	size_t renewed_size; /* rows, spaces and names, after it was renewed */
};

/* Adds a space; its number, or -ENOMEM. */
int64_t tally_process_space_add(struct tally_process_table *table, const struct tally_space *space);

/* The file of the table that is equal to one; NULL: out of memory. If two have the same hash, the
 * later one is stored each time. */
const struct tally_mapped_file *tally_process_file_intern(struct tally_process_table *table,
							  const struct tally_mapped_file *file);

/* Frees the table's strings and files. */
void tally_process_names_done(struct tally_process_table *table);

#endif
