/* Records at their turn: batches of the order are shared out to threads, which decode and join each
 * record and show it; what they made of a batch is taken when its turn has come. */
#include "session/ordered.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/pool.h"
#include "file/in_place.h"
#include "session/filter.h"
#include "session/order.h"
#include "session/plan.h"
#include "session/resolver.h"
#include "session/time_spans.h"
#include "session/test.h"

/* Records are asked for so many before they are decoded: a batch's are spread over rings. */
#define PREFETCH 8U

/* Bytes of records in a batch of which notes are taken: what is shown of them is short. */
#define NOTED_BYTES (3 * ORDER_BATCH_BYTES)

struct worker {
	struct tally_resolver resolver;
	struct order_batch batch;
	struct time_span span;
	const struct filter_batch *filtered; /* in place of `batch`; NULL: there is no filter */
	struct tally_resolved sample, other;
};

struct ordered_visit {
	struct tally_session *session;
	const struct tally_ordered_visitor *visitor;
	struct event_plan *plans;
	struct worker *workers;
	unsigned slots, threads;

	/* Who holds this one takes the next batch, and its number. */
	pthread_mutex_t taking;
	struct order order;
	bool by_spans; /* in place of `order` */
	struct time_spans spans;
	int note_ip_at, note_tid_at; /* find_notes() */
	uint64_t taken;              /* batches */
	size_t forgotten;            /* pieces */
	bool ended;
	bool filters; /* batches come through the stage; then all this is under `turn` */
	struct filter_stage stage;

	/* What is done, under `turn`; taken after `taking` when both are. */
	pthread_mutex_t turn;
	pthread_cond_t turned; /* `finished` grew, or it failed */
	bool *done;            /* by slot */
	uint64_t finished;     /* batches whose results were taken */
	bool finishing;        /* someone is about it */
	int failure;
};

unsigned tally_session_slots(const struct tally_session *session)
{
	return session->threads * 2 + 2;
}

static int fail(struct ordered_visit *visit, int failure)
{
	pthread_mutex_lock(&visit->turn);
	if (!visit->failure)
		visit->failure = failure;
	failure = visit->failure;
	pthread_cond_broadcast(&visit->turned);
	pthread_mutex_unlock(&visit->turn);
	return failure;
}

/* Waits until the slot of a batch is free; 0, or what another thread failed with. */
static int wait_for_slot(struct ordered_visit *visit, uint64_t batch)
{
	int failure;

	pthread_mutex_lock(&visit->turn);
	while (!visit->failure && batch - visit->finished >= visit->slots)
		pthread_cond_wait(&visit->turned, &visit->turn);
	failure = visit->failure;
	pthread_mutex_unlock(&visit->turn);
	return failure;
}

/* Pieces that batches under way may still be about. */
#define PIECES_KEPT 16U

/* The first piece that has something of the worker's batch. */
static size_t first_piece(const struct ordered_visit *visit, const struct worker *worker)
{
	const struct order_batch *batch =
	    worker->filtered ? &worker->filtered->batch : &worker->batch;
	uint64_t least = UINT64_MAX;

	if (visit->by_spans)
		return worker->span.stretches[0].place >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS);
	for (size_t i = 0; i < batch->count; i++)
		least = batch->places[i] < least ? batch->places[i] : least;
	return batch->count ? least >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS) : 0;
}

/* Pieces of the file that lie behind give their memory back: where batches come from is about the
 * same place, and what is looked at later nevertheless comes back from the file. */
static void forget_pieces(struct ordered_visit *visit, const struct worker *worker)
{
	const struct tally_session *session = visit->session;
	size_t least = first_piece(visit, worker), from, until;

	until = least > PIECES_KEPT ? least - PIECES_KEPT : 0;
	pthread_mutex_lock(&visit->turn);
	from = visit->forgotten;
	if (until < from + SESSION_FORGET_SIZE / SESSION_PIECE_SIZE)
		until = from;
	else
		visit->forgotten = until;
	pthread_mutex_unlock(&visit->turn);
	while (from < until) {
		struct tally_block block = {
		    .bytes = session->pieces[from].bytes,
		    .offset = session->pieces[from].offset,
		};

		/* As long as they are neighbours. */
		for (; from < until && session->pieces[from].bytes == block.bytes + block.size &&
		       session->pieces[from].offset == block.offset + block.size;
		     from++)
			block.size += session->pieces[from].size;
		tally_data_forget(session->data, &block);
	}
}

