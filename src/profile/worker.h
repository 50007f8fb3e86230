/* One worker's share of a profile: batches in, sums by context and call stack out. */
#ifndef TALLY_PROFILE_WORKER_H
#define TALLY_PROFILE_WORKER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <tally/batch.h>
#include "base/table.h"
#include "profile/call_sums.h"
#include "profile/contexts.h"
#include "key/key_parallel.h"
#include "key/keys.h"
#include "profile/sample_filter.h"
#include "session/time_spans.h"

struct block_sums;

/* What all workers share while samples are read; read only. */
struct profile_plan {
	const struct tally_session *session;
	const struct tally_profile_options *options;
	const struct profile_keys *keys;
	uint32_t event_count;
	bool notes_addresses;          /* keeps which address led to which frame */
	struct tally_time_span *spans; /* of `options`; NULL: all */
	size_t span_count;
	const struct key_parallel *parallel; /* of options->latency */
	regex_t *ignored;                    /* of options->ignore_callees; NULL: none */
	bool special;                        /* special_rows.c takes the rows */
	bool samples;                        /* it needs TALLY_COLUMN_SAMPLE */
	const struct block_sums *blocks;     /* take all samples, too; NULL: no */
	const struct tally_sink *beside;     /* likewise */
};

/* Sums beside the rows' own: profile_worker.sides, by their "stack". */
enum profile_side { SIDE_KERNEL, SIDE_USER, SIDE_GUEST_KERNEL, SIDE_GUEST_USER, SIDE_PLAIN, SIDES };

/* Of an event. */
struct profile_sum {
	uint64_t samples, total;       /* of all */
	uint64_t passed, passed_total; /* of those that passed the filters */
	uint64_t undivided;            /* `total` before latency divided it */
};

/* The period that shares are of. */
static inline uint64_t profile_whole(const struct profile_sum *sum, bool relative)
{
	return relative ? sum->passed_total : sum->total;
}

/* An address that was sampled, as rows_address_hash(), and the frame it led to. */
struct profile_address {
	uint32_t hash, frame;
};

/* Contexts that were looked up lately, by what they are made of. */
#define WORKER_CONTEXTS 1024U

struct worker_context {
	uint32_t event, thread, cpu;
	uint32_t context; /* + 1; 0: nothing yet */
	uint64_t from;    /* its interval; 0: keys have none */
};

struct profile_worker {
	const struct profile_plan *plan;
	struct tally_contexts contexts;
	struct tally_call_sums calls, sides; /* sides: enum profile_side is the stack */
	struct tally_filter filter;
	struct profile_sum *sums;          /* by event */
	struct profile_address *addresses; /* an address may be there many times */
	uint32_t address_count, address_room;
	struct worker_context *lately; /* WORKER_CONTEXTS; NULL: contexts are of samples */
	uint64_t interval;             /* as profile_keys_are_of_threads() */
	bool filters_threads, filters_frames;
} __attribute__((aligned(TABLE_APART)));

/* More addresses than these are not kept: address_count is then PROFILE_ADDRESSES_MANY. */
#define PROFILE_ADDRESSES_MOST (1u << 20)
#define PROFILE_ADDRESSES_MANY UINT32_MAX

int tally_profile_worker_init(struct profile_worker *worker, const struct profile_plan *plan);
void tally_profile_worker_done(struct profile_worker *worker);
/* 0 or -ENOMEM, as below. */
int tally_profile_worker_take(struct profile_worker *worker, const struct tally_batch *batch);
/* special_rows.c: the same where plan->special is set. */
int tally_profile_special_take(struct profile_worker *worker, const struct tally_batch *batch);
/* The context of a row with these values of keys, which are taken; its number, or -ENOMEM. */
int64_t tally_profile_worker_context(struct profile_worker *worker, struct key_row *row);
/* Whether the row is of a time and CPU that were asked for. */
bool tally_profile_worker_within(const struct profile_plan *plan, const struct tally_batch *batch,
				 uint32_t row);
/* Takes all of another. */
int tally_profile_worker_merge(struct profile_worker *worker, struct profile_worker *from);

#endif
