/* Side-band records in time order.  They come as one ascending run for each flush of a ring, so the
 * runs that are there are merged; equal times keep the order of the file. */
#include "source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t run_end(const struct source_side *sides, size_t from, size_t count)
{
	size_t at = from + 1;

	while (at < count && sides[at].time >= sides[at - 1].time)
		at++;
	return at;
}

static void merge(const struct source_side *left, size_t left_count,
		  const struct source_side *right, size_t right_count, struct source_side *to)
{
	while (left_count && right_count) {
		if (right->time < left->time) {
			*to++ = *right++;
			right_count--;
		} else {
			*to++ = *left++;
			left_count--;
		}
	}
	memcpy(to, left_count ? left : right, (left_count + right_count) * sizeof(*to));
}

int tally_source_sort_sides(struct source_side *sides, size_t count)
{
	struct source_side *spare, *from = sides, *to;
	size_t *ends, runs = 0, at;

	for (at = 0; at < count; at = run_end(sides, at, count))
		runs++;
	if (runs <= 1)
		return 0;
	spare = calloc(count, sizeof(*spare));
	ends = calloc(runs, sizeof(*ends));
	if (!spare || !ends) {
		free(spare);
		free(ends);
		return -ENOMEM;
	}
	runs = 0;
	for (at = 0; at < count;)
		ends[runs++] = at = run_end(sides, at, count);
	for (to = spare; runs > 1;) {
		struct source_side *swap = from;
		size_t made = 0, start = 0;

		for (size_t run = 0; run < runs; run += 2) {
			size_t middle = ends[run], end = run + 1 < runs ? ends[run + 1] : middle;

			merge(from + start, middle - start, from + middle, end - middle,
			      to + start);
			ends[made++] = start = end;
		}
		runs = made;
		from = to;
		to = swap;
	}
	if (from != sides)
		memcpy(sides, from, count * sizeof(*sides));
	free(spare);
	free(ends);
	return 0;
}