/* A batch that went through the filter, and its number: 1, 0 at the end, -errno.  The caller's
 * thread alone runs the filter; it keeps a batch ready for each thread, and shows batches itself
 * then. */
static int take_filtered(struct ordered_visit *visit, unsigned number, uint64_t *ret,
			 uint64_t *ret_passed)
{
	struct filter_stage *stage = &visit->stage;
	struct worker *worker = &visit->workers[number];
	unsigned ready = visit->threads > 1 ? visit->threads : 1;
	int result = 0;

	pthread_mutex_lock(&visit->turn);
	while (!visit->failure && !result) {
		bool room = stage->made - visit->taken < ready &&
			    stage->made - visit->finished < visit->slots;

		if (!number && !visit->ended && room) {
			pthread_mutex_unlock(&visit->turn);
			result = tally_filter_stage_make(stage, &visit->order);
			pthread_mutex_lock(&visit->turn);
			if (result < 0 || !stage->batches[stage->made % stage->slots].batch.count)
				visit->ended = true;
			else
				stage->made++;
			pthread_cond_broadcast(&visit->turned);
		} else if (visit->taken < stage->made) {
			*ret = visit->taken++;
			worker->filtered = &stage->batches[*ret % stage->slots];
			result = 1;
		} else if (visit->ended) {
			break;
		} else {
			pthread_cond_wait(&visit->turned, &visit->turn);
		}
	}
	if (visit->failure)
		result = visit->failure;
	*ret_passed = number ? 0 : visit->order.passed;
	pthread_mutex_unlock(&visit->turn);
	return result;
}

/* Who looks at the samples of a span. */
struct noting {
	struct ordered_visit *visit;
	unsigned number, slot;
};

/* Where samples of all events have their addresses and threads, which is before their times; below
 * 0: not all have them alike, or nobody takes notes. */
static void find_notes(struct ordered_visit *visit)
{
	const struct event_plan *plans = visit->plans;

	visit->note_ip_at = -1;
	if (!visit->visitor->note || visit->session->test)
		return;
	for (size_t i = 0; i < visit->session->event_count; i++)
		if (plans[i].ip_at < 0 || plans[i].ip_at != plans->ip_at || plans[i].tid_at < 0 ||
		    plans[i].tid_at != plans->tid_at || plans[i].time_at < plans[i].tid_at ||
		    plans[i].time_at < plans[i].ip_at)
			return;
	visit->note_ip_at = plans->ip_at;
	visit->note_tid_at = plans->tid_at;
}

/* The visitor's notes of samples of one piece. */
static void note_samples(void *context, struct time_entry *entries, size_t count)
{
	const struct noting *noting = context;
	const struct ordered_visit *visit = noting->visit;
	const struct tally_ordered_visitor *visitor = visit->visitor;
	struct worker *worker = &visit->workers[noting->number];
	struct tally_resolver *resolver = &worker->resolver;
	struct tally_resolved *sample = &worker->sample;
	const struct session_piece *piece = order_piece(visit->session, entries->place);

	for (size_t i = 0; i < count; i++) {
		const uint8_t *bytes = piece->bytes + order_offset(entries[i].place);
		const struct perf_event_header *header = (const void *)bytes;
		uint8_t mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		uint64_t time = entries[i].time, note;
		uint32_t era;

		if (mode == PERF_RECORD_MISC_KERNEL) {
			resolver_join_kernel(resolver, time);
			era = resolver->kernel_era;
		} else if (mode == PERF_RECORD_MISC_USER) {
			sample->sample.pid = load_u32(bytes + visit->note_tid_at);
			sample->sample.tid = load_u32(bytes + visit->note_tid_at + 4);
			if (resolver_join(resolver, sample, time))
				continue;
			era = sample->era;
		} else {
			continue;
		}
		note = visitor->note(visitor->context, noting->number, noting->slot, era,
				     load_u64(bytes + visit->note_ip_at));
		if (note)
			entries[i].place = ORDER_NOTE | note;
	}
}

