#include "convert/sample_rows.h"

#include "profile/profile.h"
#include "session/run.h"

#define COLUMNS                                                                            \
	(TALLY_COLUMN_TIME | TALLY_COLUMN_CPU | TALLY_COLUMN_THREAD | TALLY_COLUMN_FRAME | \
	 TALLY_COLUMN_STACK | TALLY_COLUMN_PERIOD)

struct rows {
	struct convert *convert;
	const struct profile_plan *plan;
	struct profile_worker worker; /* for its filters */
	tally_sample_row_fn take;
	void *context;
};

/* 1: the row passes the filters, 0: not, -ENOMEM. */
static int passes(struct rows *rows, const struct tally_batch *batch, uint32_t at)
{
	int passed = tally_profile_worker_within(rows->plan, batch, at) &&
		     tally_convert_has_event(rows->convert, batch->event[at]);

	if (passed && rows->worker.filters_threads)
		passed = tally_filter_thread(&rows->worker.filter, batch->thread[at]);
	if (passed > 0 && rows->worker.filters_frames)
		passed = tally_filter_frame(&rows->worker.filter, batch->frame[at]);
	return passed;
}

static int take_batch(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct rows *rows = context;
	int result = 0;

	(void)worker;
	for (uint32_t at = 0; at < batch->count && result >= 0; at++) {
		struct tally_thread thread = {.size = sizeof(thread), .pid = UINT32_MAX};
		struct sample_row row;

		if (batch->event[at] >= rows->plan->event_count)
			continue;
		result = passes(rows, batch, at);
		if (result <= 0)
			continue;
		thread.tid = UINT32_MAX;
		tally_session_thread(rows->convert->session, batch->thread[at], &thread);
		row = (struct sample_row){
		    .batch = batch,
		    .at = at,
		    .event = batch->event[at],
		    .cpu = batch->cpu[at],
		    .thread = batch->thread[at],
		    .frame = batch->frame[at],
		    .stack = batch->stack[at],
		    .time = batch->time[at],
		    .period = batch->period[at],
		    .pid = thread.pid,
		    .tid = thread.tid,
		    .comm = thread.comm ? thread.comm : "",
		};
		rows->convert->samples++;
		result = rows->take(rows->context, &row);
	}
	return result < 0 ? result : 0;
}

int tally_sample_rows_run(struct convert *convert, uint64_t columns, tally_sample_row_fn take,
			  void *context)
{
	struct tally_profile_options options = convert->filter;
	struct tally_profile *profile = NULL;
	struct profile_plan plan;
	struct rows rows = {.convert = convert, .plan = &plan, .take = take, .context = context};
	const struct tally_sink sink = {
	    .size = sizeof(sink),
	    .columns = COLUMNS | columns,
	    .in_order = true,
	    .context = &rows,
	    .batch = take_batch,
	};
	int result;

	options.keys = (const char *const[]){"comm"};
	options.key_count = 1;
	result = tally_profile_prepare(convert->session, &options, &plan, &profile, convert->error);
	if (result)
		return result;
	result = tally_profile_worker_init(&rows.worker, &plan);
	if (options.max_stack)
		tally_session_unwind_most(convert->session, options.max_stack);
	tally_session_stack_most(convert->session, options.max_stack);
	if (!result)
		result = tally_session_run(
		    convert->session, (const struct tally_sink *const[]){&sink}, 1, convert->error);
	tally_profile_worker_done(&rows.worker);
	tally_profile_plan_done(&plan);
	tally_profile_free(profile);
	return result;
}
