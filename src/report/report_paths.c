/* A row's call tree as paths: each place where samples end, with the way to it. */
#include <errno.h>
#include <stdlib.h>
#include "base/cell.h"
#include "report/report_frame.h"
#include "report/report_tree.h"

#define BLOCK_LEAD 11
#define FRAME_LEAD 16

struct paths {
	const struct tally_tree *tree;
	uint32_t *parents; /* by node */
	uint32_t *ends;    /* nodes where enough samples end */
	uint32_t count;
};

static int compare(const void *left, const void *right, void *context)
{
	const struct tally_tree_node *nodes = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (nodes[a].self != nodes[b].self)
		return nodes[a].self > nodes[b].self ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int find_ends(struct paths *paths, double least)
{
	const struct tally_tree *tree = paths->tree;

	paths->parents = calloc((size_t)tree->count + 1, sizeof(*paths->parents));
	paths->ends = calloc((size_t)tree->count + 1, sizeof(*paths->ends));
	if (!paths->parents || !paths->ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tally_tree_node *node = &tree->nodes[i];

		for (uint32_t k = 0; k < node->child_count; k++)
			paths->parents[node->first_child + k] = i;
		if (node->self && (double)node->self >= least && (i || tree->row_is_frame))
			paths->ends[paths->count++] = i;
	}
	qsort_r(paths->ends, paths->count, sizeof(*paths->ends), compare, tree->nodes);
	return 0;
}

/* The frames from the start of the tree to the node. */
static void put_path(const struct paths *paths, uint32_t node, bool folded, struct tally_buf *to)
{
	bool first = !node || (!paths->parents[node] && !paths->tree->row_is_frame);

	if (!first)
		put_path(paths, paths->parents[node], folded, to);
	if (!folded)
		tally_cell_spaces(to, FRAME_LEAD);
	else if (!first)
		tally_buf_byte(to, ';');
	tally_report_node(to, paths->tree, node);
	if (!folded)
		tally_buf_byte(to, '\n');
}

int tally_report_paths(struct tally_buf *to, const struct tally_tree *tree, uint64_t whole,
		       const struct tally_report_options *options)
{
	bool folded = options->tree_style == TALLY_TREE_FOLDED;
	struct paths paths = {.tree = tree};
	int result = find_ends(&paths, (double)whole * (options->tree_least / 100));

	if (options->tree_limit && paths.count > options->tree_limit)
		paths.count = (uint32_t)options->tree_limit;
	for (uint32_t i = 0; i < paths.count && !result; i++) {
		if (!folded)
			tally_cell_spaces(to, BLOCK_LEAD);
		tally_report_tree_value(to, tree->nodes[paths.ends[i]].self,
					tree->nodes[paths.ends[i]].self_samples, whole, options);
		tally_buf_byte(to, folded ? ' ' : '\n');
		put_path(&paths, paths.ends[i], folded, to);
		tally_buf_byte(to, '\n');
	}
	free(paths.parents);
	free(paths.ends);
	return result ? result : to->failed;
}
