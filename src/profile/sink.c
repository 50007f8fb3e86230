#include "profile/sink.h"

#include <errno.h>
#include <stdlib.h>
#include "base/pool.h"
#include "cycles/block_sums.h"
#include "session/run.h"

struct profile_sink {
	const struct profile_plan *plan;
	struct profile_worker *workers;
	unsigned worker_count;
	unsigned step; /* of merging */
};

static int begin(void *context, unsigned workers)
{
	struct profile_sink *sink = context;

	sink->workers = table_apart(workers, sizeof(*sink->workers));
	if (!sink->workers)
		return -ENOMEM;
	for (; sink->worker_count < workers; sink->worker_count++)
		if (tally_profile_worker_init(&sink->workers[sink->worker_count], sink->plan))
			return -ENOMEM;
	return 0;
}

static int take(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct profile_sink *sink = context;

	return tally_profile_worker_take(&sink->workers[worker], batch);
}

/* One pair of a round: worker `step` further on goes into this one, and is gone. */
static int merge_pair(void *context, unsigned thread, size_t pair)
{
	const struct profile_sink *sink = context;
	size_t to = pair * 2 * sink->step, from = to + sink->step;
	struct profile_worker *larger = &sink->workers[to];
	int result;

	(void)thread;
	if (from >= sink->worker_count)
		return 0;
	if (larger->calls.count < sink->workers[from].calls.count) {
		struct profile_worker other = *larger;

		*larger = sink->workers[from];
		sink->workers[from] = other;
	}
	result = tally_profile_worker_merge(larger, &sink->workers[from]);
	tally_profile_worker_done(&sink->workers[from]);
	return result;
}

static int merge(struct profile_sink *sink)
{
	int result = 0;

	for (sink->step = 1; sink->step < sink->worker_count && !result; sink->step *= 2)
		result = tally_pool_run(
		    sink->worker_count,
		    (sink->worker_count + 2 * sink->step - 1) / (2 * sink->step), merge_pair, sink);
	return result;
}

/* Filters left them out, and they are of all nevertheless. */
static void add_left_out(const struct profile_plan *plan, struct profile_worker *worker)
{
	for (uint32_t i = 0; i < plan->event_count; i++) {
		struct tally_left_out left_out = tally_session_left_out(plan->session, i);

		worker->sums[i].samples += left_out.samples;
		worker->sums[i].total += left_out.period;
	}
}

uint64_t tally_profile_columns(const struct profile_plan *plan)
{
	const struct tally_profile_options *options = plan->options;
	uint64_t columns = profile_keys_columns(plan->keys) | TALLY_COLUMN_PERIOD;

	if (options->callchains || options->dso_count || options->symbol_count ||
	    options->symbol_part || options->hide_unresolved)
		columns |= TALLY_COLUMN_FRAME;
	if (options->callchains)
		columns |= TALLY_COLUMN_STACK;
	if (plan->span_count)
		columns |= TALLY_COLUMN_TIME;
	if (options->cpu_count)
		columns |= TALLY_COLUMN_CPU;
	if (plan->notes_addresses)
		columns |= TALLY_COLUMN_IP;
	if (plan->samples)
		columns |= TALLY_COLUMN_SAMPLE;
	if (plan->parallel)
		columns |= TALLY_COLUMN_TIME;
	if (plan->ignored || options->exclude_other)
		columns |= TALLY_COLUMN_FRAME | TALLY_COLUMN_STACK;
	if (options->only_socket)
		columns |= TALLY_COLUMN_CPU;
	return columns;
}

int tally_profile_sink_run(struct tally_session *session, const struct profile_plan *plan,
			   const struct tally_rows_wanted *wanted, struct profile_worker *ret,
			   struct tally_error *error)
{
	struct profile_sink sink = {.plan = plan};
	const struct tally_sink taking = {
	    .size = sizeof(taking),
	    .columns = tally_profile_columns(plan),
	    .context = &sink,
	    .begin = begin,
	    .batch = take,
	};
	const struct tally_sink *sinks[3] = {&taking};
	size_t count = 1;
	int result;

	if (plan->blocks)
		sinks[count++] = tally_block_sums_sink(plan->blocks);
	if (plan->beside)
		sinks[count++] = plan->beside;
	result = tally_session_run_wanted(session, sinks, count, wanted, error);

	if (!result)
		result = merge(&sink);
	if (!result) {
		add_left_out(plan, &sink.workers[0]);
		*ret = sink.workers[0];
		sink.workers[0] = (struct profile_worker){0};
	}
	for (unsigned i = 0; i < sink.worker_count; i++)
		tally_profile_worker_done(&sink.workers[i]);
	free(sink.workers);
	return result;
}