/* The next batch and its number: 1, 0 at the end, -errno. */
static int take_batch(struct ordered_visit *visit, unsigned number, uint64_t *ret,
		      uint64_t *ret_passed)
{
	struct order_batch *batch = &visit->workers[number].batch;
	struct time_span *span = &visit->workers[number].span;
	int result;

	if (visit->filters)
		return take_filtered(visit, number, ret, ret_passed);
	pthread_mutex_lock(&visit->taking);
	result = visit->ended ? 0 : wait_for_slot(visit, visit->taken);
	batch->count = 0;
	if (!result && !visit->ended) {
		if (visit->by_spans)
			result = tally_time_spans_next(&visit->spans, span);
		else if (!(result = tally_order_next(&visit->order, batch)))
			result = batch->count > 0;
	}
	if (result <= 0)
		visit->ended = true;
	else
		*ret = visit->taken++;
	*ret_passed = visit->by_spans ? visit->spans.passed : visit->order.passed;
	pthread_mutex_unlock(&visit->taking);
	if (result > 0 && visit->by_spans) {
		struct noting noting = {
		    .visit = visit, .number = number, .slot = (unsigned)(*ret % visit->slots)};
		int filled = tally_time_span_fill(visit->session, span,
						  visit->note_ip_at >= 0 ? note_samples : NULL,
						  &noting, batch);

		return filled ? filled : 1;
	}
	return result;
}

/* A batch is done: its results and those that waited for it are taken, unless someone is about it
 * already, who then takes this one too. */
static int end_batch(struct ordered_visit *visit, uint64_t batch)
{
	int failure = 0;

	pthread_mutex_lock(&visit->turn);
	visit->done[batch % visit->slots] = true;
	while (!visit->finishing && !visit->failure &&
	       visit->done[visit->finished % visit->slots]) {
		unsigned slot = (unsigned)(visit->finished % visit->slots);

		visit->finishing = true;
		pthread_mutex_unlock(&visit->turn);
		if (visit->visitor->finish)
			failure = visit->visitor->finish(visit->visitor->context, slot);
		pthread_mutex_lock(&visit->turn);
		visit->finishing = false;
		visit->done[slot] = false;
		visit->finished++;
		if (failure < 0 && !visit->failure)
			visit->failure = failure;
		pthread_cond_broadcast(&visit->turned);
	}
	failure = visit->failure;
	pthread_mutex_unlock(&visit->turn);
	return failure;
}

/* What the filter made of a record. */
struct filter_view {
	const uint8_t *said;
	size_t said_size, said_early; /* so much of it before the sample was looked at */
	enum filter_dropped dropped;
};

static inline struct filter_view view_of(const struct filter_batch *filtered, size_t record,
					 size_t *said)
{
	struct filter_view view = {.dropped = filtered->dropped[record]};
	size_t from = *said ? filtered->said[*said - 1].end : 0;

	if (*said < filtered->said_count && filtered->said[*said].record == record) {
		view.said = filtered->text.data + from;
		view.said_size = filtered->said[*said].end - from;
		view.said_early = filtered->said[*said].early;
		++*said;
	}
	return view;
}

static int show_said(struct ordered_visit *visit, unsigned slot, const struct filter_view *view,
		     size_t from, size_t until)
{
	const struct tally_ordered_visitor *visitor = visit->visitor;

	return until > from ? visitor->said(visitor->context, slot, view->said + from, until - from)
			    : 0;
}

/* The dump of a sample, in three parts with what the filter says between them: its fields, and
 * where it was taken, unless nobody comes to look that up. */
static int show_dump(struct ordered_visit *visit, unsigned number, unsigned slot,
		     const struct tally_record *record, const struct filter_view *view)
{
	const struct tally_ordered_visitor *visitor = visit->visitor;
	struct worker *worker = &visit->workers[number];
	struct tally_resolved *sample = &worker->sample;
	int result = visitor->before(visitor->context, number, slot, sample, record);

	if (!result)
		result = show_said(visit, slot, view, 0, view->said_early);
	if (!result && view->dropped != FILTER_DROPPED_EARLY &&
	    !visitor->skips(visitor->context, sample))
		result = visitor->placed(visitor->context, number, slot, &worker->resolver, sample);
	return result ? result : show_said(visit, slot, view, view->said_early, view->said_size);
}

