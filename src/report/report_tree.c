/* Call trees in the style of perf's --stdio graphs: a chain without a fork is a straight line down,
 * a fork shows the share of each branch.
 *
 *            |
 *            ---outermost
 *               its_only_callee
 *               |
 *               |--12.34%--one_branch
 *               |          and_its_only_callee
 *               |
 *                --5.67%--the_last_branch
 */
#include "report/report_tree.h"

#include "base/cell.h"
#include "report/shorten.h"
#include "report/report_frame.h"

#define MARGIN 12
#define STEP   11 /* columns from a fork to its branches' forks: perf's */
/* On a terminal the indentation is smaller if a tree would leave fewer columns than this for its
 * functions. */
#define STEP_LEAST  2
#define FRAME_LEAST 36
#define CUT_LEAST   12 /* and deeper branches are left out */
/* Only made-up trees fork deeper than this; a line's indentation would grow without limit. */
#define FORKS_MOST 200

struct drawing {
	struct tally_buf *to;
	const struct tally_tree *tree;
	const struct tally_report_options *options;
	uint64_t whole;
	size_t step;
	struct tally_buf lead; /* the indentation of each line at this depth */
	struct tally_buf line;
};

/* What the shares of a node's branches are of. */
static uint64_t base_of(const struct drawing *drawing, const struct tally_tree_node *node)
{
	if (drawing->options->tree_style != TALLY_TREE_FRACTAL)
		return drawing->whole;
	return node == drawing->tree->nodes ? node->total : node->total - node->self;
}

/* How many branches of a node are large enough: the largest come first. */
static uint32_t large_branches(const struct drawing *drawing, const struct tally_tree_node *node)
{
	const struct tally_tree_node *children = &drawing->tree->nodes[node->first_child];
	uint32_t count = node->child_count;
	double least = 0;

	if (drawing->options->tree_style == TALLY_TREE_FRACTAL)
		least = (double)base_of(drawing, node) * (drawing->options->tree_least / 100);
	while (count && (double)children[count - 1].total < least)
		count--;
	return count;
}

/* How many of these are shown. */
static uint32_t branches_of(const struct drawing *drawing, const struct tally_tree_node *node)
{
	uint64_t limit = drawing->options->tree_limit;
	uint32_t count = large_branches(drawing, node);

	return limit && count > limit ? (uint32_t)limit : count;
}

/* A branch's share, or its period. */
static void put_value(const struct drawing *drawing, uint64_t period, uint64_t samples,
		      uint64_t base)
{
	tally_report_tree_value(drawing->to, period, samples, base, drawing->options);
}

void tally_report_tree_value(struct tally_buf *to, uint64_t period, uint64_t samples, uint64_t base,
			     const struct tally_report_options *options)
{
	uint64_t share = tally_cell_share(period, base);
	bool tinted = tally_cell_tint(to, share, options->colour);

	if (options->tree_value == TALLY_TREE_PERIOD)
		tally_cell_u64(to, period);
	else if (options->tree_value == TALLY_TREE_SAMPLES)
		tally_cell_u64(to, samples);
	else
		tally_cell_percent(to, share);
	tally_cell_plain(to, tinted);
}

static void put_frame(struct drawing *drawing, const struct tally_tree_node *node, size_t used)
{
	struct tally_buf *line = &drawing->line;
	size_t width = drawing->options->width, bytes;

	tally_buf_clear(line);
	tally_report_node(line, drawing->tree, (uint32_t)(node - drawing->tree->nodes));
	bytes = line->size;
	if (width && !drawing->options->whole_names) {
		size_t room = width > used + CUT_LEAST ? width - used : CUT_LEAST;

		tally_shorten(drawing->to, (const char *)line->data, bytes, room);
		tally_buf_byte(drawing->to, '\n');
		return;
	}
	tally_buf_add(drawing->to, line->data, bytes);
	tally_buf_byte(drawing->to, '\n');
}

static void put_lead(struct drawing *drawing)
{
	tally_buf_add(drawing->to, drawing->lead.data, drawing->lead.size);
}

/* A line with only the indentation and a bar. */
static void put_bar(struct drawing *drawing)
{
	put_lead(drawing);
	tally_buf_text(drawing->to, "|\n");
}

/* The only child of a node, if it has the whole period; else NULL.  On a terminal, where columns
 * are few, it is enough that the printed share is the same. */
static const struct tally_tree_node *only_child(const struct drawing *drawing,
						const struct tally_tree_node *node)
{
	const struct tally_tree_node *child;
	bool same;

	if (branches_of(drawing, node) != 1)
		return NULL;
	child = &drawing->tree->nodes[node->first_child];
	same = child->total == node->total;
	if (!same && drawing->options->width)
		same = tally_cell_share(child->total, drawing->whole) ==
		       tally_cell_share(node->total, drawing->whole);
	return same ? child : NULL;
}

/* The number of forks one below another. */
static unsigned forks_below(const struct drawing *drawing, const struct tally_tree_node *node,
			    unsigned forks)
{
	const struct tally_tree_node *child;
	unsigned deepest = forks;

	while ((child = only_child(drawing, node)))
		node = child;
	for (uint32_t i = 0; i < node->child_count && forks < FORKS_MOST; i++) {
		unsigned below =
		    forks_below(drawing, &drawing->tree->nodes[node->first_child + i], forks + 1);

		deepest = below > deepest ? below : deepest;
	}
	return deepest;
}

