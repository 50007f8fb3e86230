/* The second pass: pieces of the file are shared out to threads; each sample is decoded in its
 * place, joined with its thread and space, and shown to the visitor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/pool.h"
#include "file/in_place.h"
#include "session/lump_visit.h"
#include "session/piece.h"
#include "session/plan.h"
#include "session/record_sink.h"
#include "session/run_visit.h"
#include "session/scan.h"
#include "session/test.h"

struct visit {
	struct tally_session *session;
	struct event_plan *plans;
	struct tally_resolver *resolvers;
	tally_sample_fn visit;
	tally_ahead_fn ahead;
	void *context;
	struct run_visit runs;
	_Atomic uint64_t done;
	bool lumped; /* lumps first, then the samples that are read again */
	struct lump_visit lumps;
	uint64_t *lump_want; /* by event */
};

/* Samples that are looked at ahead, so that their misses of the caches overlap. */
#define BATCH 16U

struct batch {
	unsigned count;
	struct tally_resolved samples[BATCH];
};

static int show_batch(struct visit *visit, unsigned worker, struct batch *batch)
{
	unsigned count = batch->count;
	int result = 0;

	batch->count = 0;
	for (unsigned stage = 0; stage < 2; stage++)
		for (unsigned i = 0; i < count; i++)
			visit->ahead(visit->context, worker, &batch->samples[i], stage);
	for (unsigned i = 0; i < count && result >= 0; i++)
		result = visit->visit(visit->context, worker, &visit->resolvers[worker],
				      &batch->samples[i]);
	return result;
}

/* What is unwound stays in the resolver, for one sample only. */
static int show_unwound(struct visit *visit, unsigned worker, struct batch *batch,
			struct tally_resolved *sample)
{
	struct tally_resolver *resolver = &visit->resolvers[worker];
	int result = show_batch(visit, worker, batch);

	if (result >= 0)
		result =
		    tally_resolver_complete(resolver, sample, visit->plans[sample->event].chain);
	if (result >= 0)
		result = visit->visit(visit->context, worker, resolver, sample);
	return result;
}

static int visit_samples(struct visit *visit, unsigned worker, const struct session_piece *piece)
{
	const struct tally_session *session = visit->session;
	struct tally_resolver *resolver = &visit->resolvers[worker];
	struct batch batch = {0};
	struct tally_record record;
	size_t at = 0;
	int result = 0;

	while (result >= 0 && piece_next_sample(piece, &at, &record)) {
		struct tally_resolved *sample = &batch.samples[batch.count];
		int event = session_event_of(session, &resolver->ids, &record);

		if (event < 0)
			continue;
		if (!plan_read(&visit->plans[event], &record, &sample->sample)) {
			resolver->damaged++;
			continue;
		}
		if (visit->lumped && !lump_visit_again(&visit->lumps, sample->sample.pid,
						       sample->sample.tid, record.offset))
			continue;
		sample->event = (uint32_t)event;
		sample->cpumode = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
		sample->offset = record.offset;
		sample->unwound = 0;
		sample->note = 0;
		result = resolver_join(resolver, sample,
				       session->by_offset ? record.offset : sample->sample.time);
		if (result)
			break;
		if (visit->plans[event].chain)
			result = show_unwound(visit, worker, &batch, sample);
		else if (!visit->ahead)
			result = visit->visit(visit->context, worker, resolver, sample);
		else if (++batch.count == BATCH)
			result = show_batch(visit, worker, &batch);
	}
	return result < 0 ? result : show_batch(visit, worker, &batch);
}

static int visit_piece(struct visit *visit, unsigned worker, size_t number)
{
	struct tally_session *session = visit->session;
	const struct session_piece *piece = &session->pieces[number];
	const struct tally_block block = {
	    .bytes = piece->bytes,
	    .size = piece->size,
	    .offset = piece->offset,
	};
	int result = tally_data_populate(session->data, &block);
	uint64_t done;

	if (result >= 0)
		result = visit->runs.show ? tally_run_visit_piece(&visit->runs, piece, worker,
								  &visit->resolvers[worker])
					  : visit_samples(visit, worker, piece);
	tally_data_forget(session->data, &block);
	done = atomic_fetch_add_explicit(&visit->done, piece->size, memory_order_relaxed);
	/* Progress is told by the caller's own thread. */
	if (result >= 0 && !worker && session_progress(session, done + piece->size))
		return -ECANCELED;
	return result < 0 ? result : 0;
}

static int visit_share(void *context, unsigned worker, size_t number)
{
	struct visit *visit = context;

	if (!visit->lumped)
		return visit_piece(visit, worker, number);
	if (number < visit->lumps.run_count)
		return tally_lump_visit_run(&visit->lumps, number, visit->lump_want, visit->visit,
					    visit->context, worker, &visit->resolvers[worker]);
	return visit_piece(visit, worker,
			   visit->lumps.redo_pieces[number - visit->lumps.run_count]);
}

bool tally_session_lumps(const struct tally_session *session, uint64_t want)
{
	if (session->test)
		want |= session->test->want;
	return session->lumps && !session->filter && !(want & ~LUMP_FIELDS);
}

/* Lumps when they serve as well as each sample does; 0 or -ENOMEM. */
static int look_at_lumps(struct visit *visit, uint64_t want, size_t *shares)
{
	struct tally_session *session = visit->session;
	int result;

	if (!tally_session_lumps(session, want))
		return 0;
	visit->lump_want = calloc(session->event_count + 1, sizeof(*visit->lump_want));
	if (!visit->lump_want)
		return -ENOMEM;
	for (size_t i = 0; i < session->event_count; i++)
		visit->lump_want[i] = visit->plans[i].want;
	result = tally_lump_visit_init(&visit->lumps, session);
	visit->lumped = !result;
	*shares = visit->lumps.run_count + visit->lumps.redo_piece_count;
	return result;
}