static int show_sample(struct ordered_visit *visit, unsigned number, unsigned slot,
		       const struct tally_record *record, struct filter_view *view)
{
	struct tally_session *session = visit->session;
	struct worker *worker = &visit->workers[number];
	const struct tally_ordered_visitor *visitor = visit->visitor;
	struct tally_resolver *resolver = &worker->resolver;
	struct tally_resolved *sample = &worker->sample;
	int event, result;

	if (view->dropped && !visitor->before && !visitor->left_out)
		return show_said(visit, slot, view, 0, view->said_size);
	event = session_event_of(session, &resolver->ids, record);
	if (event < 0)
		return 0;
	if (!plan_read(&visit->plans[event], record, &sample->sample)) {
		/* The filter counted what it could not read. */
		resolver->damaged += !view->dropped || visitor->before;
		return 0;
	}
	sample->event = (uint32_t)event;
	sample->cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->offset = record->offset;
	result = resolver_join(resolver, sample,
			       session->by_offset ? record->offset : sample->sample.time);
	sample->unwound = 0;
	if (!result)
		result = visitor->before ? show_dump(visit, number, slot, record, view)
					 : show_said(visit, slot, view, 0, view->said_size);
	if (!result && view->dropped && visitor->left_out)
		result = visitor->left_out(visitor->context, number, resolver, sample);
	if (result || view->dropped)
		return result;
	if (visit->plans[event].chain)
		result = tally_resolver_complete(resolver, sample, visit->plans[event].chain);
	if (result)
		return result;
	if (session->test && !visitor->filters_itself) {
		result = tally_session_test(session, number, resolver, sample);
		if (!result && visitor->left_out)
			return visitor->left_out(visitor->context, number, resolver, sample);
		if (result <= 0)
			return result;
	}
	return visitor->sample(visitor->context, number, slot, resolver, sample, record);
}

/* What a record's trailer tells, as a sample's fields. */
static void read_trailer(const struct tally_session *session, const struct tally_record *record,
			 struct tally_resolved *at)
{
	int event = tally_data_event_of(session->data, record);
	struct tally_sample_id id = {0};

	*at = (struct tally_resolved){
	    .event = event < 0 ? 0 : (uint32_t)event,
	    .cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK,
	    .offset = record->offset,
	};
	/* Records of the perf tool have none. */
	if (record->type >= 64 || !session->event_count ||
	    tally_sample_id_decode(&tally_data_event(session->data, at->event)->layout, record, &id,
				   NULL) < 0)
		return;
	at->sample = (struct tally_sample){
	    .present = id.present,
	    .identifier = id.identifier,
	    .pid = id.pid,
	    .tid = id.tid,
	    .time = id.time,
	    .id = id.id,
	    .stream_id = id.stream_id,
	    .cpu = id.cpu,
	    .cpu_reserved = id.cpu_reserved,
	};
}

static int show_other(struct ordered_visit *visit, unsigned number, unsigned slot,
		      const struct tally_record *record)
{
	struct tally_session *session = visit->session;
	struct worker *worker = &visit->workers[number];
	struct tally_resolved *at = &worker->other;
	int result;

	if (!visit->visitor->other)
		return 0;
	read_trailer(session, record, at);
	result = resolver_join(&worker->resolver, at,
			       session->by_offset ? record->offset : at->sample.time);
	if (result)
		return result;
	return visit->visitor->other(visit->visitor->context, number, slot, &worker->resolver, at,
				     record);
}

static int show_batch(struct ordered_visit *visit, unsigned number, unsigned slot)
{
	const struct tally_session *session = visit->session;
	const struct filter_batch *filtered = visit->workers[number].filtered;
	const struct order_batch *batch =
	    filtered ? &filtered->batch : &visit->workers[number].batch;
	size_t said = 0;
	int result = 0;

	for (size_t i = 0; i < batch->count && !result; i++) {
		struct filter_view view = {0};
		struct tally_record record;

		if (batch->places[i] & ORDER_NOTE) {
			size_t from = i;

			while (i + 1 < batch->count && batch->places[i + 1] & ORDER_NOTE)
				i++;
			result = visit->visitor->noted(visit->visitor->context, number, slot,
						       batch->places + from, i + 1 - from);
			continue;
		}
		if (i + PREFETCH < batch->count && !(batch->places[i + PREFETCH] & ORDER_NOTE)) {
			const uint8_t *later = order_bytes(session, batch->places[i + PREFETCH]);

			__builtin_prefetch(later);
			__builtin_prefetch(later + 64);
		}
		if (filtered)
			view = view_of(filtered, i, &said);
		if (!order_record(session, batch->places[i], &record))
			continue;
		if (record.type == PERF_RECORD_SAMPLE)
			result = show_sample(visit, number, slot, &record, &view);
		else
			result = show_other(visit, number, slot, &record);
	}
	return result;
}

