/* Batches of the order are shared out to threads, each of which lets the sink read them; what the
 * sink made of a batch is taken when its turn has come. */
#include "session/record_sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/pool.h"
#include "source/piece.h"
#include "session/record_batch.h"
#include "session/filter.h"
#include "session/session.h"

/* Bytes of records in a batch of tokens: what is shown of them is short. */
#define TOKEN_BYTES (3 * ORDER_BATCH_BYTES)

struct record_run {
	struct tally_session *session;
	const struct tally_record_sink *sink;
	struct event_fields *events;
	struct record_worker *workers;
	unsigned slots, threads;

	/* Who holds this one takes the next batch, and its number. */
	pthread_mutex_t taking;
	struct order order;
	bool by_windows; /* in place of `order` */
	struct time_windows windows;
	int token_ip_at, token_tid_at; /* find_tokens() */
	uint64_t taken;                /* batches */
	size_t forgotten;              /* pieces */
	bool ended;
	bool filters; /* batches come through the stage; then all this is under `turn` */
	struct filter_stage stage;

	/* What is done, under `turn`; taken after `taking` when both are. */
	pthread_mutex_t turn;
	pthread_cond_t turned; /* `finished` grew, or it failed */
	bool *done;            /* by slot */
	uint64_t finished;     /* batches whose results were taken */
	bool finishing;        /* a thread is about it */
	int failure;
};

unsigned tally_session_slots(const struct tally_session *session)
{
	return session->source.threads * 2 + 2;
}

static int fail(struct record_run *run, int failure)
{
	pthread_mutex_lock(&run->turn);
	if (!run->failure)
		run->failure = failure;
	failure = run->failure;
	pthread_cond_broadcast(&run->turned);
	pthread_mutex_unlock(&run->turn);
	return failure;
}

/* Waits until the slot of a batch is free; 0, or what another thread failed with. */
static int wait_for_slot(struct record_run *run, uint64_t batch)
{
	int failure;

	pthread_mutex_lock(&run->turn);
	while (!run->failure && batch - run->finished >= run->slots)
		pthread_cond_wait(&run->turned, &run->turn);
	failure = run->failure;
	pthread_mutex_unlock(&run->turn);
	return failure;
}

/* Pieces that batches under way may still be about. */
#define PIECES_KEPT 16U

/* The first piece that has something of the worker's batch. */
static size_t first_piece(const struct record_run *run, const struct record_worker *worker)
{
	const struct order_batch *batch = record_worker_places(worker);
	uint64_t least = UINT64_MAX;

	if (run->by_windows)
		return worker->window.runs[0].place >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS);
	for (size_t i = 0; i < batch->count; i++)
		least = batch->places[i] < least ? batch->places[i] : least;
	return batch->count ? least >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS) : 0;
}

/* Pieces of the file that were read give their memory back: all batches come from about the same
 * part of it, and a piece that is needed again comes from the file again. */
static void forget_pieces(struct record_run *run, const struct record_worker *worker)
{
	const struct tally_session *session = run->session;
	size_t least = first_piece(run, worker), from, until;

	until = least > PIECES_KEPT ? least - PIECES_KEPT : 0;
	pthread_mutex_lock(&run->turn);
	from = run->forgotten;
	if (until < from + SOURCE_FORGET_SIZE / SOURCE_PIECE_SIZE)
		until = from;
	else
		run->forgotten = until;
	pthread_mutex_unlock(&run->turn);
	tally_pieces_forget(&session->source, from, until);
}

/* A batch that went through the filter, and its number: 1, 0 at the end, -errno.  The caller's
 * thread alone runs the filter; it keeps a batch ready for each thread, and shows batches itself
 * then. */
static int take_filtered(struct record_run *run, struct record_worker *worker, uint64_t *ret,
			 uint64_t *ret_passed)
{
	struct filter_stage *stage = &run->stage;
	unsigned number = worker->batch.worker, ready = run->threads > 1 ? run->threads : 1;
	int result = 0;

	pthread_mutex_lock(&run->turn);
	while (!run->failure && !result) {
		bool room =
		    stage->made - run->taken < ready && stage->made - run->finished < run->slots;

		if (!number && !run->ended && room) {
			pthread_mutex_unlock(&run->turn);
			result = tally_filter_stage_make(stage, &run->order);
			pthread_mutex_lock(&run->turn);
			if (result < 0 || !stage->batches[stage->made % stage->slots].batch.count)
				run->ended = true;
			else
				stage->made++;
			pthread_cond_broadcast(&run->turned);
		} else if (run->taken < stage->made) {
			*ret = run->taken++;
			worker->filtered = &stage->batches[*ret % stage->slots];
			result = 1;
		} else if (run->ended) {
			break;
		} else {
			pthread_cond_wait(&run->turned, &run->turn);
		}
	}
	if (run->failure)
		result = run->failure;
	*ret_passed = number ? 0 : run->order.passed;
	pthread_mutex_unlock(&run->turn);
	return result;
}

