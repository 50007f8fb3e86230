#include "session/filter_stage.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "session/session.h"
#include "wire/sample_read.h"

/* Records are asked for so many before they are read: a batch's are spread over rings. */
#define PREFETCH 8U

int tally_filter_stage_init(struct filter_stage *stage, struct tally_session *session,
			    const struct tally_record_sink *sink, unsigned slots)
{
	int result;

	*stage = (struct filter_stage){
	    .filter = session->filter,
	    .sink = sink,
	    .batches = calloc(slots, sizeof(*stage->batches)),
	    .slots = slots,
	};
	if (!stage->batches)
		return -ENOMEM;
	result = tally_resolver_init(&stage->resolver, &session->tables);
	for (unsigned i = 0; i < slots && !result; i++) {
		struct filtered_batch *batch = &stage->batches[i];

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
		free(stage->batches[i].texts);
		tally_buf_done(&stage->batches[i].text);
	}
	if (stage->resolver.tables)
		tally_resolver_done(&stage->resolver);
	free(stage->batches);
	*stage = (struct filter_stage){0};
}

/* Keeps what the filter printed at that record. */
static int keep_text(struct filter_stage *stage, struct filtered_batch *to, size_t record,
		     const struct tally_filter_call *call)
{
	struct tally_buf *text = stage->filter->text(stage->filter->context);

	if (!text->size)
		return text->failed;
	if (!stage->sink->text)
		return 0; /* printed when the batch is done */
	if (!array_next(&to->texts, &to->text_room, to->text_count, 64, sizeof(*to->texts)))
		return -ENOMEM;
	tally_buf_add(&to->text, text->data, text->size);
	tally_buf_clear(text);
	to->texts[to->text_count++] =
	    (struct filter_text){.record = record, .early = call->early_text, .end = to->text.size};
	return to->text.failed;
}

static int ask(struct filter_stage *stage, struct tally_filter_call *call)
{
	struct tally_resolver *resolver = &stage->resolver;
	struct tally_resolved *sample = &stage->sample;
	const struct tally_record *record = call->record;
	int event = source_event_of(resolver->tables->source, &resolver->ids, record);
	const struct tally_layout *layout;

	if (event < 0)
		return TALLY_FILTER_DROP;
	layout = &tally_data_event(resolver->tables->source->data, (size_t)event)->layout;
	if (!sample_read(layout, record, UINT64_MAX, &sample->sample)) {
		resolver->damaged++;
		return TALLY_FILTER_DROP;
	}
	sample->event = (uint32_t)event;
	sample->cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->offset = record->offset;
	return tally_filter_ask(stage->filter, call);
}

/* Samples through the filter, until it ends the run. */
static int filter_batch(struct filter_stage *stage, struct filtered_batch *to)
{
	const struct tally_source *source = stage->resolver.tables->source;
	struct order_batch *batch = &to->batch;

	for (size_t i = 0; i < batch->count; i++) {
		struct tally_record record;
		struct tally_filter_call call = {
		    .resolver = &stage->resolver,
		    .record = &record,
		    .sample = &stage->sample,
		    .own = &stage->sink->own,
		};
		int result, kept;

		if (i + PREFETCH < batch->count)
			__builtin_prefetch(order_bytes(source, batch->places[i + PREFETCH]));
		to->dropped[i] = TALLY_KEPT;
		if (!order_record(source, batch->places[i], &record) ||
		    record.type != PERF_RECORD_SAMPLE)
			continue;
		result = ask(stage, &call);
		if (result < 0)
			return result;
		if (result != TALLY_FILTER_KEEP)
			to->dropped[i] = call.dropped_early ? TALLY_DROPPED_EARLY : TALLY_DROPPED;
		kept = keep_text(stage, to, i, &call);
		if (kept)
			return kept;
		if (result == TALLY_FILTER_END) {
			/* Its own text is the last. */
			batch->count = i + 1;
			stage->ended = true;
		}
	}
	return 0;
}

int tally_filter_stage_make(struct filter_stage *stage, struct order *order)
{
	struct filtered_batch *to = &stage->batches[stage->made % stage->slots];
	int result = 0;

	to->batch.count = to->batch.bytes = to->text_count = 0;
	tally_buf_clear(&to->text);
	if (!stage->ended)
		result = tally_order_next(order, &to->batch);
	if (!result && to->batch.count)
		result = filter_batch(stage, to);
	if (!stage->sink->text)
		stage->filter->print(stage->filter->context);
	return result;
}
