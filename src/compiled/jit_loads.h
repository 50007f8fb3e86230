/* Code that was made at run time, from the dumps that processes mapped: each function that was
 * loaded or moved is a mapping of the dump from that time on, so that an address leads to the code
 * that was there when the sample was taken. */
#ifndef TALLY_COMPILED_JIT_LOADS_H
#define TALLY_COMPILED_JIT_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>
#include "jit/jit_file.h"

struct tally_jitdump;
struct tally_process_table;
struct loaded_dump;

/* Which times records of the recording have. */
enum tally_jit_times {
	TALLY_JIT_MONOTONIC, /* those of CLOCK_MONOTONIC, as dumps */
	TALLY_JIT_OTHER,     /* those of another clock */
	TALLY_JIT_NONE,      /* none: their order alone is known */
};

/* What must be known of the recording. */
struct tally_jit_recording {
	void *context;
	enum tally_jit_times (*times)(void *context);
	/* What was recorded of a dump in place of a build-id, and its size; 0: nothing was. NULL:
	 * it never is. */
	uint8_t (*file_id)(void *context, const char *path, uint8_t ret[20]);
};

struct tally_jit_loads { /* all zero is valid, when records are noted only after init */
	struct tally_jit_search search;
	struct tally_jit_recording recording;
	char *cache; /* what search.cache is, or NULL */
	struct loaded_dump *dumps;
	size_t count, room;
	uint64_t
	    next; /* when the first load that was not fed yet happened; UINT64_MAX: there is none
		   */
	/* Offsets of records that were not fed, as they would hide code. */
	uint64_t *hidden;
	size_t hidden_count, hidden_room;
	uint64_t fed; /* the time of the last one that was */
	/* The dumps are still written, some way behind their compilers: memory may have code that
	 * no dump has yet. Set before the first record. */
	bool behind;
	struct memory_range *fed_ranges; /* memory of code that was fed all the same, then */
	size_t fed_range_count;
};

/* What `search` refers to is borrowed; its cache NULL: .debug in $HOME. 0 or -ENOMEM. */
int tally_jit_loads_init(struct tally_jit_loads *loads, const struct tally_jit_search *search,
			 const struct tally_jit_recording *recording);
void tally_jit_loads_done(struct tally_jit_loads *loads);

/* Feeds the processes what was compiled before a record, and the record, unless it is about memory
 * in which code was loaded already.  `offset`: the record's, for `hidden`.  Times ascend. 0 or
 * -ENOMEM. */
int tally_jit_loads_record(struct tally_jit_loads *loads, struct tally_process_table *processes,
			   const struct tally_body *body, uint64_t time, uint64_t offset);
/* Feeds the processes all that was loaded up to a time.  0 or -ENOMEM. */
int tally_jit_loads_feed(struct tally_jit_loads *loads, struct tally_process_table *processes,
			 uint64_t until);
/* Of a recording that goes on: reads the dumps on.  Whether there is something to feed up to that
 * time; -ENOMEM. */
int tally_jit_loads_read_on(struct tally_jit_loads *loads, uint64_t until);

/* Forgets the dumps and the memory of processes that a frozen table, which is renewed, has
 * forgotten. */
void tally_jit_loads_forget(struct tally_jit_loads *loads,
			    const struct tally_process_table *processes);

/* When the last of what was read happened, on the recording's clock; 0: nothing was read. */
uint64_t tally_jit_loads_latest(const struct tally_jit_loads *loads);

/* A dump of the recording, by number; false: there are not so many. */
struct tally_jit_view {
	uint32_t pid;
	const char *path; /* of the dump, as the process saw it */
	const struct tally_jitdump *dump;
};
bool tally_jit_loads_dump(const struct tally_jit_loads *loads, size_t number,
			  struct tally_jit_view *ret);
/* When one of its loads happened, on the recording's clock. */
uint64_t tally_jit_loads_time(const struct tally_jit_loads *loads, size_t number, size_t load);

#endif