/* On a terminal, the indentation of branches is as large as the deepest one allows. */
static size_t step_of(const struct drawing *drawing)
{
	size_t width = drawing->options->width, used = MARGIN + FRAME_LEAST, step;
	unsigned forks = width ? forks_below(drawing, drawing->tree->nodes, 0) : 0;

	if (!forks)
		return STEP;
	step = width > used ? (width - used) / forks : 0;
	return step > STEP ? STEP : step < STEP_LEAST ? STEP_LEAST : step;
}

/* Adds the indentation of the lines below a branch. */
static void put_step(struct drawing *drawing, bool last)
{
	tally_buf_byte(&drawing->lead, last ? ' ' : '|');
	tally_cell_spaces(&drawing->lead, drawing->step - 1);
}

static bool is_too_deep(const struct drawing *drawing, unsigned forks)
{
	size_t width = drawing->options->width;

	return forks == FORKS_MOST ||
	       (forks && width && drawing->lead.size + STEP + 2 + CUT_LEAST > width);
}

/* In a fractal tree, what is in the branches of a node that are not shown, if others are. */
static uint64_t rest_of(const struct drawing *drawing, const struct tally_tree_node *node,
			uint64_t base)
{
	uint64_t rest = base;
	uint32_t count = branches_of(drawing, node);

	if (drawing->options->tree_style != TALLY_TREE_FRACTAL)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		rest -= drawing->tree->nodes[node->first_child + i].total;
	return rest == base ? 0 : rest;
}

/* And how many samples that is; perf does not count those of the function itself. */
static uint64_t rest_samples(const struct drawing *drawing, const struct tally_tree_node *node)
{
	uint64_t rest = 0;

	for (uint32_t i = branches_of(drawing, node); i < node->child_count; i++)
		rest += drawing->tree->nodes[node->first_child + i].total_samples;
	return rest;
}

/* Writes the part of the tree below a node, after its own line. */
static void put_below(struct drawing *drawing, const struct tally_tree_node *node, unsigned forks)
{
	const struct tally_tree_node *child;
	size_t lead = drawing->lead.size;
	uint64_t base, rest;

	while ((child = only_child(drawing, node))) {
		put_lead(drawing);
		put_frame(drawing, child, lead);
		node = child;
	}
	/* As in perf, the first fork shows shares of all of the row, also where its function has
	 * samples of its own. */
	base = base_of(drawing, forks ? node : drawing->tree->nodes);
	rest = rest_of(drawing, node, base);
	if (branches_of(drawing, node) && is_too_deep(drawing, forks)) {
		put_lead(drawing);
		tally_buf_text(drawing->to, "...\n");
		return;
	}
	for (uint32_t i = 0, count = branches_of(drawing, node); i < count; i++) {
		/* As perf, which draws on where a limit cuts branches off. */
		bool last = i + 1 == large_branches(drawing, node) && !rest;
		size_t before;

		child = &drawing->tree->nodes[node->first_child + i];
		put_bar(drawing);
		put_lead(drawing);
		tally_buf_text(drawing->to, last ? " --" : "|--");
		before = drawing->to->size;
		put_value(drawing, child->total, child->total_samples, base);
		/* Colours take bytes and no columns. */
		before = drawing->options->colour ? 5 : drawing->to->size - before;
		tally_buf_text(drawing->to, "--");
		put_frame(drawing, child, lead + 5 + before);
		put_step(drawing, last);
		put_below(drawing, child, forks + 1);
		drawing->lead.size = lead;
	}
	if (rest &&
	    (drawing->options->tree_value != TALLY_TREE_SAMPLES || rest_samples(drawing, node))) {
		put_lead(drawing);
		tally_buf_text(drawing->to, " --");
		put_value(drawing, rest, rest_samples(drawing, node), base);
		tally_buf_text(drawing->to, "--[...]\n");
	}
}

static bool same_frame(const struct tally_frame *one, const struct tally_frame *other)
{
	return one->place == other->place && one->symbol == other->symbol &&
	       one->image_name == other->image_name;
}

void tally_report_tree(struct tally_buf *to, const struct tally_tree *tree, uint64_t whole,
		       const struct tally_report_options *options, bool by_symbol)
{
	struct drawing drawing = {.to = to, .tree = tree, .options = options, .whole = whole};
	const struct tally_tree_node *node = tree->nodes;

	drawing.step = step_of(&drawing);
	tally_cell_spaces(&drawing.lead, MARGIN);
	if (!tree->row_is_frame) {
		const struct tally_tree_node *child = only_child(&drawing, node);

		if (!child) {
			put_below(&drawing, node, 0);
			goto done;
		}
		node = child;
	}
	if (by_symbol && same_frame(&node->frame, &tree->nodes->frame)) {
		const struct tally_tree_node *child = only_child(&drawing, node);

		if (!child) {
			put_below(&drawing, node, 0);
			goto done;
		}
		node = child;
	}
	put_bar(&drawing);
	put_lead(&drawing);
	tally_buf_text(to, "---");
	put_frame(&drawing, node, MARGIN + 3);
	tally_cell_spaces(&drawing.lead, 3);
	put_below(&drawing, node, 0);
done:
	if (drawing.lead.failed)
		to->failed = drawing.lead.failed;
	if (drawing.line.failed)
		to->failed = drawing.line.failed;
	tally_buf_done(&drawing.lead);
	tally_buf_done(&drawing.line);
}
