/* The code of an export's stacks: its addresses, with the functions that were inlined there and
 * their source lines.
 *
 * A place is some nodes of a stack beside each other that are at one address: a function, and those
 * that were inlined into it.  The address of a call is that behind it, as the processor keeps it;
 * its line is looked up one byte before. */
#ifndef TALLY_CONVERT_CODE_PLACES_H
#define TALLY_CONVERT_CODE_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/map.h"
#include "convert/convert.h"
#include "convert/stack_table.h"

/* A function at a place. */
struct code_line {
	uint32_t frame;   /* index in the stacks' frames */
	uint32_t line;    /* 0: unknown */
	const char *file; /* the whole path as the compiler had it; NULL: unknown */
};

struct code_place {
	uint64_t place;                  /* of struct tally_frame_place; of a call one less */
	uint64_t address;                /* of the file, as objdump shows it; of a call one less */
	uint32_t image;                  /* of the session */
	uint32_t first_line, line_count; /* innermost first */
	bool call;
};

/* A node of the stacks as samples have it: at its end, or as a caller. */
struct code_position {
	uint32_t node;
	bool call;
};

struct code_places {
	struct convert *convert;
	const struct stack_table *stacks;
	struct code_place *list; /* list[0] is none */
	struct code_line *lines;
	uint32_t count, room, line_count, line_room;
	struct tally_map known; /* of those with inlined functions */
	/* By node, while it is walked: the place that it begins as the innermost, the first node
	 * behind that, and whether that one calls; twice, of samples and of calls. */
	struct code_step {
		uint32_t place;
		uint32_t next : 31, calls : 1;
	} * steps;
	/* By frame of the stacks, twice as well: its place where nothing is inlined; 0: not met,
	 * or something is. */
	uint32_t *plain;
	/* By frame of the stacks: what a walk asks of it, in one place of the memory. */
	struct code_frame {
		uint64_t place;
		uint32_t image;
		char level;
		bool inlined;
		bool starts; /* at its function's start, where no call is before it */
	} * frames;
};

/* Of stacks that are made and stay.  0 or -ENOMEM. */
int tally_code_places_init(struct code_places *places, struct convert *convert,
			   const struct stack_table *stacks);
void tally_code_places_done(struct code_places *places);
/* The place of a position, from 1 in the order of their first use; the position becomes its
 * caller's, with node 0 for none.  0: out of memory. */
uint32_t tally_code_places_walk(struct code_places *places, struct code_position *at);
/* Walks a sample's stack to its end.  0 or -ENOMEM. */
int tally_code_places_add(struct code_places *places, uint32_t node);
/* Fetches what a walk from a sample's node reads first; and, when that is there, what it reads
 * then. Nodes are anywhere in memory. */
static inline void code_places_fetch(const struct code_places *places, uint32_t node)
{
	__builtin_prefetch(&places->stacks->nodes[node]);
	__builtin_prefetch(&places->steps[node * 2ULL]);
}
static inline void code_places_fetch_caller(const struct code_places *places, uint32_t node)
{
	const struct stack_node *at = &places->stacks->nodes[node];

	__builtin_prefetch(&places->plain[at->frame * 2ULL]);
	__builtin_prefetch(&places->frames[at->frame]);
	code_places_fetch(places, at->caller);
}
/* As tally_code_places_walk() of a position that was walked before; on any thread. */
static inline uint32_t code_places_next(const struct code_places *places, struct code_position *at)
{
	const struct code_step *step = &places->steps[at->node * 2ULL + at->call];

	*at = (struct code_position){.node = step->next, .call = step->calls};
	return step->place;
}
/* Whether a place's names are left out (struct tally_export_options, no_symbols). */
bool tally_code_places_nameless(const struct code_places *places, const struct code_place *place);
/* Finds the addresses and lines of all places, by several threads.  0, -ECANCELED or -ENOMEM. */
int tally_code_places_find(struct code_places *places);

#endif
