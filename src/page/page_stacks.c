/* The tree of stacks: the session's, with functions in place of frames, and of it only what samples
 * end in. */
#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "page/page_tables.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

int tally_page_stacks_init(struct page_stacks *stacks, struct page_functions *functions)
{
	uint32_t count = stacks_count(tally_session_stacks(functions->session));

	*stacks = (struct page_stacks){.functions = functions};
	stacks->of_stack = table_new((size_t)count + 1, sizeof(*stacks->of_stack));
	return stacks->of_stack ? 0 : -ENOMEM;
}

void tally_page_stacks_done(struct page_stacks *stacks)
{
	tally_map_done(&stacks->known);
	free(stacks->of_stack);
	free(stacks->path);
	*stacks = (struct page_stacks){0};
}

/* Functions and nodes are fewer than this, so that one number says which node it is. */
#define NUMBERS_BITS 31

static int64_t node_below(struct page_stacks *stacks, uint32_t parent, uint32_t frame, bool hidden)
{
	struct page_tables *tables = stacks->functions->tables;
	int64_t function = tally_page_function(stacks->functions, frame);
	uint64_t *node;
	uint32_t room;
	bool added;

	if (function < 0 || tables->node_count >> NUMBERS_BITS)
		return -ENOMEM;
	node = tally_map_put(
	    &stacks->known,
	    (uint64_t)parent << (NUMBERS_BITS + 1) | (uint64_t)function << 1 | hidden, &added);
	if (!node)
		return -ENOMEM;
	if (!added)
		return (int64_t)*node;
	room = array_room(tables->node_room, tables->node_count + 1, 1024);
	if (room != tables->node_room &&
	    !array_resize(&tables->nodes, room, sizeof(*tables->nodes)))
		return -ENOMEM;
	tables->node_room = room;
	tables->nodes[tables->node_count] = (struct page_node){
	    .parent = parent,
	    .function = (uint32_t)function,
	    .inlined = tables->functions[function].inlined,
	    .hidden = hidden,
	};
	*node = tables->node_count;
	return tables->node_count++;
}

int64_t tally_page_stack(struct page_stacks *stacks, uint32_t stack, uint32_t frame)
{
	const struct tally_stacks *tree = tally_session_stacks(stacks->functions->session);
	uint32_t depth = 0, number;
	int64_t node = 0;

	for (number = stack; number && !stacks->of_stack[number];
	     number = stacks_caller(tree, number)) {
		uint32_t room = array_room(stacks->path_room, depth + 1, 256);

		if (room != stacks->path_room &&
		    !array_resize(&stacks->path, room, sizeof(*stacks->path)))
			return -ENOMEM;
		stacks->path_room = room;
		stacks->path[depth++] = number;
	}
	if (number)
		node = stacks->of_stack[number];
	while (depth) {
		number = stacks->path[--depth];
		node = node_below(stacks, (uint32_t)node, stacks_frame(tree, number), false);
		if (node < 0)
			return node;
		stacks->of_stack[number] = (uint32_t)node;
	}
	/* As in a profile's call tree: a sample whose chain does not have its place, or ends in a
	 * function that was inlined there, counts for the place. */
	if (!stack || stacks_frame(tree, stack) != frame)
		node = node_below(stacks, (uint32_t)node, frame, stack != 0);
	return node;
}
