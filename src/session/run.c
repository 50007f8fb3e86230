/* Samples to sinks.  Pieces of the file are shared out to threads; each sample is decoded in its
 * place, joined with its thread and space, and becomes a row of a batch.  Where order counts, or a
 * filter that does, samples come out of the order of time instead (ordered.h). */
#include "session/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pool.h"
#include "file/in_place.h"
#include "session/early_visit.h"
#include "session/given.h"
#include "resolve/event_fields.h"
#include "source/live_windows.h"
#include "session/record_sink.h"
#include "source/piece.h"
#include "session/row_maker.h"
#include "source/scan.h"
#include "wire/sample_read.h"
#include "session/filter.h"

#define COLUMNS_KNOWN ((TALLY_COLUMN_PLACE << 1) - 1)
/* Where only these are asked for, samples may be looked up in the order of their addresses. */
#define COLUMNS_BY_ADDRESS                                                               \
	(TALLY_COLUMN_CPU | TALLY_COLUMN_THREAD | TALLY_COLUMN_IP | TALLY_COLUMN_FRAME | \
	 TALLY_COLUMN_PERIOD | TALLY_COLUMN_COUNT | TALLY_COLUMN_PLACE)

/* Pieces that give their memory back together. */
#define PIECES_TOGETHER (SOURCE_FORGET_SIZE / SOURCE_PIECE_SIZE)

struct run {
	struct tally_session *session;
	struct row_plan rows;
	const struct tally_row_parts *parts; /* or NULL */
	tally_show_sample_fn show;           /* takes samples in place of the makers; or NULL */
	void *show_context;
	uint64_t *periods;
	struct event_fields *events;
	struct row_maker *makers; /* by worker, as below */
	struct tally_resolver *resolvers;
	unsigned workers;
	_Atomic uint64_t done;
	_Atomic uint32_t *unread; /* by PIECES_TOGETHER pieces: how many are still to be read */
	bool has_early;           /* groups first, then the samples that are read again */
	struct early_visit early;
	uint64_t *early_want; /* by event */
};

/* The fields that columns are made of. */
static uint64_t fields_of(const struct run *run)
{
	static const struct {
		uint64_t column, fields;
	} table[] = {
	    {TALLY_COLUMN_TIME, PERF_SAMPLE_TIME},
	    {TALLY_COLUMN_CPU, PERF_SAMPLE_CPU},
	    {TALLY_COLUMN_THREAD, PERF_SAMPLE_TID},
	    {TALLY_COLUMN_IP, PERF_SAMPLE_IP},
	    {TALLY_COLUMN_FRAME, PERF_SAMPLE_IP},
	    {TALLY_COLUMN_LINE, PERF_SAMPLE_IP},
	    {TALLY_COLUMN_FILE, PERF_SAMPLE_IP},
	    {TALLY_COLUMN_PLACE, PERF_SAMPLE_IP},
	    {TALLY_COLUMN_STACK, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IP},
	    {TALLY_COLUMN_PERIOD, PERF_SAMPLE_PERIOD},
	    {TALLY_COLUMN_ADDR, PERF_SAMPLE_ADDR},
	    {TALLY_COLUMN_WEIGHT, TALLY_SAMPLE_WEIGHTS},
	    {TALLY_COLUMN_DATA_SRC, PERF_SAMPLE_DATA_SRC},
	};
	uint64_t fields = run->rows.reads ? PERF_SAMPLE_READ | PERF_SAMPLE_TIME : 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (run->rows.columns & table[i].column)
			fields |= table[i].fields;
	return fields;
}

static int visit_samples(struct run *run, unsigned worker, const struct source_piece *piece)
{
	const struct tally_session *session = run->session;
	struct tally_resolver *resolver = &run->resolvers[worker];
	struct row_maker *maker = &run->makers[worker];
	struct tally_record record;
	size_t at = 0;
	int result = 0;

	while (result >= 0 && piece_next_sample(piece, &at, &record)) {
		struct tally_resolved *sample = row_maker_next(maker);
		int event = source_event_of(&session->source, &resolver->ids, &record);
		const struct event_fields *fields = &run->events[event < 0 ? 0 : event];
		int passes = 1;

		if (event < 0)
			continue;
		if (!sample_read(fields->layout, &record, fields->want, &sample->sample)) {
			resolver->damaged++;
			continue;
		}
		if (run->has_early && !early_visit_again(&run->early, sample->sample.pid,
							 sample->sample.tid, record.offset))
			continue;
		sample->event = (uint32_t)event;
		sample->cpumode = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
		sample->offset = record.offset;
		sample->unwound = 0;
		sample->more = 0;
		result =
		    resolver_join(resolver, sample,
				  session->source.by_offset ? record.offset : sample->sample.time);
		if (!result && fields->chain)
			result = tally_resolver_complete(resolver, sample, fields->chain);
		if (run->show) {
			if (!result)
				result = run->show(run->show_context, worker, resolver, sample);
			continue;
		}
		if (!result && session->test)
			result = passes = tally_session_test(session, worker, resolver, sample);
		if (result < 0)
			break;
		if (!passes)
			result = tally_row_maker_leave_out(maker, sample);
		else if (fields->chain)
			result = tally_row_maker_add_now(maker, sample, &record);
		else
			result = tally_row_maker_add(maker, sample, &record);
	}
	return result;
}

