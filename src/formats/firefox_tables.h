/* The tables that all threads of a profile for the Firefox Profiler share: stacks, frames,
 * functions, binaries, sources, strings. */
#ifndef TALLY_FORMATS_FIREFOX_TABLES_H
#define TALLY_FORMATS_FIREFOX_TABLES_H

#include <stdint.h>
#include "base/json.h"
#include "convert/code_tables.h"

/* Kinds of code, which the profiler colours; the first one is for what is neither. */
enum firefox_category { FIREFOX_OTHER, FIREFOX_USER, FIREFOX_KERNEL };

struct firefox_stack {
	uint32_t prefix; /* + 1; 0: none */
	uint32_t line;   /* of the places: its frame */
};

struct firefox_tables {
	struct convert *convert;
	struct code_tables code;
	struct firefox_stack *stacks;
	uint32_t stack_count, stack_room;
	uint32_t *row_of;   /* by node, twice: of samples and of calls; + 1 */
	uint32_t *place_of; /* by line of the places: its place */
	/* A step from a stack's end on, while its row is looked for. */
	struct firefox_step {
		uint32_t node, line;
		bool call;
	} * path;
	uint32_t path_room;
};

/* 0 or -ENOMEM; to be released in any case. */
int tally_firefox_tables_init(struct firefox_tables *tables, struct convert *convert,
			      const struct stack_table *stacks);
void tally_firefox_tables_done(struct firefox_tables *tables);
/* The row of a node's stack + 1; 0: it has none.  Below 0: -ENOMEM. */
int64_t tally_firefox_tables_stack(struct firefox_tables *tables, uint32_t node);
/* Fetches what that reads first; and, when that is there, what it reads then. */
static inline void firefox_tables_fetch(const struct firefox_tables *tables, uint32_t node)
{
	code_places_fetch(&tables->code.places, node);
	__builtin_prefetch(&tables->row_of[node * 2ULL]);
}
static inline void firefox_tables_fetch_caller(const struct firefox_tables *tables, uint32_t node)
{
	code_places_fetch_caller(&tables->code.places, node);
	__builtin_prefetch(&tables->row_of[tables->code.places.stacks->nodes[node].caller * 2ULL]);
}
/* Finds what all stacks so far are made of, and writes "libs" and "shared".  0 or -errno. */
int tally_firefox_tables_write(struct firefox_tables *tables, struct json *json);
/* The number of a string that is in no table. 0 or above; -ENOMEM. */
int64_t tally_firefox_tables_string(struct firefox_tables *tables, const char *text);

#endif
