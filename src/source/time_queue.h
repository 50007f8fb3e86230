/* Records waiting for their turn: 16 bytes each, kept as the ascending runs that they arrive in (a
 * ring's flush is one), and merged when their turn comes, a slice at a time.
 *
 * Nothing is sorted that arrived sorted, a slice is merged within the processor's caches, and what
 * stays behind is not touched. */
#ifndef TALLY_SOURCE_TIME_QUEUE_H
#define TALLY_SOURCE_TIME_QUEUE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_entry {
	uint64_t time;
	uint64_t place; /* the caller's; entries of equal times keep their order */
};

/* A run's part that still waits: entries [from, to). */
struct time_run {
	size_t from, to;
};

struct time_queue { /* all zero is empty and valid */
	struct time_entry *entries;
	size_t count, room; /* count: with those that were taken and not yet moved away */
	size_t waiting;     /* of them, those not taken */
	struct time_run *runs;
	size_t run_count, run_room;
	uint64_t last; /* the time that was put last */
	/* The current release: up to which times, slice by slice. */
	uint64_t *limits; /* ascending */
	size_t limit_count, limit_at, limit_room;
	/* The current slice, in order. */
	const struct time_entry *slice;
	size_t slice_at, slice_count;
	struct time_entry *spare[2]; /* slices are merged from one to the other */
	size_t spare_room;
	size_t *bounds; /* of the runs within a slice */
	size_t bound_room;
};

void tally_time_queue_done(struct time_queue *queue);
int tally_time_queue_grow(struct time_queue *queue);
int tally_time_queue_new_run(struct time_queue *queue);

/* Adds an entry; nothing may be under release.  0 or -ENOMEM. */
static inline int time_queue_put(struct time_queue *queue, uint64_t time, uint64_t place)
{
	if (queue->count == queue->room && tally_time_queue_grow(queue))
		return -ENOMEM;
	if ((!queue->run_count || time < queue->last) && tally_time_queue_new_run(queue))
		return -ENOMEM;
	queue->last = time;
	queue->entries[queue->count++] = (struct time_entry){.time = time, .place = place};
	queue->runs[queue->run_count - 1].to = queue->count;
	queue->waiting++;
	return 0;
}

/* Begins to release all entries that are not newer than `limit`: returns how many, or -ENOMEM. */
int64_t tally_time_queue_release(struct time_queue *queue, uint64_t limit);

/* Gives the next released entries, in order, in *ret, as many as are ready; time_queue_taken() then
 * says how many of them were used. 0: no more, and entries can be added again; -ENOMEM. */
int64_t tally_time_queue_next(struct time_queue *queue, const struct time_entry **ret);

/* Merges the ascending runs in spare[0], of which run i is [bounds[i], bounds[i + 1]), by means of
 * as much room in spare[1]; the result is in the buffer that it returns.  Bounds are lost. */
const struct time_entry *tally_time_merge(struct time_entry *const spare[2], size_t *bounds,
					  size_t runs);

static inline void time_queue_taken(struct time_queue *queue, size_t count)
{
	queue->slice_at += count;
}

#endif
