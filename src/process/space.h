/* One address space: which mapping holds an address at a time.
 *
 * Mappings arrive in time order and the newest wins, which is how MMAP records tell of unmapping
 * too. Freezing makes the view of the end (sorted segments, each with one owner): true for all
 * times since the last mapping that took another's place.  Only spaces with such mappings get, for
 * the times before, a tree over the address ranges that keeps all owners. */
#ifndef TALLY_PROCESS_SPACE_H
#define TALLY_PROCESS_SPACE_H

#include "process/process.h"

#define SPACE_NONE UINT32_MAX

/* A mapping as the table keeps it. */
struct tally_mapping_row {
	struct tally_mapping mapping;
	uint64_t time;
	uint32_t space;
	bool hole; /* ends what was there (KSYMBOL unregister); nothing is found in it */
};

struct tally_space_segment {
	uint64_t start, end;
	uint32_t row;
};

/* All owners over time.  Elementary ranges [bounds[n], bounds[n + 1]) are the leaves of a complete
 * binary tree; a mapping stands in the few nodes that make up its range, each node's in time order.
 */
struct tally_space_history {
	uint64_t *bounds;
	uint32_t bound_count;
	uint32_t leaves; /* power of two; node 1 is the root, leaf n is node leaves + n */
	uint32_t *first; /* by node and one beyond: index in rows */
	uint32_t *rows;
};

struct tally_space {
	const struct tally_mapping_row *rows; /* the table's; set by freezing */
	const struct tally_space *above;      /* set by freezing: the parent */
	uint32_t parent;                      /* number of what it was forked from, or SPACE_NONE */
	uint32_t own_count;
	uint64_t fork_time;
	bool exec; /* made by exec: the parent is what the process had before, see space_up() */
	/* Freezing makes the rest. */
	struct tally_space_segment *segments;
	uint32_t segment_count;
	uint32_t first_era, change_count;
	uint64_t *changes; /* ascending times at which a mapping took another's place */
	struct tally_space_history *history; /* NULL when nothing changed */
};

/* The segments of the end and the changes, from the space's own mappings (row numbers, in order of
 * arrival); `above` is frozen already.  0 or -ENOMEM. */
int tally_space_freeze(struct tally_space *space, const uint32_t *own);
void tally_space_done(struct tally_space *space);

/* paint.c: the same for spaces whose own mappings overlap.  Appends to changes[] (room for all own
 * mappings) the time of each that took another's place. */
int tally_space_paint(struct tally_space *space, const uint32_t *own, uint64_t *changes,
		      uint32_t *change_count);
/* history.c */
int tally_space_history_make(struct tally_space *space, const uint32_t *own);
void tally_space_history_free(struct tally_space_history *history);
/* The row that holds `addr` at `time`; else the first that will, in *ret_later; SPACE_NONE each. */
uint32_t tally_space_history_find(const struct tally_space *space, uint64_t addr, uint64_t time,
				  uint32_t *ret_later);

/* Whether any segment of the end overlaps the range. */
bool tally_space_holds(const struct tally_space *space, uint64_t start, uint64_t end);

/* Whether what is looked up in both leads to the same place. */
bool tally_mapping_row_same(const struct tally_mapping_row *a, const struct tally_mapping_row *b);

#endif
