#include "session/given.h"

#include <errno.h>
#include <string.h>
#include "base/fail.h"
#include "base/pool.h"
#include "session/row_maker.h"
#include "session/run.h"
#include "session/session.h"

struct giving {
	struct tally_session *session;
	const struct row_plan *plan;
	_Atomic size_t done;
};

/* What a piece is read for. */
struct receiver {
	const struct giving *giving;
	unsigned worker;
};

void tally_session_give(struct tally_session *session, const struct tally_given *given,
			const struct tally_session_counts *counts, const uint64_t *samples)
{
	session->given = given;
	session->source.counts = *counts;
	session->source.total_bytes = given->pieces;
	for (size_t i = 0; i < session->source.event_count; i++)
		session->source.event_samples[i] = samples[i];
}

static void move_row(struct given_rows *rows, uint32_t to, uint32_t from)
{
	uint32_t *const narrow[] = {rows->event, rows->cpu,   rows->thread,
				    rows->frame, rows->stack, rows->samples};
	uint64_t *const wide[] = {rows->time, rows->period, rows->weight, rows->ip, rows->offset};

	for (size_t i = 0; i < sizeof(narrow) / sizeof(*narrow); i++)
		if (narrow[i])
			narrow[i][to] = narrow[i][from];
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (wide[i])
			wide[i][to] = wide[i][from];
}

/* Leaves out rows that the run is not about.  Rows have no addresses, so frames alone decide. */
static void choose(const struct tally_rows_wanted *wanted, struct given_rows *rows)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows_want_frame(wanted, rows->frame[i]))
			move_row(rows, kept++, i);
	rows->count = kept;
}

static int put(void *to, struct given_rows *rows)
{
	const struct receiver *receiver = to;
	const struct row_plan *plan = receiver->giving->plan;
	uint64_t columns = plan->columns;
	struct tally_batch batch = {.size = sizeof(batch)};
	int result = 0;

	if (plan->wanted)
		choose(plan->wanted, rows);
	batch.count = rows->count;
	batch.event = rows->event;
	batch.time = columns & TALLY_COLUMN_TIME ? rows->time : NULL;
	batch.cpu = columns & TALLY_COLUMN_CPU ? rows->cpu : NULL;
	batch.thread = columns & TALLY_COLUMN_THREAD ? rows->thread : NULL;
	batch.ip = columns & TALLY_COLUMN_IP ? rows->ip : NULL;
	batch.frame = columns & TALLY_COLUMN_FRAME ? rows->frame : NULL;
	batch.stack = columns & TALLY_COLUMN_STACK ? rows->stack : NULL;
	batch.period = columns & TALLY_COLUMN_PERIOD ? rows->period : NULL;
	batch.offset = columns & TALLY_COLUMN_OFFSET ? rows->offset : NULL;
	batch.weight = columns & TALLY_COLUMN_WEIGHT ? rows->weight : NULL;
	batch.samples = columns & TALLY_COLUMN_COUNT ? rows->samples : NULL;
	for (size_t i = 0; i < plan->sink_count && result >= 0 && rows->count; i++)
		result = plan->sinks[i].batch(plan->sinks[i].context, receiver->worker, &batch);
	return result < 0 ? result : 0;
}

static int read_piece(void *context, unsigned worker, size_t piece)
{
	struct giving *giving = context;
	const struct tally_given *given = giving->session->given;
	struct receiver receiver = {.giving = giving, .worker = worker};
	int result = given->read(given->context, piece, put, &receiver);
	size_t done = atomic_fetch_add_explicit(&giving->done, 1, memory_order_relaxed);

	if (!result && !worker && source_progress(&giving->session->source, done + 1))
		return -ECANCELED;
	return result;
}

/* The first of the columns that are missing, in words. */
static const char *column_name(uint64_t columns)
{
	static const struct {
		uint64_t column;
		const char *name;
	} known[] = {
	    {TALLY_COLUMN_TIME, "times"},
	    {TALLY_COLUMN_CPU, "CPUs"},
	    {TALLY_COLUMN_WEIGHT, "weights"},
	    {TALLY_COLUMN_ADDR, "addresses of data"},
	    {TALLY_COLUMN_DATA_SRC, "sources of data"},
	    {TALLY_COLUMN_LINE, "source lines of samples"},
	    {TALLY_COLUMN_FILE, "source lines of samples"},
	    {TALLY_COLUMN_PLACE, "addresses of samples"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (columns & known[i].column)
			return known[i].name;
	return "whole samples";
}

int tally_given_run(struct tally_session *session, const struct row_plan *plan, bool in_order,
		    struct tally_error *error)
{
	const struct tally_given *given = session->given;
	struct giving giving = {.session = session, .plan = plan};
	uint64_t missing = plan->columns & ~given->columns;
	int result;

	if (missing || in_order || session->filter || session->test)
		return tally_fail(error, -ENOTSUP, -1,
				  "%s: tables of a fleet have no %s, which a key or an option asks "
				  "for; use other ones, or the recording",
				  tally_data_path(session->source.data),
				  missing    ? column_name(missing)
				  : in_order ? "order of time"
					     : "fields for filters");
	result = tally_pool_run(session->source.threads, given->pieces, read_piece, &giving);
	return result && result != -ECANCELED && result != -ENOMEM
		   ? given->explain(given->context, result, error)
		   : result;
}
