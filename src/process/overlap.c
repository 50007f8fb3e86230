/* Spaces whose mappings overlap: each mapping takes its range, in order of arrival, on a tree over
 * the elementary ranges. When another mapping had a part of the range, the time of the change is
 * noted; the owners at the end are the segments. A node with one owner stands for all nodes below
 * it. */
#include "process/space.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"

#define OWNER_NONE  UINT32_MAX
#define OWNER_MIXED (UINT32_MAX - 1)

struct ranges {
	const struct tally_space *space;
	uint64_t *bounds;
	uint32_t bound_count, leaves;
	uint32_t *owners; /* by node: the owner, a row's number */
};

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static uint32_t bound_index(const struct ranges *ranges, uint64_t value)
{
	return SORTED_BOUND(at, 0, ranges->bound_count, ranges->bounds[at] < value);
}

static int ranges_init(struct ranges *ranges, const uint32_t *own)
{
	uint32_t count = 0, kept = 0;

	if (ranges->space->own_count >= 1U << 28)
		return -ENOMEM;
	ranges->bounds = calloc((size_t)ranges->space->own_count * 2, sizeof(*ranges->bounds));
	if (!ranges->bounds)
		return -ENOMEM;
	for (uint32_t i = 0; i < ranges->space->own_count; i++) {
		ranges->bounds[count++] = ranges->space->rows[own[i]].mapping.start;
		ranges->bounds[count++] = ranges->space->rows[own[i]].mapping.end;
	}
	qsort(ranges->bounds, count, sizeof(*ranges->bounds), by_value);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || ranges->bounds[i] != ranges->bounds[kept - 1])
			ranges->bounds[kept++] = ranges->bounds[i];
	ranges->bound_count = kept;
	for (ranges->leaves = 1; ranges->leaves < kept;)
		ranges->leaves *= 2;
	ranges->owners = malloc((size_t)ranges->leaves * 2 * sizeof(*ranges->owners));
	if (!ranges->owners)
		return -ENOMEM;
	for (uint32_t node = 0; node < ranges->leaves * 2; node++)
		ranges->owners[node] = OWNER_NONE;
	return 0;
}

/* Whether a node has another owner than `row` or an equal one. A mixed node has one owner
 * afterwards, so the cost of the walk is bounded by the calls that mixed it. */
static bool has_other_owner(const struct ranges *ranges, uint32_t node, uint32_t row)
{
	uint32_t owner = ranges->owners[node];

	if (owner == OWNER_MIXED)
		return has_other_owner(ranges, node * 2, row) ||
		       has_other_owner(ranges, node * 2 + 1, row);
	return owner != OWNER_NONE &&
	       !tally_mapping_row_same(&ranges->space->rows[owner], &ranges->space->rows[row]);
}

/* Sets the owner of leaves [from, to) of the node, whose leaves are [low, high). */
static bool set_owner(struct ranges *ranges, uint32_t node, uint32_t low, uint32_t high,
		      uint32_t from, uint32_t to, uint32_t row)
{
	uint32_t middle = low + (high - low) / 2, *owners = ranges->owners;
	bool changed = false;

	if (from <= low && high <= to) {
		changed = has_other_owner(ranges, node, row);
		owners[node] = row;
		return changed;
	}
	if (owners[node] != OWNER_MIXED) {
		owners[node * 2] = owners[node * 2 + 1] = owners[node];
		owners[node] = OWNER_MIXED;
	}
	if (from < middle)
		changed = set_owner(ranges, node * 2, low, middle, from, to, row);
	if (to > middle)
		changed |= set_owner(ranges, node * 2 + 1, middle, high, from, to, row);
	return changed;
}

static void collect(const struct ranges *ranges, uint32_t node, uint32_t low, uint32_t high,
		    struct tally_space *space)
{
	uint32_t owner = ranges->owners[node];

	if (owner == OWNER_MIXED) {
		uint32_t middle = low + (high - low) / 2;

		collect(ranges, node * 2, low, middle, space);
		collect(ranges, node * 2 + 1, middle, high, space);
	} else if (owner != OWNER_NONE && !space->rows[owner].mapping.hole) {
		struct tally_space_segment *last =
		    space->segment_count ? &space->segments[space->segment_count - 1] : NULL;

		if (last && last->row == owner && last->end == ranges->bounds[low])
			last->end = ranges->bounds[high];
		else
			space->segments[space->segment_count++] = (struct tally_space_segment){
			    ranges->bounds[low], ranges->bounds[high], owner};
	}
}

int tally_space_freeze_overlapping(struct tally_space *space, const uint32_t *own,
				   uint64_t *changes, uint32_t *change_count)
{
	struct ranges ranges = {.space = space};
	struct tally_space_segment *segments;
	int result = ranges_init(&ranges, own);

	for (uint32_t i = 0; !result && i < space->own_count; i++) {
		const struct tally_mapping_row *row = &space->rows[own[i]];

		if (set_owner(&ranges, 1, 0, ranges.leaves,
			      bound_index(&ranges, row->mapping.start),
			      bound_index(&ranges, row->mapping.end), own[i]))
			changes[(*change_count)++] = row->time;
	}
	if (!result) {
		segments = reallocarray(space->segments, ranges.bound_count, sizeof(*segments));
		if (segments) {
			space->segments = segments;
			space->segment_count = 0;
			collect(&ranges, 1, 0, ranges.leaves, space);
		} else {
			result = -ENOMEM;
		}
	}
	free(ranges.bounds);
	free(ranges.owners);
	return result;
}
