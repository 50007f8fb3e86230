/* One address space: which mapping contains an address at a time.
 *
 * Mappings arrive in time order and the newest wins; MMAP records report unmapping only that way.
 * Freezing makes the final state (sorted segments, each with one owner), valid for all times since
 * the last mapping that replaced another. Only spaces with such mappings get, for the times before,
 * a tree over the address ranges with all owners. */
#ifndef TALLY_PROCESS_SPACE_H
#define TALLY_PROCESS_SPACE_H

#include "process/process.h"

#define SPACE_NONE UINT32_MAX

/* A mapping as the table keeps it. */
struct tally_mapping_row {
	struct tally_mapping mapping;
	uint64_t time;
};

struct tally_space_segment {
	uint64_t start, end;
	uint32_t row;
};

/* All owners over time. Elementary ranges [bounds[n], bounds[n + 1]) are the leaves of a complete
 * binary tree; a mapping is in the few nodes that make up its range, each node's in time order. */
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
	uint64_t fork_time;
	uint64_t exec_time; /* when the exec was, if not at fork_time; 0: it was */
	uint32_t id;        /* one for all time; see tally_space_id() */
	uint32_t parent;    /* number of the space that it was forked from, or SPACE_NONE */
	uint32_t own_count;
	uint32_t version; /* how many mappings it was fed, not counting renewals */
	bool exec;  /* made by exec: the parent is the process's space before, see space_up() */
	bool apart; /* made by freezing: no two of its mappings overlap: a segment is a mapping */
	/* Of a renewed space: its rows, one behind the other, while none is added. */
	uint32_t first_row, renewed_count;
	uint32_t frozen_count; /* of its rows: what follows is made of these */
	/* Made by freezing. */
	uint32_t segment_count;
	uint32_t first_era, change_count;
	struct tally_space_segment *segments;
	uint64_t *changes; /* ascending times at which a mapping replaced another */
	struct tally_space_history *history; /* NULL when nothing changed */
};

/* Makes the final segments and the changes from the space's own mappings (row numbers, in order of
 * arrival); `above` is already frozen. What was made of the same rows stays.
 * 0 or -ENOMEM. */
int tally_space_freeze(struct tally_space *space, const uint32_t *own);
void tally_space_done(struct tally_space *space);

/* overlap.c: the same for spaces whose own mappings overlap. Appends the time of each that replaced
 * another to changes[], which has room for all. */
int tally_space_freeze_overlapping(struct tally_space *space, const uint32_t *own,
				   uint64_t *changes, uint32_t *change_count);
/* history.c */
int tally_space_history_make(struct tally_space *space, const uint32_t *own);
void tally_space_history_free(struct tally_space_history *history);
/* The row that contains `addr` at `time`; else the first that will, in *ret_later; SPACE_NONE each.
 */
uint32_t tally_space_history_find(const struct tally_space *space, uint64_t addr, uint64_t time,
				  uint32_t *ret_later);

/* Whether any final segment overlaps the range. */
bool tally_space_holds(const struct tally_space *space, uint64_t start, uint64_t end);

/* Whether a look-up in both gives the same place. */
bool tally_mapping_row_same(const struct tally_mapping_row *a, const struct tally_mapping_row *b);

#endif
