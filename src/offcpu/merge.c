#include "offcpu/merge.h"

#include <string.h>

/* Where the ascending run that begins at `from` ends. */
static size_t run_end(const struct tally_timed *items, size_t from, size_t count)
{
	size_t at = from + 1;

	while (at < count && items[at - 1].time <= items[at].time)
		at++;
	return at < count ? at : count;
}

static void merge(const struct tally_timed *items, size_t from, size_t middle, size_t end,
		  struct tally_timed *to)
{
	size_t left = from, right = middle;

	for (size_t at = from; at < end; at++) {
		if (right == end || (left < middle && items[left].time <= items[right].time))
			to[at] = items[left++];
		else
			to[at] = items[right++];
	}
}

void tally_timed_sort(struct tally_timed *items, struct tally_timed *room, size_t count)
{
	/* Each turn halves the number of runs. */
	while (count && run_end(items, 0, count) < count) {
		for (size_t from = 0; from < count;) {
			size_t middle = run_end(items, from, count);
			size_t end = middle < count ? run_end(items, middle, count) : count;

			merge(items, from, middle, end, room);
			from = end;
		}
		memcpy(items, room, count * sizeof(*items));
	}
}