/* Where samples of all events have their addresses and threads, which is before their times; below
 * 0: not all have them alike, or the sink has no tokens. */
static void find_tokens(struct record_run *run)
{
	const struct tally_session *session = run->session;
	int ip_at = -1, tid_at = -1;

	run->token_ip_at = -1;
	if (!run->sink->token || session->test)
		return;
	for (size_t i = 0; i < session->source.event_count; i++) {
		const int16_t *at = run->events[i].layout->at;

		if (!i) {
			ip_at = at[TALLY_FIXED_IP];
			tid_at = at[TALLY_FIXED_TID];
		}
		if (ip_at < 0 || tid_at < 0 || at[TALLY_FIXED_IP] != ip_at ||
		    at[TALLY_FIXED_TID] != tid_at || at[TALLY_FIXED_TIME] < tid_at ||
		    at[TALLY_FIXED_TIME] < ip_at)
			return;
	}
	run->token_ip_at = ip_at;
	run->token_tid_at = tid_at;
}

struct token_maker {
	const struct record_run *run;
	struct record_worker *worker;
};

/* The sink's tokens of samples of one piece. */
static void make_tokens(void *context, struct time_entry *entries, size_t count)
{
	const struct token_maker *maker = context;
	const struct record_run *run = maker->run;
	const struct tally_record_sink *sink = run->sink;
	struct tally_resolver *resolver = &maker->worker->resolver;
	struct tally_resolved *sample = &maker->worker->sample;
	const struct source_piece *piece = order_piece(&run->session->source, entries->place);

	for (size_t i = 0; i < count; i++) {
		const uint8_t *bytes = piece->bytes + order_offset(entries[i].place);
		const struct perf_event_header *header = (const void *)bytes;
		uint8_t mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		uint64_t time = entries[i].time, token;
		uint32_t era;

		if (mode == PERF_RECORD_MISC_KERNEL) {
			resolver_join_kernel(resolver, time);
			era = resolver->kernel_era;
		} else if (mode == PERF_RECORD_MISC_USER) {
			sample->sample.pid = load_u32(bytes + run->token_tid_at);
			sample->sample.tid = load_u32(bytes + run->token_tid_at + 4);
			if (resolver_join(resolver, sample, time))
				continue;
			era = sample->era;
		} else {
			continue;
		}
		token = sink->token(sink->context, &maker->worker->batch, era,
				    load_u64(bytes + run->token_ip_at));
		if (token)
			entries[i].place = ORDER_TOKEN | token;
	}
}

/* The next batch for a worker, and its number: 1, 0 at the end, -errno. */
static int take_batch(struct record_run *run, struct record_worker *worker, uint64_t *ret,
		      uint64_t *ret_passed)
{
	struct token_maker maker = {run, worker};
	int result;

	if (run->filters)
		return take_filtered(run, worker, ret, ret_passed);
	pthread_mutex_lock(&run->taking);
	result = run->ended ? 0 : wait_for_slot(run, run->taken);
	worker->places.count = 0;
	if (!result && !run->ended) {
		if (run->by_windows)
			result = tally_time_windows_next(&run->windows, &worker->window);
		else if (!(result = tally_order_next(&run->order, &worker->places)))
			result = worker->places.count > 0;
	}
	if (result <= 0)
		run->ended = true;
	else
		*ret = run->taken++;
	*ret_passed = run->by_windows ? run->windows.passed : run->order.passed;
	pthread_mutex_unlock(&run->taking);
	if (result <= 0 || !run->by_windows)
		return result;
	worker->batch.slot = (unsigned)(*ret % run->slots);
	result = tally_time_window_fill(&run->session->source, &worker->window,
					run->token_ip_at >= 0 ? make_tokens : NULL, &maker,
					&worker->places);
	return result ? result : 1;
}

/* A batch is done: its results and those that waited for it are taken, unless another thread is
 * about it already, which then takes this one too. */
static int end_batch(struct record_run *run, uint64_t batch)
{
	const struct tally_record_sink *sink = run->sink;
	int failure = 0;

	pthread_mutex_lock(&run->turn);
	run->done[batch % run->slots] = true;
	while (!run->finishing && !run->failure && run->done[run->finished % run->slots]) {
		unsigned slot = (unsigned)(run->finished % run->slots);

		run->finishing = true;
		pthread_mutex_unlock(&run->turn);
		if (sink->take)
			failure = sink->take(sink->context, slot);
		pthread_mutex_lock(&run->turn);
		run->finishing = false;
		run->done[slot] = false;
		run->finished++;
		if (failure < 0 && !run->failure)
			run->failure = failure;
		pthread_cond_broadcast(&run->turned);
	}
	failure = run->failure;
	pthread_mutex_unlock(&run->turn);
	return failure;
}