/* A thread's work, until no batch is left. */
static int work(void *context, unsigned number, size_t share)
{
	struct ordered_visit *visit = context;
	struct worker *worker = &visit->workers[number];
	uint64_t batch = 0, passed = 0;
	int result;

	(void)share;
	while ((result = take_batch(visit, number, &batch, &passed)) > 0) {
		result = show_batch(visit, number, (unsigned)(batch % visit->slots));
		if (result > 0)
			visit->ended = true; /* serial: nobody else looks */
		if (result >= 0)
			result = end_batch(visit, batch);
		forget_pieces(visit, worker);
		/* Progress is told by the caller's own thread. */
		if (result >= 0 && !number && session_progress(visit->session, passed))
			result = -ECANCELED;
		if (result < 0)
			break;
	}
	return result < 0 ? fail(visit, result) : 0;
}

static int make_workers(struct ordered_visit *visit, unsigned count, unsigned *ready)
{
	visit->workers = table_apart((size_t)count + 1, sizeof(*visit->workers));
	if (!visit->workers)
		return -ENOMEM;
	for (; *ready < count; ++*ready) {
		struct worker *worker = &visit->workers[*ready];
		int result = tally_resolver_init(&worker->resolver, visit->session);

		if (result)
			return result;
		worker->batch.places = calloc(ORDER_BATCH_RECORDS, sizeof(*worker->batch.places));
		worker->batch.room = ORDER_BATCH_RECORDS;
		if (!worker->batch.places) {
			tally_resolver_done(&worker->resolver);
			return -ENOMEM;
		}
	}
	return 0;
}

static int run(struct ordered_visit *visit, unsigned threads)
{
	int result;

	pthread_mutex_init(&visit->taking, NULL);
	pthread_mutex_init(&visit->turn, NULL);
	pthread_cond_init(&visit->turned, NULL);
	result = tally_pool_run(threads, threads, work, visit);
	pthread_cond_destroy(&visit->turned);
	pthread_mutex_destroy(&visit->turn);
	pthread_mutex_destroy(&visit->taking);
	return result;
}

int tally_session_each_ordered(struct tally_session *session,
			       const struct tally_ordered_visitor *visitor, bool serial,
			       struct tally_error *error)
{
	struct ordered_visit visit = {
	    .session = session,
	    .visitor = visitor,
	    .slots = tally_session_slots(session),
	};
	/* No more than will have anything to do. */
	size_t most = session->piece_count ? session->piece_count : 1;
	unsigned threads = serial ? 1 : session->threads, ready = 0;
	int result;

	tally_order_init(&visit.order, session, visitor->other != NULL);
	threads = threads < most ? threads : (unsigned)most;
	visit.threads = threads;
	visit.plans =
	    tally_session_plans(session, visitor->want | (session->test ? session->test->want : 0));
	visit.done = calloc(visit.slots, sizeof(*visit.done));
	result = visit.plans && visit.done ? make_workers(&visit, threads, &ready) : -ENOMEM;
	visit.filters = session->filter && !visitor->filters_itself;
	if (!result && visit.filters)
		result = tally_filter_stage_init(&visit.stage, session, visitor, visit.slots);
	/* Records that are no samples have their places among them by the walk alone. */
	if (!result && !visit.filters && !visitor->other && session->stretches) {
		find_notes(&visit);
		result = tally_time_spans_init(
		    &visit.spans, session, visit.note_ip_at < 0 ? ORDER_BATCH_BYTES : NOTED_BYTES);
		visit.by_spans = !result;
		if (result == -E2BIG)
			result = 0;
	}
	if (!result)
		result = run(&visit, threads);
	tally_time_spans_done(&visit.spans);
	tally_order_done(&visit.order);
	session->counts.undecoded = visit.stage.resolver.damaged;
	tally_filter_stage_done(&visit.stage);
	for (unsigned i = 0; i < ready; i++) {
		session->counts.undecoded += visit.workers[i].resolver.damaged;
		tally_resolver_done(&visit.workers[i].resolver);
		free(visit.workers[i].batch.places);
		tally_time_span_done(&visit.workers[i].span);
	}
	free(visit.workers);
	free(visit.plans);
	free(visit.done);
	return result < 0 ? session_failed(session, result, error) : 0;
}
