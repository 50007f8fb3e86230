/* Code that was made at run time, from the dumps that processes mapped: each function that was
 * loaded or moved is a mapping of the dump from that time on, so that an address leads to the code
 * that was there when the sample was taken. */
#ifndef TALLY_SOURCE_JIT_LOADS_H
#define TALLY_SOURCE_JIT_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>
#include <tally/session.h>
#include "jit/jit_file.h"

struct tally_source;
struct tally_jitdump;
struct source_jit_dump;

struct source_jit_loads {                 /* all zero is valid */
	struct tally_debug_places places; /* the recording's archive */
	struct tally_jit_search search;
	char *cache; /* what search.cache is, or NULL */
	struct source_jit_dump *dumps;
	size_t count, room;
	uint64_t
	    next; /* when the first load that was not fed yet happened; UINT64_MAX: there is none
		   */
	/* Offsets of records that were not fed, as they would hide code. */
	uint64_t *hidden;
	size_t hidden_count, hidden_room;
	uint64_t fed; /* the time of the last one that was */
};

/* Strings of the options are borrowed.  0 or -ENOMEM. */
int tally_jit_loads_init(struct source_jit_loads *loads, const struct tally_tar *archive,
			 const struct tally_session_options *options);
void tally_jit_loads_done(struct source_jit_loads *loads);

/* Looks at a record before the processes get it.  1: they shall not, as it is about memory in which
 * code was loaded already; 0; -ENOMEM. */
int tally_jit_loads_note(struct tally_source *source, const struct tally_body *body, uint64_t time,
			 uint64_t offset);
/* Feeds the processes all that was loaded up to a time.  0 or -ENOMEM. */
int tally_jit_loads_feed(struct tally_source *source, uint64_t until);
/* Between windows of a live source: reads the dumps on.  Whether there is something to feed up to
 * that time; -ENOMEM. */
int tally_jit_loads_read_on(struct tally_source *source, uint64_t until);

/* A dump of the recording, by number; false: there are not so many. */
struct source_jit_view {
	uint32_t pid;
	const char *path; /* of the dump, as the process saw it */
	const struct tally_jitdump *dump;
};
bool tally_jit_loads_dump(const struct source_jit_loads *loads, size_t number,
			  struct source_jit_view *ret);
/* When one of its loads happened, on the recording's clock. */
uint64_t tally_jit_loads_time(const struct source_jit_loads *loads, size_t number, size_t load);

#endif
