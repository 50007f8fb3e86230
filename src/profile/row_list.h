/* The rows of a profile: sums of the call tree's nodes by context and place. */
#ifndef TALLY_PROFILE_ROW_LIST_H
#define TALLY_PROFILE_ROW_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include "profile/contexts.h"
#include "profile/worker.h"
#include "profile/place_ranks.h"
#include "profile/places.h"
#include "profile/call_tree.h"

struct tally_row {
	uint32_t context;
	uint32_t key; /* with the symbol key: a place's frame; with dso only: dso + 1; else 0 */
	uint64_t self, children, samples;
	uint32_t number; /* of rows that have trees: nodes tell it; TALLY_NO_ROW: it has none */
};

/* Nodes by row, in preorder: those of row number n are list[first[n]..first[n + 1]). */
struct tally_row_nodes {
	uint32_t *first, *list;
};

struct tally_rows {
	struct tally_row *list; /* by event, then as reports list them; by number until made */
	uint32_t count, room;
	uint32_t *event_first;       /* by event and one beyond: index in the list */
	struct tally_row_nodes all;  /* the nodes of each row; with children only */
	struct tally_row_nodes ends; /* the nodes of each row where samples end */
};

struct tally_rows_plan {
	const struct profile_keys *keys;
	bool children;                  /* rows count what is below them */
	bool resolved;                  /* callers without a symbol have no rows */
	bool relative;                  /* shares are of what passed the filters */
	double tree_least;              /* % of what shares are of */
	const struct profile_sum *sums; /* by event */
	const uint32_t *node_contexts; /* by node: its row's (caller_lines.h); NULL: its samples' */
	struct tally_place_ranks *ranks; /* empty: made when rows are put in order */
	uint32_t event_count;
};

/* Whether a row is below that share of its event's period. */
static inline bool rows_is_small(double least, const struct tally_row *row, uint64_t total)
{
	/* Whole periods, as perf has it. */
	double whole = (double)total * (least / 100.0);

	return whole >= 0x1p64 || (whole >= 1 && row->children < (uint64_t)whole);
}

/* The key of a place's row. */
static inline uint32_t rows_key(const struct profile_keys *keys, const struct tally_places *places,
				uint32_t place)
{
	return keys->symbol ? place : keys->image ? places->dso_of[place] + 1 : 0;
}

/* Makes rows, writes each node's row, and sums the tree.  0 or -ENOMEM. */
int tally_rows_make(const struct tally_rows_plan *plan, struct tally_call_tree *tree,
		    const struct tally_contexts *contexts, struct tally_places *places,
		    struct tally_rows *ret);
/* Makes rows of sums without call stacks, which are empty then.  0 or -ENOMEM. */
int tally_rows_make_flat(const struct tally_rows_plan *plan, struct tally_call_sums *sums,
			 const struct tally_contexts *contexts, struct tally_places *places,
			 struct tally_rows *ret);
/* Lists the nodes where samples end by their rows, whose numbers are below `row_count`.  0 or
 * -ENOMEM. */
int tally_rows_list_ends(const struct tally_call_tree *tree, uint32_t row_count,
			 struct tally_row_nodes *ret);
void tally_rows_done(struct tally_rows *rows);

#endif
