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
	free(stacks->of_stack);
	free(stacks->path);
	*stacks = (struct page_stacks){0};
}

/* Functions and nodes are fewer than this, so that one number says which node it is. */
#define NUMBERS_BITS 31

static int64_t add_node(struct page_tables *tables, const struct page_node *node)
{
	uint32_t room = array_room(tables->node_room, tables->node_count + 1, 1024);

	if (room != tables->node_room &&
	    !array_resize(&tables->nodes, room, sizeof(*tables->nodes)))
		return -ENOMEM;
	tables->node_room = room;
	tables->nodes[tables->node_count] = *node;
	return tables->node_count++;
}

/* Stacks of the session differ, so a new stack is a new node, unless two of its frames are one
 * function: from there inwards nodes are looked for. */
static int64_t node_below(struct page_stacks *stacks, uint32_t parent, uint32_t frame, bool hidden,
			  bool may_be_there)
{
	struct page_functions *functions = stacks->functions;
	struct page_tables *tables = functions->tables;
	int64_t function = tally_page_function(functions, frame), made;
	struct page_node node = {
	    .parent = parent,
	    .function = (uint32_t)function,
	    .hidden = hidden,
	    .shared = tables->nodes[parent].shared ||
		      functions->shared[places_find(&functions->places, frame)],
	};
	uint64_t *known;
	bool added;

	if (function < 0 || (uint64_t)function >> NUMBERS_BITS ||
	    tables->node_count >> NUMBERS_BITS)
		return -ENOMEM;
	node.inlined = tables->functions[function].inlined;
	if (!node.shared && !may_be_there && !tables->several)
		return add_node(tables, &node);
	known = tally_map_put(
	    &tables->known_nodes,
	    (uint64_t)parent << (NUMBERS_BITS + 1) | (uint64_t)function << 1 | hidden, &added);
	if (!known)
		return -ENOMEM;
	if (!added)
		return (int64_t)*known;
	made = add_node(tables, &node);
	if (made > 0)
		*known = (uint64_t)made;
	return made;
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
		node = node_below(stacks, (uint32_t)node, stacks_frame(tree, number), false, false);
		if (node < 0)
			return node;
		stacks->of_stack[number] = (uint32_t)node;
	}
	/* As in a profile's call tree: a sample whose chain does not have its place, or ends in a
	 * function that was inlined there, counts for the place. */
	if (!stack || stacks_frame(tree, stack) != frame)
		node = node_below(stacks, (uint32_t)node, frame, stack != 0, true);
	return node;
}

/* Numbers the nodes in preorder, so that a node's number is close to its parent's: such columns
 * pack well. */
int tally_page_stacks_order(struct page_tables *tables, uint32_t *nodes, uint32_t count)
{
	struct page_node *old = tables->nodes;
	uint32_t *size = table_new(tables->node_count, sizeof(*size));
	uint32_t *next = table_new(tables->node_count, sizeof(*next));
	struct page_node *placed = malloc(tables->node_count * sizeof(*placed));

	if (size && next && placed) {
		for (uint32_t i = tables->node_count; i-- > 1;)
			size[old[i].parent] += ++size[i];
		next[0] = 1; /* where its next child will be */
		placed[0] = old[0];
		for (uint32_t i = 1; i < tables->node_count; i++) {
			uint32_t *above = &next[old[i].parent], at = *above;

			*above += size[i];
			next[i] = at + 1;
			size[i] = at; /* from here on its new number */
			placed[at] = old[i];
			placed[at].parent = old[i].parent ? size[old[i].parent] : 0;
		}
		for (uint32_t i = 0; i < count; i++)
			nodes[i] = nodes[i] ? size[nodes[i]] : 0;
		tables->nodes = placed;
		tables->node_room = tables->node_count;
		placed = old;
	}
	free(placed);
	free(size);
	free(next);
	return tables->nodes == old ? -ENOMEM : 0;
}
