#include "record/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include "kernel/ring_page.h"
#include "base/fail.h"
#include "base/pool.h"
#include "kernel/ring_parts.h"
#include "offcpu/off_cpu_rings.h"
#include "stacks/monotonic.h"
#include "stacks/stack_block.h"

/* Walked and written while it is still in the cache; larger calls of write(2) cost no less. */
#define CHUNK (256u << 10)
/* With flush_least: between two passes that read all. */
#define WHOLE_NS 1000000000

int tally_drain_init(struct tally_drain *drain, struct tally_openset *set,
		     struct tally_writer *writer, struct tally_build_ids *build_ids)
{
	unsigned rings =
	    (unsigned)MIN(set->ring_count / TALLY_RING_KINDS, TALLY_DRAIN_WORKERS_MOST);

	*drain = (struct tally_drain){.set = set, .writer = writer};
	drain->workers_most = tally_writer_is_serial(writer) ? 1 : MIN(tally_pool_width(), rings);
	return tally_walk_init(&drain->walk, tally_plan_timed(set->plan),
			       &set->plan->events[tally_plan_sideband(set->plan)].attr, build_ids);
}

void tally_drain_done(struct tally_drain *drain)
{
	tally_off_cpu_free(drain->off_cpu);
	drain->off_cpu = NULL;
	tally_drain_workers_free(drain->workers);
	drain->workers = NULL;
	tally_stack_block_free(drain->block);
	drain->block = NULL;
	tally_walk_done(&drain->walk);
	free(drain->looked);
	drain->looked = NULL;
}

size_t tally_drain_looked(struct tally_drain *drain, size_t index)
{
	size_t looked = drain->looked ? drain->looked[index] : 0;

	if (drain->looked)
		drain->looked[index] = 0;
	return looked;
}

int tally_drain_turn(struct tally_drain *drain, struct tally_writer *writer,
		     const struct tally_buf *waited, struct tally_error *error)
{
	struct iovec iovec = {waited->data, waited->size};

	tally_drain_workers_free(drain->workers);
	drain->workers = NULL;
	drain->writer = writer;
	drain->appended = waited->size != 0;
	drain->waits = false;
	drain->since_mark = waited->size;
	return waited->size ? tally_writer_append(writer, &iovec, 1, error) : 0;
}

static int append(struct tally_drain *drain, const struct iovec *iovecs, int count,
		  struct tally_error *error)
{
	struct tally_buf *waiting = drain->waiting;

	if (!waiting)
		return tally_writer_append(drain->writer, iovecs, count, error);
	for (int i = 0; i < count; i++)
		tally_buf_add(waiting, iovecs[i].iov_base, iovecs[i].iov_len);
	return waiting->failed ? tally_fail(error, waiting->failed, -1, "out of memory") : 0;
}

int tally_drain_flush(struct tally_drain *drain, struct tally_error *error)
{
	int result = 0;

	if (drain->iovec_count)
		result = append(drain, drain->iovecs, drain->iovec_count, error);
	if (result < 0)
		return result;
	for (int i = 0; i < drain->taken_count; i++)
		tally_ring_consume(drain->taken[i].ring, drain->taken[i].bytes);
	if (drain->pending)
		drain->appended = true;
	drain->since_mark += drain->pending;
	drain->pending = 0;
	drain->iovec_count = drain->taken_count = 0;
	return 0;
}

