#include "process/space.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>
#include "base/sorted.h"

/* No program has a longer chain of forks without exec; a limit for made-up files. */
#define SPACES_UP_MAX 64

/* The name of code made at run time depends on whether it may run; that of a file does not. */
static bool same_use(const struct tally_mapping *x, const struct tally_mapping *y)
{
	return x->file->ino || x->file->build_id_size || !((x->prot ^ y->prot) & PROT_EXEC);
}

bool tally_mapping_row_same(const struct tally_mapping_row *a, const struct tally_mapping_row *b)
{
	const struct tally_mapping *x = &a->mapping, *y = &b->mapping;

	return x->file == y->file && x->start - x->pgoff == y->start - y->pgoff &&
	       x->hole == y->hole && x->ksymbol == y->ksymbol && x->cpumode == y->cpumode &&
	       same_use(x, y);
}

/* The segment that contains `addr`, or NULL. */
static const struct tally_space_segment *segment_find(const struct tally_space *space,
						      uint64_t addr)
{
	const struct tally_space_segment *base = space->segments;
	uint32_t count = space->segment_count;

	if (!count)
		return NULL;
	while (count > 1) {
		uint32_t half = count / 2;

		base = base[half].start <= addr ? base + half : base;
		count -= half;
	}
	return addr >= base->start && addr < base->end ? base : NULL;
}

bool tally_space_holds(const struct tally_space *space, uint64_t start, uint64_t end)
{
	uint32_t low = SORTED_BOUND(at, 0, space->segment_count, space->segments[at].end <= start);

	return low < space->segment_count && space->segments[low].start < end;
}

/* Where to look for what a space does not contain, or NULL. Also through one exec: until the new
 * program runs, the kernel reports the call of execve() in the old one as the place in user space.
 * Not through more: the history of the old space is unrelated. */
static const struct tally_space *space_up(const struct tally_space *space, unsigned *ups,
					  bool *through_exec)
{
	if (!space->above || ++*ups >= SPACES_UP_MAX || (space->exec && *through_exec))
		return NULL;
	*through_exec |= space->exec;
	return space->above;
}

static bool above_holds(const struct tally_space *space, uint64_t start, uint64_t end)
{
	bool through_exec = false;
	unsigned ups = 0;

	while ((space = space_up(space, &ups, &through_exec)))
		if (tally_space_holds(space, start, end))
			return true;
	return false;
}

