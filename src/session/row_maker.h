/* Samples become rows of batches: one maker a worker.
 *
 * A stack or a frame that was met lately is found by a hash, so that an identical call chain is
 * neither resolved nor walked.  Where only addresses are asked for, samples wait until there are
 * many and are looked up in their order (by_address.h). */
#ifndef TALLY_SESSION_ROW_MAKER_H
#define TALLY_SESSION_ROW_MAKER_H

#include <tally/batch.h>
#include "base/table.h"
#include "session/by_address.h"
#include "resolve/resolver.h"
#include "session/run.h"

#define TALLY_SAMPLE_WEIGHTS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* Rows of a batch at most. */
#define ROWS_MOST 2048U
/* Samples with chains that wait so that their misses of the caches overlap. */
#define ROWS_PENDING STACKS_WALKS

/* What the makers of a run have in common; read only. */
struct row_plan {
	struct tally_session *session;
	struct tally_sink *sinks;
	size_t sink_count;
	uint64_t columns;                       /* of all sinks */
	uint64_t want;                          /* PERF_SAMPLE_* */
	const struct tally_rows_wanted *wanted; /* NULL: all samples */
	const uint64_t *periods;                /* by event: of samples that do not have theirs */
	bool combined;                          /* rows may stand for several samples */
	bool by_address;
	bool reads; /* samples that read counters become a row for each that moved */
};

struct row_seen;  /* a chain that was seen, and where it led */
struct row_place; /* where an address was */

struct row_maker {
	const struct row_plan *plan;
	unsigned worker;
	struct tally_resolver *resolver;
	struct tally_batch batch;
	/* The batch's columns; NULL: not asked for. */
	uint32_t *event, *cpu, *thread, *frame, *stack, *samples, *line, *file;
	uint64_t *time, *ip, *period, *addr, *weight, *data_src, *offset, *place;
	struct tally_batch_rows *rows;
	struct tally_by_address by_address;
	struct row_seen *seen;
	struct row_place *places;        /* with TALLY_COLUMN_PLACE */
	uint32_t seen_room, seen_misses; /* room: a power of two */
	uint32_t *path; /* of a stack that is cut: its frames, and the stacks at them */
	unsigned pending_count;
	struct tally_resolved pending[ROWS_PENDING];
	uint64_t hashes[ROWS_PENDING];
	struct tally_left_out *left_out; /* by event */
	struct tally_map counters;       /* id -> last value, with plan->reads */
} __attribute__((aligned(TABLE_APART)));

int tally_row_maker_init(struct row_maker *maker, const struct row_plan *plan, unsigned worker,
			 struct tally_resolver *resolver);
void tally_row_maker_done(struct row_maker *maker);
/* What is remembered of mappings, spaces and eras is not true any more; nothing waits. */
void tally_row_maker_forget(struct row_maker *maker);
/* Where the next sample may be made, so that it need not be copied. */
static inline struct tally_resolved *row_maker_next(struct row_maker *maker)
{
	return &maker->pending[maker->pending_count];
}

/* Takes a sample, with its record when TALLY_COLUMN_SAMPLE is asked for.  0, -ENOMEM, or what a
 * sink returned; so below. */
int tally_row_maker_add(struct row_maker *maker, const struct tally_resolved *sample,
			const struct tally_record *record);
/* The same, of one whose chain stays only until the next is made. */
int tally_row_maker_add_now(struct row_maker *maker, const struct tally_resolved *sample,
			    const struct tally_record *record);
/* Takes one that a filter left out. */
int tally_row_maker_leave_out(struct row_maker *maker, const struct tally_resolved *sample);
/* Gives all that waits to the sinks. */
int tally_row_maker_flush(struct row_maker *maker);
/* Gives the rows so far to the sinks. */
int tally_row_maker_emit(struct row_maker *maker);

/* Of samples in one event and thread with one processor and address or frame. */
static inline int row_maker_put(struct row_maker *maker, const struct by_address_row *row)
{
	uint32_t at = maker->batch.count;

	maker->event[at] = row->event;
	if (maker->thread)
		maker->thread[at] = row->thread;
	if (maker->cpu)
		maker->cpu[at] = row->cpu;
	if (maker->ip)
		maker->ip[at] = row->addr;
	if (maker->frame)
		maker->frame[at] = row->frame;
	if (maker->place)
		maker->place[at] = row->place;
	if (maker->period)
		maker->period[at] = row->period;
	maker->samples[at] = row->samples;
	return ++maker->batch.count == ROWS_MOST ? tally_row_maker_emit(maker) : 0;
}

#endif
