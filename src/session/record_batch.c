/* Entries of a batch: each record is looked at when its turn comes, and its sample read and joined
 * with its thread. */
#include "session/record_batch.h"

#include <stdlib.h>
#include "session/filter.h"
#include "wire/sample_read.h"

/* Records are asked for so many before they are read: a batch's are spread over rings. */
#define PREFETCH 8U

static int join(struct record_worker *worker, struct tally_resolved *at)
{
	bool by_offset = worker->resolver.tables->source->by_offset;

	return resolver_join(&worker->resolver, at, by_offset ? at->offset : at->sample.time);
}

/* A sample that was kept so far: its chain, and the session's test.  0 or -errno. */
static int finish_sample(struct record_worker *worker, struct tally_entry *ret)
{
	struct tally_resolver *resolver = &worker->resolver;
	struct tally_resolved *sample = &worker->sample;
	enum plan_chain chain = worker->events[sample->event].chain;
	int result = chain ? tally_resolver_complete(resolver, sample, chain) : 0;

	if (result || !worker->test)
		return result;
	result =
	    worker->test->passes(worker->test->context, worker->batch.worker, resolver, sample);
	if (!result)
		ret->dropped = TALLY_DROPPED;
	return result < 0 ? result : 0;
}

/* 1; 0: the sink does not take this one; -errno. */
static int next_sample(struct record_worker *worker, struct tally_entry *ret)
{
	const struct tally_record_sink *sink = worker->sink;
	struct tally_resolver *resolver = &worker->resolver;
	struct tally_resolved *sample = &worker->sample;
	const struct tally_record *record = &ret->record;
	int event, result;

	ret->kind = TALLY_ENTRY_SAMPLE;
	ret->at = NULL;
	if (!sink->samples || (ret->dropped && !sink->dropped))
		return ret->size != 0;
	event = source_event_of(resolver->tables->source, &resolver->ids, record);
	if (event < 0)
		return 0;
	if (!sample_read(worker->events[event].layout, record, worker->events[event].want,
			 &sample->sample)) {
		/* The filter counted what it could not read. */
		resolver->damaged += !ret->dropped;
		return 0;
	}
	sample->event = (uint32_t)event;
	sample->cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->offset = record->offset;
	sample->unwound = 0;
	result = join(worker, sample);
	if (!result && !ret->dropped)
		result = finish_sample(worker, ret);
	ret->at = sample;
	ret->lasts = !worker->events[event].chain;
	return result ? result : !ret->dropped || sink->dropped || ret->size;
}

/* The fields of a record's trailer, as a sample's. */
static void read_trailer(const struct tally_source *source, const struct tally_record *record,
			 struct tally_resolved *at)
{
	int event = tally_data_event_of(source->data, record);
	struct tally_sample_id id = {0};

	*at = (struct tally_resolved){
	    .event = event < 0 ? 0 : (uint32_t)event,
	    .cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK,
	    .offset = record->offset,
	};
	/* Records of the perf tool have none. */
	if (record->type >= 64 || !source->event_count ||
	    tally_sample_id_decode(&tally_data_event(source->data, at->event)->layout, record, &id,
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

static int next_record(struct record_worker *worker, struct tally_entry *ret)
{
	int result;

	if (!worker->sink->records)
		return 0;
	ret->kind = TALLY_ENTRY_RECORD;
	ret->at = &worker->other;
	read_trailer(worker->resolver.tables->source, &ret->record, &worker->other);
	result = join(worker, &worker->other);
	return result ? result : 1;
}

static void next_tokens(struct record_worker *worker, struct tally_entry *ret)
{
	const struct order_batch *batch = &worker->places;
	size_t from = worker->at;

	while (worker->at < batch->count && batch->places[worker->at] & ORDER_TOKEN)
		worker->at++;
	ret->kind = TALLY_ENTRY_TOKENS;
	ret->at = NULL;
	ret->tokens = batch->places + from;
	ret->token_count = worker->at - from;
}

/* What the filter made of the record at a place of the batch. */
static inline void take_filtered(struct record_worker *worker, size_t at, struct tally_entry *ret)
{
	const struct filtered_batch *filtered = worker->filtered;
	const struct filter_text *text;
	size_t from;

	ret->dropped = filtered->dropped[at];
	if (worker->texts == filtered->text_count || filtered->texts[worker->texts].record != at)
		return;
	text = &filtered->texts[worker->texts];
	from = worker->texts ? text[-1].end : 0;
	ret->text = filtered->text.data + from;
	ret->size = text->end - from;
	ret->early = text->early;
	worker->texts++;
}

int tally_record_batch_next(struct tally_record_batch *batch, struct tally_entry *ret)
{
	struct record_worker *worker = (struct record_worker *)batch;
	const struct order_batch *places = record_worker_places(worker);
	const struct tally_source *source = worker->resolver.tables->source;
	int result = 0;

	while (!result && worker->at < places->count) {
		size_t at = worker->at, later = at + PREFETCH;

		if (places->places[at] & ORDER_TOKEN) {
			next_tokens(worker, ret);
			return 1;
		}
		if (later < places->count && !(places->places[later] & ORDER_TOKEN)) {
			const uint8_t *bytes = order_bytes(source, places->places[later]);

			__builtin_prefetch(bytes);
			__builtin_prefetch(bytes + 64);
		}
		worker->at++;
		ret->dropped = TALLY_KEPT;
		ret->size = ret->early = 0;
		if (worker->filtered)
			take_filtered(worker, at, ret);
		if (!order_record(source, places->places[at], &ret->record))
			continue;
		if (ret->record.type == PERF_RECORD_SAMPLE)
			result = next_sample(worker, ret);
		else
			result = next_record(worker, ret);
	}
	return result;
}