static int by_start(const void *left, const void *right)
{
	const struct tally_space_segment *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static int by_time(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The usual space: no two mappings overlap, so sorting is enough. false: some do. */
static bool sort_without_overlap(struct tally_space *space, const uint32_t *own)
{
	bool sorted = true;

	for (uint32_t i = 0; i < space->own_count; i++) {
		const struct tally_mapping *mapping = &space->rows[own[i]].mapping;

		space->segments[i] =
		    (struct tally_space_segment){mapping->start, mapping->end, own[i]};
		sorted = sorted && (!i || mapping->start >= space->segments[i - 1].end);
	}
	if (!sorted)
		qsort(space->segments, space->own_count, sizeof(*space->segments), by_start);
	for (uint32_t i = 1; i < space->own_count; i++)
		if (space->segments[i].start < space->segments[i - 1].end)
			return false;
	for (uint32_t i = 0; i < space->own_count; i++)
		if (space->rows[own[i]].mapping.hole)
			return false;
	space->segment_count = space->own_count;
	space->apart = true;
	return true;
}

int tally_space_freeze(struct tally_space *space, const uint32_t *own)
{
	uint32_t count = 0, kept = 0;
	uint64_t *changes, *cut;
	int result = 0;

	if (space->own_count == space->frozen_count)
		return 0;
	tally_space_done(space);
	space->frozen_count = space->own_count;
	space->segments = calloc(space->own_count, sizeof(*space->segments));
	/* Each mapping may replace those of its own space and of its parent. */
	changes = calloc((size_t)space->own_count * 2, sizeof(*changes));
	if (!space->segments || !changes) {
		free(changes);
		return -ENOMEM;
	}
	if (!sort_without_overlap(space, own))
		result = tally_space_freeze_overlapping(space, own, changes, &count);
	for (uint32_t i = 0; space->above && i < space->own_count; i++) {
		const struct tally_mapping_row *row = &space->rows[own[i]];

		if (above_holds(space, row->mapping.start, row->mapping.end))
			changes[count++] = row->time;
	}
	if (result) {
		free(changes);
		return result;
	}
	/* What was replaced at time 0 was never visible. */
	qsort(changes, count, sizeof(*changes), by_time);
	for (uint32_t i = 0; i < count; i++)
		if (changes[i] && (!kept || changes[i] != changes[kept - 1]))
			changes[kept++] = changes[i];
	if (!kept) {
		free(changes);
		return 0;
	}
	cut = reallocarray(changes, kept, sizeof(*changes));
	space->changes = cut ? cut : changes;
	space->change_count = kept;
	return tally_space_history_make(space, own);
}

void tally_space_done(struct tally_space *space)
{
	free(space->segments);
	free(space->changes);
	tally_space_history_free(space->history);
	space->segments = NULL;
	space->changes = NULL;
	space->history = NULL;
	space->segment_count = space->change_count = 0;
	space->apart = false;
}

uint32_t tally_space_era_span(const struct tally_space *space, uint64_t time, uint64_t *ret_from,
			      uint64_t *ret_until)
{
	uint32_t low = SORTED_BOUND(at, 0, space->change_count, space->changes[at] <= time);

	*ret_from = low ? space->changes[low - 1] : 0;
	*ret_until = low < space->change_count ? space->changes[low] : UINT64_MAX;
	return space->first_era + low;
}

uint32_t tally_space_era(const struct tally_space *space, uint64_t time)
{
	uint64_t from, until;

	/* A space that only inherits sees what its parent had at the fork; not across an exec, as
	 * look-ups go up through one only. */
	for (; !space->own_count && space->above && !space->exec; space = space->above)
		time = space->fork_time;
	return tally_space_era_span(space, time, &from, &until);
}

const struct tally_mapping *tally_space_find(const struct tally_space *space, uint64_t addr,
					     uint64_t time)
{
	const struct tally_mapping_row *rows = space->rows;
	uint32_t row, later = SPACE_NONE;
	bool through_exec = false;
	unsigned ups = 0;

	while (space) {
		if (!space->change_count || time >= space->changes[space->change_count - 1]) {
			const struct tally_space_segment *segment = segment_find(space, addr);

			row = segment ? segment->row : SPACE_NONE;
		} else {
			uint32_t own_later = SPACE_NONE;

			row = tally_space_history_find(space, addr, time, &own_later);
			if (later == SPACE_NONE)
				later = own_later;
		}
		if (row != SPACE_NONE)
			return rows[row].mapping.hole ? NULL : &rows[row].mapping;
		time = space->fork_time;
		space = space_up(space, &ups, &through_exec);
	}
	return later == SPACE_NONE || rows[later].mapping.hole ? NULL : &rows[later].mapping;
}

/* Narrows [from, until) to the part around an address with one segment, or none. */
static const struct tally_space_segment *narrow(const struct tally_space *space, uint64_t addr,
						uint64_t *from, uint64_t *until)
{
	const struct tally_space_segment *before = NULL, *here = NULL, *behind = NULL;
	uint32_t low = SORTED_BOUND(at, 0, space->segment_count, space->segments[at].end <= addr);
	uint64_t start, end;

	if (low)
		before = &space->segments[low - 1];
	if (low < space->segment_count) {
		if (space->segments[low].start <= addr)
			here = &space->segments[low];
		else
			behind = &space->segments[low];
	}
	start = here ? here->start : before ? before->end : 0;
	end = here ? here->end : behind ? behind->start : UINT64_MAX;
	*from = start > *from ? start : *from;
	*until = end < *until ? end : *until;
	return here;
}

bool tally_space_extent(const struct tally_space *space, uint64_t addr, uint64_t time,
			uint64_t *ret_from, uint64_t *ret_until, const struct tally_mapping **ret)
{
	const struct tally_space_segment *segment = NULL;
	const struct tally_mapping_row *rows = space->rows;
	uint64_t from = 0, until = UINT64_MAX;
	bool through_exec = false;
	unsigned ups = 0;

	while (space && !segment) {
		if (space->change_count && time < space->changes[space->change_count - 1])
			return false;
		segment = narrow(space, addr, &from, &until);
		time = space->fork_time;
		space = space_up(space, &ups, &through_exec);
	}
	if (addr >= until)
		return false;
	*ret_from = from;
	*ret_until = until;
	*ret = segment && !rows[segment->row].mapping.hole ? &rows[segment->row].mapping : NULL;
	return true;
}
