/* All owners of all addresses over time: a tree over the elementary ranges, each mapping in the
 * O(log n) nodes that make up its range. The owner of an address at a time is the newest of the
 * candidates on the way from the leaf to the root, one for each level. */
#include "process/space.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The last bound that is at most `value`; SPACE_NONE: all are above. */
static uint32_t bound_at(const struct tally_space_history *history, uint64_t value)
{
	uint32_t low =
	    SORTED_BOUND(middle, 0, history->bound_count, history->bounds[middle] <= value);

	return low ? low - 1 : SPACE_NONE;
}

/* For each node of leaves [from, to): counts it, or stores the row. */
static void each_node(struct tally_space_history *history, uint32_t from, uint32_t to,
		      uint32_t *next, uint32_t row)
{
	from += history->leaves;
	to += history->leaves;
	for (; from < to; from /= 2, to /= 2) {
		uint32_t nodes[2], count = 0;

		if (from & 1)
			nodes[count++] = from++;
		if (to & 1)
			nodes[count++] = --to;
		while (count--) {
			if (next)
				history->rows[next[nodes[count]]++] = row;
			else
				history->first[nodes[count] + 1]++;
		}
	}
}

static int history_bounds(struct tally_space_history *history, const struct tally_space *space,
			  const uint32_t *own)
{
	uint32_t count = 0, kept = 0;

	if (space->own_count >= 1U << 26)
		return -ENOMEM;
	history->bounds = calloc((size_t)space->own_count * 2, sizeof(*history->bounds));
	if (!history->bounds)
		return -ENOMEM;
	for (uint32_t i = 0; i < space->own_count; i++) {
		history->bounds[count++] = space->rows[own[i]].mapping.start;
		history->bounds[count++] = space->rows[own[i]].mapping.end;
	}
	qsort(history->bounds, count, sizeof(*history->bounds), by_value);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || history->bounds[i] != history->bounds[kept - 1])
			history->bounds[kept++] = history->bounds[i];
	history->bound_count = kept;
	for (history->leaves = 1; history->leaves < kept;)
		history->leaves *= 2;
	return 0;
}

static int history_rows(struct tally_space_history *history, const struct tally_space *space,
			const uint32_t *own)
{
	size_t nodes = (size_t)history->leaves * 2;
	uint32_t *next;

	history->first = calloc(nodes + 1, sizeof(*history->first));
	next = calloc(nodes + 1, sizeof(*next));
	for (unsigned pass = 0; history->first && next && pass < 2; pass++) {
		for (uint32_t i = 0; i < space->own_count; i++) {
			const struct tally_mapping *mapping = &space->rows[own[i]].mapping;

			each_node(history, bound_at(history, mapping->start),
				  bound_at(history, mapping->end), pass ? next : NULL, own[i]);
		}
		if (pass)
			break;
		for (size_t node = 0; node < nodes; node++) {
			history->first[node + 1] += history->first[node];
			next[node + 1] = history->first[node + 1];
		}
		history->rows = calloc((size_t)history->first[nodes] + 1, sizeof(uint32_t));
		if (!history->rows)
			break;
	}
	free(next);
	return history->rows ? 0 : -ENOMEM;
}

int tally_space_history_make(struct tally_space *space, const uint32_t *own)
{
	struct tally_space_history *history = calloc(1, sizeof(*history));
	int result;

	if (!history)
		return -ENOMEM;
	space->history = history;
	result = history_bounds(history, space, own);
	return result ? result : history_rows(history, space, own);
}

void tally_space_history_free(struct tally_space_history *history)
{
	if (!history)
		return;
	free(history->bounds);
	free(history->first);
	free(history->rows);
	free(history);
}

/* Rows have ascending times, so the newest of two has the higher number. */
uint32_t tally_space_history_find(const struct tally_space *space, uint64_t addr, uint64_t time,
				  uint32_t *ret_later)
{
	const struct tally_space_history *history = space->history;
	uint32_t found = SPACE_NONE, later = SPACE_NONE, leaf = bound_at(history, addr);

	if (leaf == SPACE_NONE)
		return SPACE_NONE;
	for (uint32_t node = history->leaves + leaf; node; node /= 2) {
		uint32_t first = history->first[node], low = first, high = history->first[node + 1];

		if (low < high && history->rows[low] < later)
			later = history->rows[low];
		low = SORTED_BOUND(at, low, high, space->rows[history->rows[at]].time <= time);
		if (low > first && (found == SPACE_NONE || history->rows[low - 1] > found))
			found = history->rows[low - 1];
	}
	if (found == SPACE_NONE && later != SPACE_NONE)
		*ret_later = later;
	return found;
}