static int show_early_sum(void *context, unsigned worker, struct tally_resolver *resolver,
			  const struct tally_resolved *sample)
{
	const struct run *run = context;
	struct row_maker *maker = &run->makers[worker];
	int passes = 1;

	if (run->show)
		return run->show(run->show_context, worker, resolver, sample);
	if (run->session->test)
		passes = tally_session_test(run->session, worker, resolver, sample);
	if (passes < 0)
		return passes;
	return passes ? tally_row_maker_add(maker, sample, NULL)
		      : tally_row_maker_leave_out(maker, sample);
}

static void forget_piece(const struct run *run, size_t number)
{
	size_t from = number - number % PIECES_TOGETHER, until = from + PIECES_TOGETHER;
	size_t count = run->session->source.piece_count;

	if (atomic_fetch_sub_explicit(&run->unread[from / PIECES_TOGETHER], 1,
				      memory_order_relaxed) == 1)
		tally_pieces_forget(&run->session->source, from, until < count ? until : count);
}

static int visit_piece(struct run *run, unsigned worker, size_t number)
{
	struct tally_session *session = run->session;
	const struct source_piece *piece = &session->source.pieces[number];
	const struct tally_block block = {
	    .bytes = piece->bytes,
	    .size = piece->size,
	    .offset = piece->offset,
	};
	int result = tally_data_populate(session->source.data, &block);
	uint64_t done;

	if (result >= 0)
		result = visit_samples(run, worker, piece);
	forget_piece(run, number);
	done = atomic_fetch_add_explicit(&run->done, piece->size, memory_order_relaxed);
	/* Progress is shown by the caller's own thread. */
	if (result >= 0 && !worker && source_progress(&session->source, done + piece->size))
		return -ECANCELED;
	return result < 0 ? result : 0;
}

/* The piece of a share of the work that is behind early sums. */
static size_t piece_of(const struct run *run, size_t number)
{
	return run->has_early ? run->early.again_pieces[number - run->early.run_count] : number;
}

static int visit_share(void *context, unsigned worker, size_t number)
{
	struct run *run = context;

	if (run->has_early && number < run->early.run_count)
		return tally_early_visit_run(&run->early, number, run->early_want, show_early_sum,
					     run, worker, &run->resolvers[worker]);
	return visit_piece(run, worker, piece_of(run, number));
}

static int flush_share(void *context, unsigned thread, size_t worker)
{
	const struct run *run = context;

	(void)thread;
	return tally_row_maker_flush(&run->makers[worker]);
}

/* Whether sums that the first pass made serve as well as each sample does. */
static bool uses_early_sums(const struct run *run)
{
	const struct tally_session *session = run->session;
	uint64_t want = run->rows.want | (session->test ? session->test->want : 0);

	return session->source.early_sums && run->rows.combined && !(want & ~EARLY_FIELDS);
}

static int look_at_early_sums(struct run *run, size_t *shares)
{
	struct tally_session *session = run->session;
	int result;

	if (!uses_early_sums(run))
		return 0;
	run->early_want = calloc(session->source.event_count + 1, sizeof(*run->early_want));
	if (!run->early_want)
		return -ENOMEM;
	for (size_t i = 0; i < session->source.event_count; i++)
		run->early_want[i] = run->events[i].want & run->events[i].layout->sample_type;
	result = tally_early_visit_init(&run->early, session);
	run->has_early = !result;
	*shares = run->early.run_count + run->early.again_piece_count;
	return result;
}

static int make_workers(struct run *run, unsigned count)
{
	run->makers = table_apart(count, sizeof(*run->makers));
	run->resolvers = table_apart(count, sizeof(*run->resolvers));
	if (!run->makers || !run->resolvers)
		return -ENOMEM;
	while (run->workers < count) {
		struct tally_resolver *resolver = &run->resolvers[run->workers];
		int result = tally_resolver_init(resolver, &run->session->tables);

		if (!result)
			result = tally_row_maker_init(&run->makers[run->workers], &run->rows,
						      run->workers, resolver);
		if (result) {
			tally_resolver_done(resolver);
			return result;
		}
		run->workers++;
	}
	return 0;
}

