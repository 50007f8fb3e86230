#include "annotate/place_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/wanted.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/table.h"
#include "session/run.h"
#include "session/time_spans.h"

#define ROOM_LEAST   4096U /* a power of two */
#define FRAMES_LEAST 4096U

enum wanted { WANTED_UNKNOWN, WANTED, NOT_WANTED };

/* Of one thread: a table by hash.  A slot without samples is free. */
struct place_worker {
	struct place_sum *slots;
	size_t room, count;
	struct event_total *totals;
	uint8_t *frames; /* by number: enum wanted */
	size_t frame_room;
} __attribute__((aligned(TABLE_APART)));

struct place_sink {
	struct tally_sink taking;
	struct tally_session *session;
	const struct tally_annotation_options *options;
	struct tally_time_span *spans;
	size_t span_count, events;
	struct place_worker *workers;
	unsigned worker_count;
};

static int no_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "not enough memory for the samples");
}

static struct place_sum *slot_of(struct place_sum *slots, size_t room, uint32_t frame,
				 uint32_t event, uint64_t place)
{
	size_t at = hash_mix(hash_u64(place), (uint64_t)frame << 32 | event) & (room - 1);

	while (slots[at].samples &&
	       (slots[at].place != place || slots[at].frame != frame || slots[at].event != event))
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static int grow(struct place_worker *worker)
{
	size_t room = worker->room ? worker->room * 2 : ROOM_LEAST;
	struct place_sum *slots;

	if (worker->count * 2 < worker->room)
		return 0;
	slots = table_new(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < worker->room; i++) {
		const struct place_sum *sum = &worker->slots[i];

		if (sum->samples)
			*slot_of(slots, room, sum->frame, sum->event, sum->place) = *sum;
	}
	free(worker->slots);
	worker->slots = slots;
	worker->room = room;
	return 0;
}

static int add(struct place_worker *worker, const struct place_sum *sum)
{
	struct place_sum *slot;

	if (grow(worker))
		return -ENOMEM;
	slot = slot_of(worker->slots, worker->room, sum->frame, sum->event, sum->place);
	if (!slot->samples) {
		*slot = *sum;
		worker->count++;
	} else {
		slot->samples += sum->samples;
		slot->period += sum->period;
	}
	return 0;
}

static bool holds_cpu(const struct tally_annotation_options *options, uint32_t cpu)
{
	for (size_t i = 0; i < options->cpu_count; i++)
		if (options->cpus[i] == cpu)
			return true;
	return false;
}

/* What no listing shows is not kept: a recording has a million places.  1, 0, or -ENOMEM. */
static int wants(const struct place_sink *sink, struct place_worker *worker, uint32_t number)
{
	if (number >= worker->frame_room) {
		size_t room = worker->frame_room ? worker->frame_room : FRAMES_LEAST;

		while (room <= number)
			room *= 2;
		if (!array_resize(&worker->frames, room, sizeof(*worker->frames)))
			return -ENOMEM;
		memset(worker->frames + worker->frame_room, WANTED_UNKNOWN,
		       room - worker->frame_room);
		worker->frame_room = room;
	}
	if (worker->frames[number] == WANTED_UNKNOWN) {
		struct tally_frame frame = tally_session_frame(sink->session, number);

		worker->frames[number] =
		    tally_annotation_wants(sink->options, &frame) ? WANTED : NOT_WANTED;
	}
	return worker->frames[number] == WANTED;
}

static int begin(void *context, unsigned workers)
{
	struct place_sink *sink = context;

	sink->workers = table_apart(workers, sizeof(*sink->workers));
	if (!sink->workers)
		return -ENOMEM;
	for (; sink->worker_count < workers; sink->worker_count++) {
		struct event_total *totals = calloc(sink->events + 1, sizeof(*totals));

		if (!totals)
			return -ENOMEM;
		sink->workers[sink->worker_count].totals = totals;
	}
	return 0;
}

static int take(void *context, unsigned number, const struct tally_batch *batch)
{
	const struct place_sink *sink = context;
	struct place_worker *worker = &sink->workers[number];
	bool some = sink->options->symbol_count || sink->options->dso_count;

	for (uint32_t i = 0; i < batch->count; i++) {
		const struct place_sum sum = {
		    .place = batch->place[i],
		    .frame = batch->frame[i],
		    .event = batch->event[i],
		    .period = batch->period[i],
		    .samples = batch->samples[i],
		};
		int wanted;

		if ((sink->options->cpu_count && !holds_cpu(sink->options, batch->cpu[i])) ||
		    (sink->span_count &&
		     !time_spans_hold(sink->spans, sink->span_count, batch->time[i])))
			continue;
		worker->totals[sum.event].samples += sum.samples;
		worker->totals[sum.event].period += sum.period;
		wanted = !some ? 1 : wants(sink, worker, sum.frame);
		if (wanted < 0 || (wanted && sum.samples && add(worker, &sum)))
			return -ENOMEM;
	}
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct place_sum *a = left, *b = right;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* All workers' sums in the first one's table, and then in a row. */
static int merge(const struct place_sink *sink, struct place_sums *ret)
{
	struct place_worker *first = &sink->workers[0];
	size_t count = 0;

	for (unsigned i = 1; i < sink->worker_count; i++) {
		const struct place_worker *worker = &sink->workers[i];

		for (size_t at = 0; at < worker->room; at++)
			if (worker->slots[at].samples && add(first, &worker->slots[at]))
				return -ENOMEM;
		for (size_t event = 0; event < sink->events; event++) {
			first->totals[event].samples += worker->totals[event].samples;
			first->totals[event].period += worker->totals[event].period;
		}
	}
	for (size_t at = 0; at < first->room; at++)
		if (first->slots[at].samples)
			first->slots[count++] = first->slots[at];
	if (count)
		qsort(first->slots, count, sizeof(*first->slots), by_place);
	*ret = (struct place_sums){.sums = first->slots, .count = count, .totals = first->totals};
	first->slots = NULL;
	first->totals = NULL;
	return 0;
}

/* Filters of the session left them out, and they are of all nevertheless. */
static void add_left_out(const struct place_sink *sink, struct place_sums *sums)
{
	for (size_t i = 0; i < sink->events; i++) {
		struct tally_left_out left_out = tally_session_left_out(sink->session, i);

		sums->totals[i].samples += left_out.samples;
		sums->totals[i].period += left_out.period;
	}
}

void tally_place_sink_free(struct place_sink *sink)
{
	if (!sink)
		return;
	for (unsigned i = 0; i < sink->worker_count; i++) {
		free(sink->workers[i].slots);
		free(sink->workers[i].frames);
		free(sink->workers[i].totals);
	}
	free(sink->workers);
	free(sink->spans);
	free(sink);
}

int tally_place_sink_new(struct tally_session *session,
			 const struct tally_annotation_options *options, struct place_sink **ret,
			 struct tally_error *error)
{
	struct place_sink *sink = calloc(1, sizeof(*sink));
	int result = 0;

	if (!sink)
		return no_memory(error);
	sink->session = session;
	sink->options = options;
	sink->events = tally_data_event_count(tally_session_data(session));
	if (options->time)
		result = tally_time_spans_of(session, options->time, false, &sink->spans,
					     &sink->span_count, error);
	sink->taking = (struct tally_sink){
	    .size = sizeof(sink->taking),
	    .columns = TALLY_COLUMN_FRAME | TALLY_COLUMN_PLACE | TALLY_COLUMN_PERIOD |
		       TALLY_COLUMN_COUNT | (options->cpu_count ? TALLY_COLUMN_CPU : 0) |
		       (sink->span_count ? TALLY_COLUMN_TIME : 0),
	    .context = sink,
	    .begin = begin,
	    .batch = take,
	};
	if (result)
		tally_place_sink_free(sink);
	else
		*ret = sink;
	return result;
}

const struct tally_sink *tally_place_sink(const struct place_sink *sink)
{
	return &sink->taking;
}

int tally_place_sink_sums(const struct place_sink *sink, struct place_sums *ret)
{
	int result = merge(sink, ret);

	if (!result)
		add_left_out(sink, ret);
	return result;
}

int tally_place_sums_make(struct tally_session *session,
			  const struct tally_annotation_options *options, struct place_sums *ret,
			  struct tally_error *error)
{
	struct place_sink *sink = NULL;
	int result = tally_place_sink_new(session, options, &sink, error);

	if (result)
		return result;
	result = tally_session_run(session, (const struct tally_sink *[]){&sink->taking}, 1, error);
	if (!result && tally_place_sink_sums(sink, ret))
		result = no_memory(error);
	tally_place_sink_free(sink);
	return result;
}

void tally_place_sums_done(struct place_sums *sums)
{
	free(sums->sums);
	free(sums->totals);
	*sums = (struct place_sums){0};
}
