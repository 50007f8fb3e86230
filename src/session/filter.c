#include "session/filter.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"

void tally_session_set_filter(struct tally_session *session,
			      const struct tally_sample_filter *filter)
{
	session->filter = filter;
}

const struct tally_sample_filter *tally_session_filter(const struct tally_session *session)
{
	return session->filter;
}

int tally_turn_take(const struct tally_sample_filter *filter, struct tally_turn *turn)
{
	const struct tally_ordered_visitor *visitor = turn->visitor;
	int result = filter->early ? filter->early(filter->context, turn) : TALLY_TURN_KEEP;

	/* Without a late part what the visitor leaves out needs no turn. */
	if (result || !filter->late)
		return result;
	if (visitor->skips && visitor->skips(visitor->context, turn->sample))
		return TALLY_TURN_DROP;
	if (visitor->filtered) {
		result = turn_join(turn);
		if (result)
			return result;
		if (visitor->filtered(visitor->context, turn->resolver, turn->sample))
			return TALLY_TURN_DROP;
	}
	return filter->late(filter->context, turn);
}

int tally_filter_stage_init(struct filter_stage *stage, struct tally_session *session,
			    const struct tally_ordered_visitor *visitor, unsigned slots)
{
	int result;

	*stage = (struct filter_stage){
	    .filter = session->filter,
	    .visitor = visitor,
	    .plans = tally_session_plans(session, UINT64_MAX),
	    .batches = calloc(slots, sizeof(*stage->batches)),
	    .slots = slots,
	};
	if (!stage->plans || !stage->batches)
		return -ENOMEM;
	result = tally_resolver_init(&stage->resolver, session);
	for (unsigned i = 0; i < slots && !result; i++) {
		struct filter_batch *batch = &stage->batches[i];

		batch->batch.places = calloc(ORDER_BATCH_RECORDS, sizeof(*batch->batch.places));
		batch->dropped = calloc(ORDER_BATCH_RECORDS, sizeof(*batch->dropped));
		if (!batch->batch.places || !batch->dropped)
			result = -ENOMEM;
	}
	return result;
}

void tally_filter_stage_done(struct filter_stage *stage)
{
	for (unsigned i = 0; stage->batches && i < stage->slots; i++) {
		free(stage->batches[i].batch.places);
		free(stage->batches[i].dropped);
		free(stage->batches[i].said);
		tally_buf_done(&stage->batches[i].text);
	}
	if (stage->resolver.session)
		tally_resolver_done(&stage->resolver);
	free(stage->batches);
	free(stage->plans);
	*stage = (struct filter_stage){0};
}

/* Keeps what the filter printed at that record. */
static int keep_said(struct filter_stage *stage, struct filter_batch *to, size_t record)
{
	struct tally_buf *said = stage->filter->said(stage->filter->context);

	if (!said->size)
		return said->failed;
	if (!stage->visitor->said)
		return 0; /* printed when the batch is done */
	if (to->said_count == to->said_room) {
		size_t room = to->said_room ? to->said_room * 2 : 64;

		if (!array_resize(&to->said, room, sizeof(*to->said)))
			return -ENOMEM;
		to->said_room = room;
	}
	tally_buf_add(&to->text, said->data, said->size);
	tally_buf_clear(said);
	to->said[to->said_count++] = (struct filter_said){.record = record, .end = to->text.size};
	return to->text.failed;
}

static int take_sample(struct filter_stage *stage, const struct tally_record *record)
{
	struct tally_resolver *resolver = &stage->resolver;
	struct tally_resolved *sample = &stage->sample;
	struct tally_turn turn = {
	    .resolver = resolver,
	    .record = record,
	    .sample = sample,
	    .visitor = stage->visitor,
	};
	int event = tally_session_event_of(resolver->session, &resolver->ids, record);

	if (event < 0)
		return TALLY_TURN_DROP;
	if (!plan_read(&stage->plans[event], record, &sample->sample)) {
		resolver->damaged++;
		return TALLY_TURN_DROP;
	}
	sample->event = (uint32_t)event;
	sample->cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->offset = record->offset;
	return tally_turn_take(stage->filter, &turn);
}

/* Samples through the filter, until it ends the visit. */
static int run(struct filter_stage *stage, struct filter_batch *to)
{
	struct order_batch *batch = &to->batch;

	for (size_t i = 0; i < batch->count; i++) {
		struct tally_record record;
		int result, kept;

		to->dropped[i] = false;
		if (!order_record(stage->resolver.session, batch->places[i], &record) ||
		    record.type != PERF_RECORD_SAMPLE)
			continue;
		result = take_sample(stage, &record);
		if (result < 0)
			return result;
		to->dropped[i] = result != TALLY_TURN_KEEP;
		kept = keep_said(stage, to, i);
		if (kept)
			return kept;
		if (result == TALLY_TURN_END) {
			/* Its own text is the last. */
			batch->count = i + 1;
			stage->ended = true;
		}
	}
	return 0;
}

int tally_filter_stage_make(struct filter_stage *stage, struct order *order)
{
	struct filter_batch *to = &stage->batches[stage->made % stage->slots];
	int result = 0;

	to->batch.count = to->batch.bytes = to->said_count = 0;
	tally_buf_clear(&to->text);
	if (!stage->ended)
		result = tally_order_next(order, &to->batch);
	if (!result && to->batch.count)
		result = run(stage, to);
	if (!stage->visitor->said)
		stage->filter->print(stage->filter->context);
	return result;
}
