/* The stacks of an export: those that samples have, as a table that is the same whatever order the
 * samples were read in.
 *
 * First all pairs of a stack and a sampled frame are added; then the table is made: its frames in
 * the order of their texts, and its nodes in that of their depth, callers and frames, so that a
 * caller is before what it called. */
#ifndef TALLY_CONVERT_STACK_TABLE_H
#define TALLY_CONVERT_STACK_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/session.h>
#include "base/map.h"

struct stack_node {
	uint32_t caller; /* a node; 0: none */
	uint32_t frame;  /* index in the table's frames */
};

struct stack_leaf; /* a pair that was added */

struct stack_table { /* all zero but for the first two is empty */
	struct tally_session *session;
	bool as_recorded; /* stacks end where the recorded chain does, not in the sampled frame */
	uint32_t *frames; /* frame_count numbers of the session's frames; frames[0] is none */
	struct stack_node *nodes; /* node_count of them; nodes[0] is none */
	uint32_t frame_count, node_count;
	struct stack_leaf *leaves; /* the pairs */
	uint32_t leaf_count, leaf_room;
	/* Most stacks are of one pair: + 1, by stack of the session; 0: none.  Others are in the
	 * map. */
	uint32_t *first;
	uint32_t first_room;
	struct tally_map known;
};

void tally_stack_table_done(struct stack_table *table);
/* Frees what is known of pairs, once nobody asks for the nodes of more. */
void tally_stack_table_drop_pairs(struct stack_table *table);
/* The number of a pair, from 0; -ENOMEM. */
int64_t tally_stack_table_add(struct stack_table *table, uint32_t stack, uint32_t frame);
/* 0 or -ENOMEM. */
int tally_stack_table_make(struct stack_table *table);
/* The node of a pair, once the table is made; 0: there is no frame at all. */
uint32_t tally_stack_table_node(const struct stack_table *table, int64_t pair);

#endif