static int begin_sinks(const struct run *run)
{
	int result = 0;

	for (size_t i = 0; i < run->rows.sink_count && result >= 0; i++)
		if (run->rows.sinks[i].begin)
			result = run->rows.sinks[i].begin(run->rows.sinks[i].context, run->workers);
	return result < 0 ? result : 0;
}

/* What reads samples in any order; *shares: so many parts there are.  0 or -ENOMEM. */
static int plan_unordered(struct run *run, size_t *shares)
{
	struct tally_session *session = run->session;
	uint64_t tested = session->test ? session->test->want : 0;
	int result;

	run->events = tally_event_fields_new(&session->source, run->rows.want | tested,
					     session->tables.branch_history);
	result = run->events ? look_at_early_sums(run, shares) : -ENOMEM;
	return result;
}

static int count_unread(struct run *run, size_t shares)
{
	free(run->unread);
	run->unread =
	    calloc(run->session->source.piece_count / PIECES_TOGETHER + 1, sizeof(*run->unread));
	for (size_t i = run->has_early ? run->early.run_count : 0; run->unread && i < shares; i++)
		run->unread[piece_of(run, i) / PIECES_TOGETHER]++;
	return run->unread ? 0 : -ENOMEM;
}

static int visit_unordered(struct run *run, size_t shares)
{
	int result = count_unread(run, shares);

	if (!result)
		result = tally_pool_run(run->workers, shares, visit_share, run);
	if (!result)
		result = tally_pool_run(run->workers, run->workers, flush_share, run);
	for (unsigned i = 0; i < run->workers; i++)
		run->session->source.counts.undecoded += run->resolvers[i].damaged;
	tally_stacks_trim(&run->session->tables.stacks);
	return result;
}

/* In any order, by as many threads as there is work for. */
static int run_unordered(struct run *run)
{
	struct tally_session *session = run->session;
	size_t shares = session->source.piece_count;
	unsigned threads = session->source.threads;
	int result = plan_unordered(run, &shares);

	if (shares < threads)
		threads = shares ? (unsigned)shares : 1;
	session->source.counts.undecoded = 0;
	if (!result)
		result = make_workers(run, threads);
	if (!result)
		result = begin_sinks(run);
	if (!result)
		result = visit_unordered(run, shares);
	/* A second run is rare, and right without them; what comes after the first needs the room.
	 */
	if (run->has_early) {
		tally_early_visit_done(&run->early);
		tally_source_drop_early_sums(&session->source);
	}
	return result;
}

static int take_entry(const struct run *run, struct row_maker *maker,
		      const struct tally_entry *entry)
{
	if (entry->dropped)
		return tally_row_maker_leave_out(maker, entry->at);
	/* Rows of parts are complete when their batch ends, and not before. */
	return run->parts && entry->lasts
		   ? tally_row_maker_add(maker, entry->at, &entry->record)
		   : tally_row_maker_add_now(maker, entry->at, &entry->record);
}

static int take_ordered(void *context, struct tally_record_batch *batch)
{
	struct run *run = context;
	struct row_maker *maker = &run->makers[batch->worker];
	struct tally_entry entry;
	int result;

	maker->resolver = batch->resolver;
	if (run->parts)
		run->parts->begin(run->rows.sinks->context, batch->worker, batch->slot);
	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		result = take_entry(run, maker, &entry);
		if (result)
			return result;
	}
	/* What rows ask of a sample's addresses is asked of the batch's resolver. */
	return result || (!maker->rows && !run->parts) ? result : tally_row_maker_flush(maker);
}

static int take_part(void *context, unsigned slot)
{
	const struct run *run = context;

	return run->parts->take(run->rows.sinks->context, slot);
}

static int visit_ordered(struct run *run, bool serial, struct tally_error *error)
{
	const struct tally_record_sink sink = {
	    .context = run,
	    .want = run->rows.want,
	    .samples = true,
	    .dropped = true,
	    .batch = take_ordered,
	    .take = run->parts ? take_part : NULL,
	};
	int result = tally_session_run_in_order(run->session, &sink, serial, error);

	for (unsigned i = 0; !result && i < run->workers; i++)
		result = tally_row_maker_flush(&run->makers[i]);
	return result;
}