/* A thread's work, until no batch is left. */
static int work(void *context, unsigned number, size_t share)
{
	struct record_run *run = context;
	struct record_worker *worker = &run->workers[number];
	uint64_t batch = 0, passed = 0;
	int result;

	(void)share;
	while ((result = take_batch(run, worker, &batch, &passed)) > 0) {
		worker->at = worker->texts = 0;
		worker->batch.slot = (unsigned)(batch % run->slots);
		result = run->sink->batch(run->sink->context, &worker->batch);
		if (result > 0)
			run->ended = true; /* serial: no other thread looks */
		if (result >= 0)
			result = end_batch(run, batch);
		forget_pieces(run, worker);
		/* Progress is reported by the caller's own thread. */
		if (result >= 0 && !number && source_progress(&run->session->source, passed))
			result = -ECANCELED;
		if (result < 0)
			break;
	}
	return result < 0 ? fail(run, result) : 0;
}

static int make_workers(struct record_run *run, unsigned *ready)
{
	run->workers = table_apart((size_t)run->threads + 1, sizeof(*run->workers));
	if (!run->workers)
		return -ENOMEM;
	for (; *ready < run->threads; ++*ready) {
		struct record_worker *worker = &run->workers[*ready];
		int result = tally_resolver_init(&worker->resolver, &run->session->tables);

		if (result)
			return result;
		worker->batch.worker = *ready;
		worker->batch.resolver = &worker->resolver;
		worker->sink = run->sink;
		worker->events = run->events;
		worker->test = run->sink->asks ? NULL : run->session->test;
		worker->places.places = calloc(ORDER_BATCH_RECORDS, sizeof(*worker->places.places));
		worker->places.room = ORDER_BATCH_RECORDS;
		if (!worker->places.places) {
			tally_resolver_done(&worker->resolver);
			return -ENOMEM;
		}
	}
	return 0;
}

static void free_workers(struct record_run *run, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		run->session->source.counts.undecoded += run->workers[i].resolver.damaged;
		tally_resolver_done(&run->workers[i].resolver);
		free(run->workers[i].places.places);
		tally_time_window_done(&run->workers[i].window);
	}
	free(run->workers);
}

/* Where batches come from.  0 or -errno. */
static int prepare(struct record_run *run)
{
	const struct tally_record_sink *sink = run->sink;
	struct tally_session *session = run->session;
	int result = 0;

	tally_order_init(&run->order, &session->source, sink->samples, sink->records);
	run->filters = session->filter && sink->samples && !sink->asks;
	if (run->filters)
		return tally_filter_stage_init(&run->stage, session, sink, run->slots);
	/* Other records have their places among samples by the walk alone. */
	if (!sink->records && session->source.runs) {
		find_tokens(run);
		result =
		    tally_time_windows_init(&run->windows, &session->source,
					    run->token_ip_at < 0 ? ORDER_BATCH_BYTES : TOKEN_BYTES);
		run->by_windows = !result;
	}
	return result == -E2BIG ? 0 : result;
}

static int run_threads(struct record_run *run)
{
	int result;

	pthread_mutex_init(&run->taking, NULL);
	pthread_mutex_init(&run->turn, NULL);
	pthread_cond_init(&run->turned, NULL);
	result = tally_pool_run(run->threads, run->threads, work, run);
	pthread_cond_destroy(&run->turned);
	pthread_mutex_destroy(&run->turn);
	pthread_mutex_destroy(&run->taking);
	return result;
}

int tally_session_run_in_order(struct tally_session *session, const struct tally_record_sink *sink,
			       bool serial, struct tally_error *error)
{
	bool alone = serial || session->tables.stitches;
	const struct tally_sample_test *test = sink->samples ? session->test : NULL;
	struct record_run run = {
	    .session = session,
	    .sink = sink,
	    .events = tally_event_fields_new(&session->source, sink->want | (test ? test->want : 0),
					     session->tables.branch_history),
	    .slots = tally_session_slots(session),
	    .threads = alone ? 1 : session->source.threads,
	};
	unsigned ready = 0;
	int result;

	tally_resolve_tables_begin(&session->tables);
	/* No more than will have anything to do. */
	if (run.threads > session->source.piece_count)
		run.threads =
		    session->source.piece_count ? (unsigned)session->source.piece_count : 1;
	run.done = calloc(run.slots, sizeof(*run.done));
	result = run.events && run.done ? make_workers(&run, &ready) : -ENOMEM;
	if (!result)
		result = prepare(&run);
	if (!result)
		result = run_threads(&run);
	tally_time_windows_done(&run.windows);
	tally_order_done(&run.order);
	session->source.counts.undecoded = run.stage.resolver.damaged;
	tally_filter_stage_done(&run.stage);
	free_workers(&run, ready);
	free(run.events);
	free(run.done);
	return result < 0 ? source_failed(&session->source, result, error) : 0;
}