static void add_iovec(struct tally_drain *drain, const uint8_t *bytes, size_t size)
{
	if (size)
		drain->iovecs[drain->iovec_count++] =
		    (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
}

/* [from, to) of the two parts of a ring. */
static int append_bytes(struct tally_drain *drain, struct tally_ring *ring,
			const struct tally_ring_bytes *bytes, size_t from, size_t to,
			struct tally_error *error)
{
	const struct tally_ring_bytes span = ring_parts_span(bytes, from, to);

	add_iovec(drain, span.first, span.first_size);
	add_iovec(drain, span.second, span.second_size);
	drain->taken[drain->taken_count++] =
	    (struct tally_drain_taken){.ring = ring, .bytes = to - from};
	drain->pending += to - from;
	if (drain->pending >= CHUNK || drain->iovec_count + 2 > TALLY_DRAIN_IOVECS ||
	    drain->taken_count == TALLY_DRAIN_IOVECS)
		return tally_drain_flush(drain, error);
	return 0;
}

/* What was walked of the side-band, [at, to). */
static int drain_sideband(struct tally_drain *drain, struct tally_ring *ring,
			  const struct tally_ring_bytes *walked, size_t at, size_t to,
			  struct tally_error *error)
{
	struct tally_ring_bytes room;
	const struct tally_ring_bytes *bytes =
	    tally_walk_mended(&drain->walk, walked, &at, &to, &room);
	int result;

	if (drain->side_copy)
		ring_parts_add(drain->side_copy, bytes, at, to);
	if (drain->side_kept) {
		ring_parts_add(&drain->side_kept->newer, bytes, at, to);
		tally_ring_consume(ring, to - at);
		return 0;
	}
	result = append_bytes(drain, ring, bytes, at, to, error);
	/* The copy is used again. */
	return result || bytes == walked ? result : tally_drain_flush(drain, error);
}

static int drain_ring(struct tally_drain *drain, size_t index, struct tally_error *error)
{
	struct tally_ring *ring = drain->set->rings[index];
	bool sideband = index % TALLY_RING_KINDS == TALLY_RING_SIDEBAND;
	struct tally_ring_bytes bytes;
	size_t total, at = 0, capacity;

	if (!ring || (drain->sideband_only && index % TALLY_RING_KINDS == TALLY_RING_SAMPLES))
		return 0;
	if (drain->placement)
		tally_placement_enter(drain->placement, index / TALLY_RING_KINDS);
	total = tally_ring_peek(ring, &bytes);
	if (!drain->whole && total < drain->flush_least) {
		drain->skipped |= total != 0;
		return 0;
	}
	drain->walk.noted = tally_drain_looked(drain, index);
	capacity = tally_ring_size(ring);
	drain->fullest = MAX(drain->fullest, total * 256 / capacity);
	while (at < total) {
		size_t to = sideband ? tally_walk_sideband(&drain->walk, &bytes, at, CHUNK)
				     : tally_walk_samples(&drain->walk, &bytes, at, CHUNK);
		int result;

		if (to == at) {
			/* Nothing behind this place can be decoded. It is not written: it would
			 * make the rest of the file unreadable. */
			result = tally_drain_flush(drain, error);
			tally_ring_consume(ring, total - at);
			drain->walk.counts.bad_bytes += total - at;
			return result;
		}
		result = sideband ? drain_sideband(drain, ring, &bytes, at, to, error)
				  : append_bytes(drain, ring, &bytes, at, to, error);
		if (result)
			return result;
		at = to;
	}
	return 0;
}

/* --- one thread or several --- */

/* The kernel wakes us at half a ring. */
#define FILL_BEHIND   192 /* of 256 */
#define FILL_CALM     160
#define BEHIND_PASSES 2
#define CALM_PASSES   16

/* Whether several threads make the next pass, by how the last ones went. */
static void choose_workers(struct tally_drain *drain)
{
	uint64_t lost = drain->walk.counts.lost;
	bool behind = drain->fullest > FILL_BEHIND || lost > drain->lost_before;

	drain->lost_before = lost;
	drain->behind = behind ? drain->behind + 1 : 0;
	drain->calm = !behind && drain->fullest <= FILL_CALM ? drain->calm + 1 : 0;
	if (drain->behind >= BEHIND_PASSES)
		drain->workers_on = drain->workers_most > 1;
	else if (drain->calm >= CALM_PASSES)
		drain->workers_on = false;
}

static bool want_workers(struct tally_drain *drain)
{
	unsigned threads = drain->workers_forced ? drain->workers_forced : drain->workers_most;

	if ((!drain->workers_on && !drain->workers_forced) || drain->sideband_only ||
	    drain->flush_least || drain->side_copy || drain->side_kept || drain->waiting)
		return false;
	if (!drain->workers &&
	    tally_drain_workers_new(threads, drain->set, drain->writer, &drain->workers)) {
		/* No more threads: this one goes on alone. */
		drain->workers_most = 1;
		drain->workers_forced = 0;
		drain->workers_on = false;
	}
	return drain->workers;
}

static int pass_by_workers(struct tally_drain *drain, struct tally_error *error)
{
	struct tally_drain_workers_pass pass = {0};
	int result = tally_drain_workers_pass(drain->workers, &drain->walk, &pass, error);

	for (size_t i = 0; i < drain->set->ring_count; i++)
		(void)tally_drain_looked(drain, i);
	drain->fullest = pass.fullest;
	drain->since_mark += pass.bytes;
	drain->appended |= pass.bytes != 0;
	drain->shared += pass.threads > 1;
	drain->workers_widest = MAX(drain->workers_widest, pass.threads);
	return result;
}

/* Counts what the rings of offcpu-time gave since `before`. */
static void count_blocked(struct tally_drain *drain, const struct tally_blocked_counts *before,
			  const struct tally_off_cpu_counts *read_before)
{
	const struct tally_blocked_counts *now = tally_blocked_counts(drain->off_cpu->blocked);
	const struct tally_off_cpu_counts *read = &drain->off_cpu->counts;
	struct tally_walk_counts more = {
	    .samples = now->samples - before->samples,
	    .records = now->samples - before->samples,
	    .lost = read->lost - read_before->lost,
	    .throttled = read->throttled - read_before->throttled,
	    .bad_bytes = read->bad_bytes - read_before->bad_bytes,
	    .first_time = now->first_time,
	    .last_time = now->last_time,
	};

	more.types[PERF_RECORD_SAMPLE] = more.samples;
	tally_walk_counts_add(&drain->walk.counts, &more);
}

static int read_blocked(struct tally_drain *drain, int (*read)(struct tally_off_cpu *off_cpu),
			struct tally_error *error)
{
	const struct tally_blocked_counts before = *tally_blocked_counts(drain->off_cpu->blocked);
	const struct tally_off_cpu_counts read_before = drain->off_cpu->counts;

	if (read(drain->off_cpu))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	count_blocked(drain, &before, &read_before);
	return 0;
}

/* What the rings of offcpu-time gave goes to the file. */
static int append_blocked(struct tally_drain *drain, struct tally_error *error)
{
	const struct tally_buf *samples = &drain->off_cpu->samples;
	const struct iovec iovec = {samples->data, samples->size};
	int result = samples->size ? append(drain, &iovec, 1, error) : 0;

	if (result < 0)
		return result;
	drain->appended |= samples->size != 0;
	drain->since_mark += samples->size;
	return 0;
}

int tally_drain_blocked(struct tally_drain *drain, struct tally_error *error)
{
	int result;

	if (!drain->off_cpu)
		return 0;
	result = read_blocked(drain, tally_off_cpu_end, error);
	if (result)
		return result;
	if (drain->unwinder)
		return tally_drain_blocked_stacks(drain, error);
	return append_blocked(drain, error);
}

/* Whether this pass reads rings with few bytes, too. */
static void choose_whole(struct tally_drain *drain)
{
	int64_t now = drain->flush_least ? monotonic_ns() : 0;

	drain->skipped = false;
	drain->whole = !drain->flush_least || !monotonic_same(now, drain->whole_at, WHOLE_NS);
	if (drain->whole)
		drain->whole_at = now;
}

int tally_drain_pass(struct tally_drain *drain, struct tally_error *error)
{
	int result = 0;

	drain->passes++;
	choose_whole(drain);
	if (drain->off_cpu)
		result = read_blocked(drain, tally_off_cpu_pass, error);
	if (result)
		return result;
	if (drain->unwinder)
		return tally_drain_pass_stacks(drain, error);
	if (drain->off_cpu)
		result = append_blocked(drain, error);
	if (result)
		return result;
	if (want_workers(drain)) {
		result = pass_by_workers(drain, error);
	} else {
		drain->fullest = 0;
		/* The side-band first: if the disk is full in between, the samples that were
		 * written have names. */
		for (size_t i = 0; i < drain->set->ring_count && !result; i++)
			result =
			    drain_ring(drain, tally_openset_sideband_first(drain->set, i), error);
		if (!result)
			result = tally_drain_flush(drain, error);
	}
	choose_workers(drain);
	return result;
}

int tally_drain_round(struct tally_drain *drain, bool checkpoint, struct tally_error *error)
{
	int result;

	if (drain->unwinder || drain->waiting)
		return 0; /* whoever writes the pass ends it */
	/* A round says that all rings were read. */
	if (drain->skipped)
		return 0;
	/* Records that came last are due when a whole pass has found no more.  Who reads a file
	 * waits for its end, but a stream may be read while it grows. */
	if (!drain->appended && drain->waits) {
		drain->waits = false;
		return tally_writer_empty_round(drain->writer, error);
	}
	if (!drain->appended && !(checkpoint && drain->since_mark))
		return 0;
	result = tally_writer_round(drain->writer, checkpoint, error);
	if (result < 0)
		return result;
	drain->waits = drain->writer->stream && drain->appended;
	drain->appended = false;
	if (checkpoint)
		drain->since_mark = 0;
	return 0;
}