/* Out of the order of time: `serial` when sinks count on it, else because a filter does. */
static int run_ordered(struct run *run, bool serial, struct tally_error *error)
{
	int result = make_workers(run, serial ? 1 : run->session->source.threads);

	if (!result)
		result = begin_sinks(run);
	return result ? result : visit_ordered(run, serial, error);
}

/* What workers remember is of the last window. */
static int renew_workers(struct run *run)
{
	int result = 0;

	for (unsigned i = 0; i < run->workers && !result; i++) {
		tally_row_maker_forget(&run->makers[i]);
		tally_resolver_done(&run->resolvers[i]);
		result = tally_resolver_init(&run->resolvers[i], &run->session->tables);
		run->makers[i].resolver = &run->resolvers[i];
	}
	return result;
}

static int pass_time(const struct run *run, uint64_t passed)
{
	int result = 0;

	for (size_t i = 0; i < run->rows.sink_count && result >= 0; i++)
		if (run->rows.sinks[i].passed)
			result = run->rows.sinks[i].passed(run->rows.sinks[i].context, passed);
	return result < 0 ? result : 0;
}

/* For sinks that do something now and then. */
struct waiting {
	const struct run *run;
	uint64_t passed;
	int result;
};

static int wait_on(void *context)
{
	struct waiting *waiting = context;

	waiting->result = pass_time(waiting->run, waiting->passed);
	return waiting->result;
}

/* Window by window.  The last one has passed all times, as a file has, and so is not reported. */
static int run_live(struct run *run, bool ordered, bool serial, struct tally_error *error)
{
	uint64_t passed = 0, before = 0;
	struct waiting waiting = {.run = run};
	struct tally_source *source = &run->session->source;
	size_t none = 0;
	int result = ordered ? 0 : plan_unordered(run, &none), more = 1;

	if (!result)
		result = make_workers(run, serial ? 1 : run->session->source.threads);
	if (!result)
		result = begin_sinks(run);
	source->waiting = wait_on;
	source->waiting_context = &waiting;
	while (!result && (more = tally_session_window(run->session, &passed, error)) > 0) {
		result = renew_workers(run);
		if (!result)
			result = ordered ? visit_ordered(run, serial, error)
					 : visit_unordered(run, run->session->source.piece_count);
		if (!result && passed > before && passed < UINT64_MAX)
			result = pass_time(run, passed);
		before = waiting.passed = passed;
	}
	source->waiting = NULL;
	result = result ? result : waiting.result;
	return result ? result : more;
}

/* What filters left out, for those who ask for shares of all. */
static int sum_left_out(const struct run *run)
{
	struct tally_session *session = run->session;

	free(session->left_out);
	session->left_out = calloc(session->source.event_count + 1, sizeof(*session->left_out));
	for (unsigned i = 0; session->left_out && i < run->workers; i++) {
		for (size_t event = 0; event < session->source.event_count; event++) {
			session->left_out[event].samples += run->makers[i].left_out[event].samples;
			session->left_out[event].period += run->makers[i].left_out[event].period;
		}
	}
	return session->left_out ? 0 : -ENOMEM;
}

static int end_sinks(const struct run *run)
{
	int result = sum_left_out(run);

	for (size_t i = 0; !result && i < run->rows.sink_count; i++)
		if (run->rows.sinks[i].end)
			result = run->rows.sinks[i].end(run->rows.sinks[i].context);
	return result;
}

/* Copies the sinks, which may be of another edition, and what they ask for together.  0 or -errno.
 */
static int take_sinks(struct run *run, const struct tally_sink *const *sinks, size_t count,
		      bool *ret_in_order)
{
	struct row_plan *rows = &run->rows;

	rows->sinks = calloc(count + 1, sizeof(*rows->sinks));
	rows->combined = count > 0;
	if (!rows->sinks)
		return -ENOMEM;
	for (; rows->sink_count < count; rows->sink_count++) {
		struct tally_sink *own = &rows->sinks[rows->sink_count];
		int result = tally_options_take(own, sizeof(*own), sinks[rows->sink_count]);

		if (result)
			return result;
		if (own->columns & ~COLUMNS_KNOWN || !own->batch)
			return -EINVAL;
		rows->columns |= own->columns;
		rows->combined &= (own->columns & TALLY_COLUMN_COUNT) != 0;
		*ret_in_order |= own->in_order;
	}
	/* Rows stand for several samples where every sink knows what that is. */
	rows->combined &= !(rows->columns & ~COLUMNS_BY_ADDRESS);
	rows->by_address =
	    rows->combined && rows->columns & TALLY_COLUMN_FRAME && !run->session->options.places;
	return 0;
}