struct finishing {
	const struct tally_sample_visitor *visitor;
	struct tally_resolver *resolvers;
};

static int finish_one(void *context, unsigned thread, size_t worker)
{
	const struct finishing *finishing = context;

	(void)thread;
	return finishing->visitor->finish(finishing->visitor->context, (unsigned)worker,
					  &finishing->resolvers[worker]);
}

/* What workers kept is looked up by each on a thread, as the samples were. */
static int finish_all(const struct tally_sample_visitor *visitor, struct tally_resolver *resolvers,
		      unsigned count)
{
	struct finishing finishing = {visitor, resolvers};

	return visitor->finish ? tally_pool_run(count, count, finish_one, &finishing) : 0;
}

static int show_in_order(void *context, struct tally_record_batch *batch)
{
	const struct tally_sample_visitor *shown = context;
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		tally_sample_fn show = entry.dropped ? shown->left_out : shown->visit;

		result = show(shown->context, batch->worker, batch->resolver, entry.at);
		if (result)
			break;
	}
	return result;
}

static int each_in_order(struct tally_session *session, const struct tally_sample_visitor *shown,
			 struct tally_error *error)
{
	const struct tally_record_sink sink = {
	    .context = (void *)shown,
	    .want = shown->want,
	    .samples = true,
	    .dropped = shown->left_out != NULL,
	    .batch = show_in_order,
	};
	struct tally_resolver resolver;
	int result = tally_session_run_in_order(session, &sink, shown->in_order, error);

	if (result || !shown->finish)
		return result;
	result = tally_resolver_init(&resolver, session);
	for (unsigned worker = 0; !result && worker < session->threads; worker++)
		result = shown->finish(shown->context, worker, &resolver);
	tally_resolver_done(&resolver);
	return result < 0 ? session_failed(session, result, error) : 0;
}

/* Samples that pass the session's test. */
struct tested {
	const struct tally_session *session;
	const struct tally_sample_visitor *visitor;
};

static int visit_tested(void *context, unsigned worker, struct tally_resolver *resolver,
			const struct tally_resolved *sample)
{
	const struct tested *tested = context;
	const struct tally_sample_visitor *visitor = tested->visitor;
	int passes = tally_session_test(tested->session, worker, resolver, sample);

	if (!passes && visitor->left_out)
		return visitor->left_out(visitor->context, worker, resolver, sample);
	return passes > 0 ? visitor->visit(visitor->context, worker, resolver, sample) : passes;
}

int tally_session_visit(struct tally_session *session, const struct tally_sample_visitor *visitor,
			struct tally_error *error)
{
	struct tested tested = {session, visitor};
	struct visit visit = {.session = session,
			      .visit = visitor->visit,
			      .ahead = visitor->ahead,
			      .context = visitor->context};
	uint64_t want = visitor->want;
	size_t shares = session->piece_count;
	unsigned threads = session->threads, ready = 0;
	int result = 0;

	/* A filter is asked in the order of time. */
	if (session->filter || visitor->in_order)
		return each_in_order(session, visitor, error);
	if (session->test) {
		want |= session->test->want;
		visit.visit = visit_tested;
		visit.ahead = NULL; /* what is done ahead is the visitor's, with its own context */
		visit.context = &tested;
	}
	visit.plans = tally_session_plans(session, want);
	visit.resolvers = table_apart(session->threads, sizeof(*visit.resolvers));
	if (!visit.plans || !visit.resolvers)
		result = -ENOMEM;
	if (!result)
		result = look_at_lumps(&visit, want, &shares);
	if (!result && visitor->run && !session->test && !(want & ~LUMP_FIELDS))
		visit.runs = (struct run_visit){
		    .session = session,
		    .plans = visit.plans,
		    .lumps = visit.lumped ? &visit.lumps : NULL,
		    .show = visitor->run,
		    .context = visitor->context,
		};
	/* No more than will have anything to do. */
	if (!result && shares < threads)
		threads = shares ? (unsigned)shares : 1;
	while (!result && ready < threads) {
		result = tally_resolver_init(&visit.resolvers[ready], session);
		ready += !result;
	}
	if (!result)
		result = tally_pool_run(threads, shares, visit_share, &visit);
	if (!result)
		result = finish_all(visitor, visit.resolvers, ready);
	session->counts.undecoded = 0;
	for (unsigned i = 0; i < ready; i++) {
		session->counts.undecoded += visit.resolvers[i].damaged;
		tally_resolver_done(&visit.resolvers[i]);
	}
	/* A second visit is rare, and right without them; what comes after the first needs the
	 * room.
	 */
	if (visit.lumped) {
		tally_lump_visit_done(&visit.lumps);
		tally_session_drop_lumps(session);
	}
	free(visit.lump_want);
	free(visit.plans);
	free(visit.resolvers);
	return result < 0 ? session_failed(session, result, error) : 0;
}

int tally_session_each(struct tally_session *session, uint64_t want, tally_sample_fn visit,
		       void *context, struct tally_error *error)
{
	const struct tally_sample_visitor visitor = {
	    .want = want, .context = context, .visit = visit};

	return tally_session_visit(session, &visitor, error);
}
