#include "profile/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "session/numbers.h"
#include "session/run.h"

int tally_profile_worker_init(struct profile_worker *worker, const struct profile_plan *plan)
{
	const struct tally_profile_options *options = plan->options;
	uint64_t interval;
	bool of_threads = profile_keys_are_of_threads(plan->keys, &interval);

	*worker = (struct profile_worker){
	    .plan = plan,
	    .filters_threads = options->comm_count || options->pid_count || options->tid_count,
	    .filters_frames = options->dso_count || options->symbol_count || options->symbol_part,
	    .contexts.width = (uint32_t)plan->keys->count,
	    .interval = interval,
	};
	tally_filter_init(&worker->filter, plan->session, options);
	worker->sums = calloc((size_t)plan->event_count + 1, sizeof(*worker->sums));
	if (of_threads)
		worker->lately = calloc(WORKER_CONTEXTS, sizeof(*worker->lately));
	if (!worker->sums || (of_threads && !worker->lately)) {
		tally_profile_worker_done(worker);
		return -ENOMEM;
	}
	return 0;
}

void tally_profile_worker_done(struct profile_worker *worker)
{
	tally_call_sums_done(&worker->calls);
	tally_call_sums_done(&worker->sides);
	tally_contexts_done(&worker->contexts);
	tally_filter_done(&worker->filter);
	free(worker->sums);
	free(worker->addresses);
	free(worker->lately);
	*worker = (struct profile_worker){0};
}

int64_t tally_profile_worker_context(struct profile_worker *worker, struct key_row *row)
{
	const struct profile_plan *plan = worker->plan;
	const struct tally_batch *batch = row->batch;
	uint64_t values[PROFILE_KEYS_MOST];
	int64_t number;

	row->thread.size = sizeof(row->thread);
	tally_session_thread(plan->session, batch->thread[row->at], &row->thread);
	row->comm = tally_session_thread_comm(plan->session, batch->thread[row->at]);
	profile_keys_values(plan->keys, row, values);
	number = tally_contexts_put(&worker->contexts, batch->event[row->at], values);
	if (number >= 0)
		context_named(&worker->contexts.list[number], row->comm,
			      batch->offset ? batch->offset[row->at] : 0);
	return number;
}

/* The context of a row, looked up. */
static int64_t context_of(struct profile_worker *worker, const struct tally_batch *batch,
			  uint32_t row)
{
	struct key_row of = {.session = worker->plan->session, .batch = batch, .at = row};

	return tally_profile_worker_context(worker, &of);
}

/* Its number, or -ENOMEM. */
static inline int64_t find_context(struct profile_worker *worker, const struct tally_batch *batch,
				   uint32_t row)
{
	const struct profile_keys *keys = worker->plan->keys;
	uint32_t event = batch->event[row], thread = batch->thread[row];
	uint32_t cpu = keys->columns & TALLY_COLUMN_CPU ? batch->cpu[row] : 0;
	uint64_t time = worker->interval ? batch->time[row] : 0;
	struct worker_context *lately;
	int64_t context;

	if (!worker->lately)
		return context_of(worker, batch, row);
	lately = &worker->lately[(thread + event * 31 + cpu * 17) % WORKER_CONTEXTS];
	if (lately->context && lately->thread == thread && lately->event == event &&
	    lately->cpu == cpu && time - lately->from <= worker->interval - 1) {
		if (batch->offset)
			context_named(&worker->contexts.list[lately->context - 1],
				      tally_session_thread_comm(worker->plan->session, thread),
				      batch->offset[row]);
		return lately->context - 1;
	}
	context = context_of(worker, batch, row);
	if (context >= 0)
		*lately =
		    (struct worker_context){event, thread, cpu, (uint32_t)context + 1,
					    worker->interval ? time - time % worker->interval : 0};
	return context;
}

static int add_addresses(struct profile_worker *worker, const struct profile_address *addresses,
			 uint32_t count)
{
	uint32_t room = worker->address_room ? worker->address_room : 4096;

	if (!count || worker->address_count == PROFILE_ADDRESSES_MANY)
		return 0;
	if (count > PROFILE_ADDRESSES_MOST - worker->address_count) {
		free(worker->addresses);
		worker->addresses = NULL;
		worker->address_count = PROFILE_ADDRESSES_MANY;
		return 0;
	}
	while (room - worker->address_count < count)
		room *= 2;
	if (room != worker->address_room) {
		if (!array_resize(&worker->addresses, room, sizeof(*addresses)))
			return -ENOMEM;
		worker->address_room = room;
	}
	memcpy(worker->addresses + worker->address_count, addresses, count * sizeof(*addresses));
	worker->address_count += count;
	return 0;
}

static int note_address(struct profile_worker *worker, uint64_t addr, uint32_t frame)
{
	const struct profile_address address = {rows_address_hash(addr), frame};

	return add_addresses(worker, &address, 1);
}

