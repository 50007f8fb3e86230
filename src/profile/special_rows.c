/* Rows that are not samples as they are: branches, memory accesses, samples that stand for a part
 * of their period, or whose callees are not of interest.  Plain samples do not pass here, as this
 * costs more for each. */
#include <errno.h>
#include "profile/worker.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

/* One row while it is counted. */
struct special {
	struct key_row of;
	struct tally_sample sample;
	uint64_t period, undivided;
	uint32_t samples;
};

static uint64_t weight_of(const struct tally_sample *sample)
{
	uint64_t weight =
	    sample->present & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)sample->weight : sample->weight;

	return weight ? weight : 1;
}

/* The outermost function of the stack that counts its callees as its own becomes the place. */
static void ignore_callees(const struct profile_plan *plan, struct special *special)
{
	struct tally_stack stack;

	for (uint32_t number = special->of.stack;
	     !tally_session_stack(plan->session, number, &stack); number = stack.caller) {
		struct tally_frame frame = tally_session_frame(plan->session, stack.frame);

		if (frame.symbol && !regexec(plan->ignored, frame.symbol, 0, NULL, 0)) {
			special->of.frame = stack.frame;
			special->of.stack = number;
		}
	}
}

static bool is_of_socket(const struct profile_plan *plan, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	return cpu < plan->keys->cpu_count && plan->keys->sockets[cpu] == plan->options->socket;
}

static bool is_resolved(const struct profile_plan *plan, const struct special *special)
{
	uint32_t from;

	if (!tally_session_frame(plan->session, special->of.frame).symbol)
		return false;
	if (!special->of.branch)
		return true;
	from = tally_batch_frame(special->of.batch, special->of.at,
				 PERF_RECORD_MISC_CPUMODE_UNKNOWN, special->of.branch->from);
	return tally_session_frame(plan->session, from).symbol;
}

/* 1: it passes the filters, 0: not, -ENOMEM. */
static int passes(struct profile_worker *worker, const struct special *special)
{
	const struct profile_plan *plan = worker->plan;
	const struct key_row *row = &special->of;
	int passed = 1;

	if (worker->filters_threads)
		passed = tally_filter_thread(&worker->filter, row->batch->thread[row->at]);
	if (passed > 0 && worker->filters_frames)
		passed = tally_filter_frame(&worker->filter, row->frame);
	if (passed > 0 && plan->options->only_socket)
		passed = is_of_socket(plan, row);
	if (passed > 0 && plan->options->exclude_other)
		passed = tally_profile_keys_parent_of(plan->keys, row) != NULL;
	return passed;
}

static int add(struct tally_call_sums *sums, const struct tally_call_sum *sum)
{
	int result = tally_call_sums_reserve(sums, 1);

	if (!result)
		call_sums_add(sums, call_sum_hash(sum->context, sum->stack, sum->frame), sum);
	return result;
}

static int add_side(struct profile_worker *worker, const struct tally_call_sum *sum,
		    enum profile_side side, uint64_t period)
{
	struct tally_call_sum more = *sum;

	more.stack = side;
	more.self = period;
	return add(&worker->sides, &more);
}

static int add_mode(struct profile_worker *worker, const struct special *special,
		    const struct tally_call_sum *sum)
{
	switch (tally_batch_cpumode(special->of.batch, special->of.at)) {
	case PERF_RECORD_MISC_KERNEL:
		return add_side(worker, sum, SIDE_KERNEL, sum->self);
	case PERF_RECORD_MISC_USER:
		return add_side(worker, sum, SIDE_USER, sum->self);
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return add_side(worker, sum, SIDE_GUEST_KERNEL, sum->self);
	case PERF_RECORD_MISC_GUEST_USER:
		return add_side(worker, sum, SIDE_GUEST_USER, sum->self);
	default:
		return 0;
	}
}

/* Counts the row, and adds it up where it passes. */
static int put(struct profile_worker *worker, struct special *special)
{
	const struct tally_profile_options *options = worker->plan->options;
	struct profile_sum *sum = &worker->sums[special->of.batch->event[special->of.at]];
	struct tally_call_sum more;
	int64_t context;
	int result;

	if (options->hide_unresolved && !is_resolved(worker->plan, special))
		return 0;
	sum->samples += special->samples;
	sum->total += special->period;
	sum->undivided += special->undivided;
	result = passes(worker, special);
	if (result <= 0)
		return result;
	sum->passed += special->samples;
	sum->passed_total += special->period;
	context = tally_profile_worker_context(worker, &special->of);
	if (context < 0)
		return -ENOMEM;
	more = (struct tally_call_sum){
	    .context = (uint32_t)context,
	    .stack = options->callchains ? special->of.stack : 0,
	    .frame = special->of.frame,
	    .self = special->period,
	    .samples = special->samples,
	};
	result = add(&worker->calls, &more);
	if (!result && options->by_mode)
		result = add_mode(worker, special, &more);
	if (!result && options->latency)
		result = add_side(worker, &more, SIDE_PLAIN, special->undivided);
	return result;
}

static int put_branches(struct profile_worker *worker, struct special *special)
{
	const struct tally_sample *sample = &special->sample;
	int result = 0;

	if (!(sample->present & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	special->period = special->undivided = 1;
	for (uint64_t i = 0; i < sample->branch_nr && !result; i++) {
		special->of.branch = &sample->branches[i];
		special->of.frame =
		    tally_batch_frame(special->of.batch, special->of.at,
				      PERF_RECORD_MISC_CPUMODE_UNKNOWN, sample->branches[i].to);
		result = special->of.frame ? put(worker, special) : -ENOMEM;
	}
	return result;
}

/* The divided period; at least 1, so that no sample is lost. */
static uint64_t divided(const struct profile_plan *plan, const struct key_row *row, uint64_t period)
{
	uint64_t running = tally_key_parallel_at(plan->parallel, row->batch->time[row->at]);

	return period && period < running ? 1 : period / running;
}

int tally_profile_special_take(struct profile_worker *worker, const struct tally_batch *batch)
{
	const struct profile_plan *plan = worker->plan;
	struct special special = {.of = {.session = plan->session, .batch = batch}};
	int result = 0;

	special.sample.size = sizeof(special.sample);
	special.of.sample = &special.sample;
	for (uint32_t row = 0; row < batch->count && !result; row++) {
		if (batch->event[row] >= plan->event_count ||
		    !tally_profile_worker_within(plan, batch, row))
			continue;
		if (plan->samples && tally_batch_sample(batch, row, &special.sample))
			continue;
		special.of.at = row;
		special.of.branch = NULL;
		special.of.frame = batch->frame ? batch->frame[row] : 0;
		special.of.stack = batch->stack ? batch->stack[row] : 0;
		special.samples = batch->samples ? batch->samples[row] : 1;
		special.period = special.undivided = batch->period[row];
		if (plan->options->kind == TALLY_PROFILE_BRANCHES) {
			result = put_branches(worker, &special);
			continue;
		}
		if (plan->options->kind == TALLY_PROFILE_MEMORY)
			special.period = special.undivided = weight_of(&special.sample);
		if (plan->ignored)
			ignore_callees(plan, &special);
		if (plan->parallel)
			special.period = divided(plan, &special.of, special.period);
		result = put(worker, &special);
	}
	return result;
}
