#include "session/filter.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"

#define QUICK_FIELDS                                                                        \
	((uint64_t)(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
		    PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW))
/* Which the quick plans leave out, though their place is the same in each sample. */
#define FIXED_FIELDS                                                             \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
		    PERF_SAMPLE_STREAM_ID))

/* Records are asked for so many before they are read: a batch's are spread over rings. */
#define PREFETCH 8U

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

	turn->dropped_early = result != TALLY_TURN_KEEP;
	turn->said_early = filter->said(filter->context)->size;
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
	    .quick = tally_session_plans(session, QUICK_FIELDS),
	    .batches = calloc(slots, sizeof(*stage->batches)),
	    .slots = slots,
	};
	if (!stage->plans || !stage->quick || !stage->batches)
		return -ENOMEM;
	for (size_t i = 0; i < session->event_count; i++)
		if (stage->quick[i].layout->sample_type & ~(QUICK_FIELDS | FIXED_FIELDS))
			stage->quick[i].decode = true;
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
	free(stage->quick);
	*stage = (struct filter_stage){0};
}

/* Keeps what the filter printed at that record. */
static int keep_said(struct filter_stage *stage, struct filter_batch *to, size_t record,
		     const struct tally_turn *turn)
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
	to->said[to->said_count++] =
	    (struct filter_said){.record = record, .early = turn->said_early, .end = to->text.size};
	return to->text.failed;
}

static uint64_t fixed(const struct tally_layout *layout, const struct tally_record *record,
		      enum tally_fixed field)
{
	return layout->at[field] >= 0 ? load_u64(record->bytes + layout->at[field]) : 0;
}

/* All fields; most events have none but those at fixed places and a chain. */
static bool read_all(const struct filter_stage *stage, size_t event,
		     const struct tally_record *record, struct tally_sample *sample)
{
	const struct event_plan *quick = &stage->quick[event];
	const struct tally_layout *layout = quick->layout;

	if (quick->decode)
		return plan_read(&stage->plans[event], record, sample);
	if (!plan_read(quick, record, sample))
		return false;
	sample->present = layout->sample_type;
	sample->identifier = fixed(layout, record, TALLY_FIXED_IDENTIFIER);
	sample->addr = fixed(layout, record, TALLY_FIXED_ADDR);
	sample->id = fixed(layout, record, TALLY_FIXED_ID);
	sample->stream_id = fixed(layout, record, TALLY_FIXED_STREAM_ID);
	return true;
}

static int take_sample(struct filter_stage *stage, struct tally_turn *turn)
{
	struct tally_resolver *resolver = &stage->resolver;
	struct tally_resolved *sample = &stage->sample;
	const struct tally_record *record = turn->record;
	int event = session_event_of(resolver->session, &resolver->ids, record);

	if (event < 0)
		return TALLY_TURN_DROP;
	if (!read_all(stage, (size_t)event, record, &sample->sample)) {
		resolver->damaged++;
		return TALLY_TURN_DROP;
	}
	sample->event = (uint32_t)event;
	sample->cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->offset = record->offset;
	return tally_turn_take(stage->filter, turn);
}

/* Samples through the filter, until it ends the visit. */
static int run(struct filter_stage *stage, struct filter_batch *to)
{
	struct order_batch *batch = &to->batch;

	for (size_t i = 0; i < batch->count; i++) {
		struct tally_record record;
		struct tally_turn turn = {
		    .resolver = &stage->resolver,
		    .record = &record,
		    .sample = &stage->sample,
		    .visitor = stage->visitor,
		};
		int result, kept;

		if (i + PREFETCH < batch->count)
			__builtin_prefetch(
			    order_bytes(stage->resolver.session, batch->places[i + PREFETCH]));
		to->dropped[i] = FILTER_KEPT;
		if (!order_record(stage->resolver.session, batch->places[i], &record) ||
		    record.type != PERF_RECORD_SAMPLE)
			continue;
		result = take_sample(stage, &turn);
		if (result < 0)
			return result;
		if (result != TALLY_TURN_KEEP)
			to->dropped[i] = turn.dropped_early ? FILTER_DROPPED_EARLY : FILTER_DROPPED;
		kept = keep_said(stage, to, i, &turn);
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
