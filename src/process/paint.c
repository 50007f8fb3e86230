/* Spaces whose mappings overlap: each mapping paints its range, in order of arrival, on a tree over
 * the elementary ranges.  Whether it changes a colour tells whether it took another's place; the
 * colours of the end are the segments.  A node of one colour has it for all below it. */
#include "process/space.h"

#include <errno.h>
#include <stdlib.h>

#define COLOUR_NONE  UINT32_MAX
#define COLOUR_MIXED (UINT32_MAX - 1)

struct paint {
	const struct tally_space *space;
	uint64_t *bounds;
	uint32_t bound_count, leaves;
	uint32_t *colours; /* by node: a row's number */
};

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static uint32_t bound_index(const struct paint *paint, uint64_t value)
{
	uint32_t low = 0, high = paint->bound_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (paint->bounds[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int paint_init(struct paint *paint, const uint32_t *own)
{
	uint32_t count = 0, kept = 0;

	if (paint->space->own_count >= 1U << 28)
		return -ENOMEM;
	paint->bounds = calloc((size_t)paint->space->own_count * 2, sizeof(*paint->bounds));
	if (!paint->bounds)
		return -ENOMEM;
	for (uint32_t i = 0; i < paint->space->own_count; i++) {
		paint->bounds[count++] = paint->space->rows[own[i]].mapping.start;
		paint->bounds[count++] = paint->space->rows[own[i]].mapping.end;
	}
	qsort(paint->bounds, count, sizeof(*paint->bounds), by_value);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || paint->bounds[i] != paint->bounds[kept - 1])
			paint->bounds[kept++] = paint->bounds[i];
	paint->bound_count = kept;
	for (paint->leaves = 1; paint->leaves < kept;)
		paint->leaves *= 2;
	paint->colours = malloc((size_t)paint->leaves * 2 * sizeof(*paint->colours));
	if (!paint->colours)
		return -ENOMEM;
	for (uint32_t node = 0; node < paint->leaves * 2; node++)
		paint->colours[node] = COLOUR_NONE;
	return 0;
}

/* Whether something else than `row`'s like stands below the node.  A mixed node is of one colour
 * afterwards, so the walks down are paid for by the paintings that mixed it. */
static bool differs(const struct paint *paint, uint32_t node, uint32_t row)
{
	uint32_t colour = paint->colours[node];

	if (colour == COLOUR_MIXED)
		return differs(paint, node * 2, row) || differs(paint, node * 2 + 1, row);
	return colour != COLOUR_NONE &&
	       !tally_mapping_row_same(&paint->space->rows[colour], &paint->space->rows[row]);
}

/* Paints leaves [from, to) of the node, whose leaves are [low, high). */
static bool fill(struct paint *paint, uint32_t node, uint32_t low, uint32_t high, uint32_t from,
		 uint32_t to, uint32_t row)
{
	uint32_t middle = low + (high - low) / 2, *colours = paint->colours;
	bool changed = false;

	if (from <= low && high <= to) {
		changed = differs(paint, node, row);
		colours[node] = row;
		return changed;
	}
	if (colours[node] != COLOUR_MIXED) {
		colours[node * 2] = colours[node * 2 + 1] = colours[node];
		colours[node] = COLOUR_MIXED;
	}
	if (from < middle)
		changed = fill(paint, node * 2, low, middle, from, to, row);
	if (to > middle)
		changed |= fill(paint, node * 2 + 1, middle, high, from, to, row);
	return changed;
}

static void collect(const struct paint *paint, uint32_t node, uint32_t low, uint32_t high,
		    struct tally_space *space)
{
	uint32_t colour = paint->colours[node];

	if (colour == COLOUR_MIXED) {
		uint32_t middle = low + (high - low) / 2;

		collect(paint, node * 2, low, middle, space);
		collect(paint, node * 2 + 1, middle, high, space);
	} else if (colour != COLOUR_NONE && !space->rows[colour].hole) {
		struct tally_space_segment *last =
		    space->segment_count ? &space->segments[space->segment_count - 1] : NULL;

		if (last && last->row == colour && last->end == paint->bounds[low])
			last->end = paint->bounds[high];
		else
			space->segments[space->segment_count++] = (struct tally_space_segment){
			    paint->bounds[low], paint->bounds[high], colour};
	}
}

int tally_space_paint(struct tally_space *space, const uint32_t *own, uint64_t *changes,
		      uint32_t *change_count)
{
	struct paint paint = {.space = space};
	struct tally_space_segment *segments;
	int result = paint_init(&paint, own);

	for (uint32_t i = 0; !result && i < space->own_count; i++) {
		const struct tally_mapping_row *row = &space->rows[own[i]];

		if (fill(&paint, 1, 0, paint.leaves, bound_index(&paint, row->mapping.start),
			 bound_index(&paint, row->mapping.end), own[i]))
			changes[(*change_count)++] = row->time;
	}
	if (!result) {
		segments = reallocarray(space->segments, paint.bound_count, sizeof(*segments));
		if (segments) {
			space->segments = segments;
			space->segment_count = 0;
			collect(&paint, 1, 0, paint.leaves, space);
		} else {
			result = -ENOMEM;
		}
	}
	free(paint.bounds);
	free(paint.colours);
	return result;
}