/* Whether the row is of a time and CPU that were asked for. */
static inline bool is_within(const struct profile_plan *plan, const struct tally_batch *batch,
			     uint32_t row)
{
	const struct tally_profile_options *options = plan->options;

	return (!plan->span_count ||
		time_spans_hold(plan->spans, plan->span_count, batch->time[row])) &&
	       (!options->cpu_count ||
		tally_filter_holds(options->cpus, options->cpu_count, batch->cpu[row]));
}

bool tally_profile_worker_within(const struct profile_plan *plan, const struct tally_batch *batch,
				 uint32_t row)
{
	return is_within(plan, batch, row);
}

/* Counts the samples of a row; 1: they pass the filters, 0: not, -ENOMEM. */
static inline int count_row(struct profile_worker *worker, const struct tally_batch *batch,
			    uint32_t row, uint32_t samples)
{
	struct profile_sum *sum = &worker->sums[batch->event[row]];
	int passed = 1;

	if (!is_within(worker->plan, batch, row))
		return 0;
	sum->samples += samples;
	sum->total += batch->period[row];
	if (worker->filters_threads)
		passed = tally_filter_thread(&worker->filter, batch->thread[row]);
	if (passed > 0 && worker->filters_frames)
		passed = tally_filter_frame(&worker->filter, batch->frame[row]);
	if (passed > 0) {
		sum->passed += samples;
		sum->passed_total += batch->period[row];
	}
	return passed;
}

/* Rows whose sums are fetched together. */
#define TOGETHER 64U

static int take_some(struct profile_worker *worker, const struct tally_batch *batch, uint32_t from,
		     uint32_t until)
{
	struct tally_call_sum sums[TOGETHER];
	uint32_t hashes[TOGETHER], count = 0;
	int result = tally_call_sums_reserve(&worker->calls, TOGETHER);

	for (uint32_t row = from; row < until && result >= 0; row++) {
		uint32_t samples = batch->samples ? batch->samples[row] : 1;
		struct tally_call_sum *sum = &sums[count];
		int64_t context;

		result = batch->event[row] < worker->plan->event_count
			     ? count_row(worker, batch, row, samples)
			     : 0;
		if (result <= 0)
			continue;
		context = find_context(worker, batch, row);
		if (context < 0)
			return -ENOMEM;
		*sum = (struct tally_call_sum){
		    .context = (uint32_t)context,
		    .stack = batch->stack ? batch->stack[row] : 0,
		    .frame = batch->frame ? batch->frame[row] : 0,
		    .self = batch->period[row],
		    .samples = samples,
		};
		if (worker->plan->notes_addresses)
			result = note_address(worker, batch->ip[row], sum->frame);
		hashes[count] = call_sum_hash(sum->context, sum->stack, sum->frame);
		__builtin_prefetch(call_sums_slot(&worker->calls, hashes[count++]));
	}
	for (uint32_t i = 0; i < count && result >= 0; i++)
		__builtin_prefetch(
		    &worker->calls.list[*call_sums_slot(&worker->calls, hashes[i]) - 1U], 1);
	for (uint32_t i = 0; i < count && result >= 0; i++)
		call_sums_add(&worker->calls, hashes[i], &sums[i]);
	return result < 0 ? result : 0;
}

int tally_profile_worker_take(struct profile_worker *worker, const struct tally_batch *batch)
{
	int result = 0;

	if (worker->plan->special)
		return tally_profile_special_take(worker, batch);
	for (uint32_t from = 0; from < batch->count && !result; from += TOGETHER)
		result = take_some(worker, batch, from,
				   batch->count - from < TOGETHER ? batch->count : from + TOGETHER);
	return result;
}

/* The numbers here of another's contexts.  0 or -ENOMEM. */
static int merge_contexts(struct profile_worker *worker, const struct profile_worker *from,
			  uint32_t *now)
{
	for (uint32_t i = 0; i < from->contexts.count; i++) {
		const struct tally_context *theirs = &from->contexts.list[i];
		int64_t number = tally_contexts_put(&worker->contexts, theirs->event,
						    contexts_values(&from->contexts, i));

		if (number < 0)
			return -ENOMEM;
		now[i] = (uint32_t)number;
		context_named(&worker->contexts.list[number], theirs->last_comm,
			      theirs->last_offset);
	}
	return 0;
}

int tally_profile_worker_merge(struct profile_worker *worker, struct profile_worker *from)
{
	uint32_t *now = calloc((size_t)from->contexts.count + 1, sizeof(*now));
	int result = now ? merge_contexts(worker, from, now) : -ENOMEM;

	if (!result)
		result = tally_call_sums_join(&worker->calls, &from->calls, now);
	if (!result)
		result = tally_call_sums_join(&worker->sides, &from->sides, now);
	if (!result)
		result = add_addresses(worker, from->addresses, from->address_count);
	for (uint32_t i = 0; i < worker->plan->event_count; i++) {
		worker->sums[i].samples += from->sums[i].samples;
		worker->sums[i].total += from->sums[i].total;
		worker->sums[i].passed += from->sums[i].passed;
		worker->sums[i].passed_total += from->sums[i].passed_total;
		worker->sums[i].undivided += from->sums[i].undivided;
	}
	free(now);
	return result;
}