/* A sample without its period stands for the attr's; in frequency mode that is unknown. */
static int take_events(struct run *run)
{
	struct tally_session *session = run->session;

	run->periods = calloc(session->source.event_count + 1, sizeof(*run->periods));
	for (size_t i = 0; run->periods && i < session->source.event_count; i++) {
		const struct tally_attr *attr = &tally_data_event(session->source.data, i)->attr;

		run->rows.reads |=
		    run->rows.columns & TALLY_COLUMN_PERIOD && attr->sample_type & PERF_SAMPLE_READ;
		run->periods[i] = attr->freq || !attr->sample_period ? 1 : attr->sample_period;
	}
	run->rows.periods = run->periods;
	return run->periods ? 0 : -ENOMEM;
}

static void done(struct run *run)
{
	for (unsigned i = 0; i < run->workers; i++) {
		tally_row_maker_done(&run->makers[i]);
		tally_resolver_done(&run->resolvers[i]);
	}
	free(run->makers);
	free(run->resolvers);
	free(run->early_want);
	free(run->unread);
	free(run->events);
	free(run->periods);
	free(run->rows.sinks);
}

/* What is resolved already comes from where it is kept. */
static int finish_given(struct run *run, bool in_order, struct tally_error *error)
{
	struct tally_session *session = run->session;
	int result;

	run->workers = session->source.threads;
	result = begin_sinks(run);
	run->workers = 0; /* there are no makers */
	if (!result)
		result = tally_given_run(session, &run->rows, in_order, error);
	if (!result)
		result = end_sinks(run);
	done(run);
	return result < 0 && !(error && error->code)
		   ? source_failed(&session->source, result, error)
		   : result;
}

static int run_sinks(struct run *run, const struct tally_sink *const *sinks, size_t count,
		     struct tally_error *error)
{
	struct tally_session *session = run->session;
	bool in_order = false, ordered;
	int result = take_sinks(run, sinks, count, &in_order);

	if (result) {
		done(run);
		return result == -ENOMEM ? source_failed(&session->source, result, error)
					 : tally_fail(error, result, -1,
						      "a sink asks for what this libtally does not "
						      "know; use a newer one");
	}
	result = take_events(run);
	run->rows.want = fields_of(run);
	/* What a counter moved by, and which calls a sample has of the one before it, is known in
	 * the order of time alone. */
	in_order |= run->rows.reads || session->tables.stitches;
	run->rows.combined &= !session->filter && !in_order && !run->parts;
	run->rows.by_address &= run->rows.combined;
	ordered = in_order || session->filter || run->parts;
	if (!result && session->given)
		return finish_given(run, in_order || run->parts, error);
	if (!result && session->source.live)
		result = run_live(run, ordered, in_order, error);
	else if (!result)
		result = ordered ? run_ordered(run, in_order, error) : run_unordered(run);
	if (!result)
		result = end_sinks(run);
	done(run);
	return result < 0 ? source_failed(&session->source, result, error) : 0;
}

int tally_session_run_wanted(struct tally_session *session, const struct tally_sink *const *sinks,
			     size_t count, const struct tally_rows_wanted *wanted,
			     struct tally_error *error)
{
	struct run run = {.session = session, .rows = {.session = session, .wanted = wanted}};

	return run_sinks(&run, sinks, count, error);
}

int tally_session_run_parts(struct tally_session *session, const struct tally_sink *sink,
			    const struct tally_row_parts *parts, struct tally_error *error)
{
	struct run run = {.session = session, .rows = {.session = session}, .parts = parts};

	return run_sinks(&run, &sink, 1, error);
}

int tally_session_run(struct tally_session *session, const struct tally_sink *const *sinks,
		      size_t count, struct tally_error *error)
{
	return tally_session_run_wanted(session, sinks, count, NULL, error);
}

int tally_session_show_samples(struct tally_session *session, uint64_t fields,
			       tally_show_sample_fn show, void *context, struct tally_error *error)
{
	struct run run = {
	    .session = session,
	    .rows = {.session = session, .want = fields, .combined = true},
	    .show = show,
	    .show_context = context,
	};
	int result = run_unordered(&run);

	done(&run);
	return result < 0 ? source_failed(&session->source, result, error) : 0;
}

bool tally_session_sums_early(const struct tally_session *session, uint64_t fields)
{
	if (session->test)
		fields |= session->test->want;
	return session->source.early_sums && !session->filter && !(fields & ~EARLY_FIELDS);
}

struct tally_left_out tally_session_left_out(const struct tally_session *session, size_t event)
{
	return session->left_out && event < session->source.event_count
		   ? session->left_out[event]
		   : (struct tally_left_out){0};
}
