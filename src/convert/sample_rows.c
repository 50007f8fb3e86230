#include "convert/sample_rows.h"

#include <errno.h>
#include <stdlib.h>
#include "profile/profile.h"
#include "session/run.h"

#define COLUMNS                                                                            \
	(TALLY_COLUMN_TIME | TALLY_COLUMN_CPU | TALLY_COLUMN_THREAD | TALLY_COLUMN_FRAME | \
	 TALLY_COLUMN_STACK | TALLY_COLUMN_PERIOD)

struct rows_worker {
	struct profile_worker profile; /* for its filters */
	struct tally_buf *part;        /* that it makes */
	uint64_t samples;
} __attribute__((aligned(TABLE_APART)));

struct rows {
	struct convert *convert;
	const struct profile_plan *plan;
	struct rows_worker *workers;
	unsigned worker_count;
	struct tally_buf *parts; /* by slot */
	char *chosen;            /* by event */
	int (*begin)(void *context, unsigned workers);
	tally_sample_row_fn take;
	tally_sample_part_fn take_part; /* of rows by parts; NULL: they come in order */
	void *context;
};

static int begin(void *context, unsigned workers)
{
	struct rows *rows = context;
	int result = 0;

	rows->workers = table_apart(workers, sizeof(*rows->workers));
	if (!rows->workers)
		return -ENOMEM;
	for (rows->worker_count = 0; rows->worker_count < workers && !result; rows->worker_count++)
		result = tally_profile_worker_init(&rows->workers[rows->worker_count].profile,
						   rows->plan);
	return result || !rows->begin ? result : rows->begin(rows->context, workers);
}

/* 1: the row passes the filters, 0: not, -ENOMEM. */
static int passes(const struct rows *rows, struct profile_worker *worker,
		  const struct tally_batch *batch, uint32_t at)
{
	int passed =
	    rows->chosen[batch->event[at]] && tally_profile_worker_within(rows->plan, batch, at);

	if (passed && worker->filters_threads)
		passed = tally_filter_thread(&worker->filter, batch->thread[at]);
	if (passed > 0 && worker->filters_frames)
		passed = tally_filter_frame(&worker->filter, batch->frame[at]);
	return passed;
}

static int take_batch(void *context, unsigned number, const struct tally_batch *batch)
{
	struct rows *rows = context;
	struct rows_worker *worker = &rows->workers[number];
	struct tally_thread thread = {.size = sizeof(thread)};
	uint32_t thread_number = UINT32_MAX;
	int result = 0;

	for (uint32_t at = 0; at < batch->count && result >= 0; at++) {
		struct sample_row row;

		if (batch->event[at] >= rows->plan->event_count)
			continue;
		result = passes(rows, &worker->profile, batch, at);
		if (result <= 0)
			continue;
		if (batch->thread[at] != thread_number) {
			thread = (struct tally_thread){
			    .size = sizeof(thread), .pid = UINT32_MAX, .tid = UINT32_MAX};
			thread_number = batch->thread[at];
			tally_session_thread(rows->convert->session, thread_number, &thread);
		}
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
		    .worker = number,
		    .part = worker->part,
		};
		worker->samples++;
		result = rows->take(rows->context, &row);
	}
	return result < 0 ? result : 0;
}

static int choose_events(struct rows *rows)
{
	rows->chosen = calloc(rows->plan->event_count + 1ULL, 1);
	for (uint32_t i = 0; rows->chosen && i < rows->plan->event_count; i++)
		rows->chosen[i] = tally_convert_has_event(rows->convert, i);
	return rows->chosen ? 0 : -ENOMEM;
}

/* --- rows by parts --- */

static void begin_part(void *context, unsigned worker, unsigned slot)
{
	struct rows *rows = context;

	rows->workers[worker].part = &rows->parts[slot];
}

static int take_part(void *context, unsigned slot)
{
	struct rows *rows = context;
	struct tally_buf *part = &rows->parts[slot];
	int result = part->failed;

	if (!result)
		result = rows->take_part(rows->context, part);
	tally_buf_clear(part);
	return result;
}

static const struct tally_row_parts row_parts = {.begin = begin_part, .take = take_part};

static int run_sink(struct rows *rows, const struct tally_sink *sink)
{
	struct tally_session *session = rows->convert->session;
	unsigned slots = tally_session_slots(session);
	int result;

	if (sink->in_order)
		return tally_session_run(session, &sink, 1, rows->convert->error);
	rows->parts = calloc(slots, sizeof(*rows->parts));
	if (!rows->parts)
		return -ENOMEM;
	result = tally_session_run_parts(session, sink, &row_parts, rows->convert->error);
	for (unsigned i = 0; i < slots; i++)
		tally_buf_done(&rows->parts[i]);
	free(rows->parts);
	return result;
}

static int run(struct rows *rows, uint64_t columns)
{
	struct convert *convert = rows->convert;
	struct tally_profile_options options = convert->filter;
	struct tally_profile *profile = NULL;
	struct profile_plan plan;
	const struct tally_sink sink = {
	    .size = sizeof(sink),
	    .columns = COLUMNS | columns,
	    .in_order = !rows->take_part,
	    .context = rows,
	    .begin = begin,
	    .batch = take_batch,
	};
	int result;

	options.keys = (const char *const[]){"comm"};
	options.key_count = 1;
	result = tally_profile_prepare(convert->session, &options, &plan, &profile, convert->error);
	if (result)
		return result;
	rows->plan = &plan;
	result = choose_events(rows);
	if (options.max_stack)
		tally_session_unwind_most(convert->session, options.max_stack);
	tally_session_stack_most(convert->session, options.max_stack);
	if (!result)
		result = run_sink(rows, &sink);
	for (unsigned i = 0; i < rows->worker_count; i++) {
		convert->samples += rows->workers[i].samples;
		tally_profile_worker_done(&rows->workers[i].profile);
	}
	free(rows->workers);
	free(rows->chosen);
	rows->plan = NULL;
	tally_profile_plan_done(&plan);
	tally_profile_free(profile);
	return result;
}

int tally_sample_rows_run(struct convert *convert, uint64_t columns, tally_sample_row_fn take,
			  void *context)
{
	struct rows rows = {.convert = convert, .take = take, .context = context};

	return run(&rows, columns);
}

int tally_sample_rows_by_parts(struct convert *convert, uint64_t columns,
			       int (*begin_rows)(void *context, unsigned workers),
			       tally_sample_row_fn put, tally_sample_part_fn take_rows,
			       void *context)
{
	struct rows rows = {.convert = convert,
			    .begin = begin_rows,
			    .take = put,
			    .take_part = take_rows,
			    .context = context};

	return run(&rows, columns);
}
