#include "formats/firefox_markers.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "session/record_sink.h"
#include "trace/trace_text.h"

int tally_thread_markers_init(struct thread_markers *markers, const struct convert *convert)
{
	struct tally_block block = tally_data_feature(convert->data, TALLY_FEATURE_TRACING_DATA);
	int result = tally_trace_text_new(block.bytes, block.size, &markers->trace, NULL);

	return result == -ENOMEM ? result : 0;
}

void tally_thread_markers_done(struct thread_markers *markers)
{
	tally_trace_text_free(markers->trace);
	tally_strings_done(&markers->texts);
	free(markers->list);
	*markers = (struct thread_markers){.count = 0};
}

static int add(struct thread_markers *markers, const struct thread_marker *marker)
{
	uint32_t room = array_room(markers->room, markers->count + 1, 256);

	if (room != markers->room && !array_resize(&markers->list, room, sizeof(*markers->list)))
		return -ENOMEM;
	markers->room = room;
	markers->list[markers->count++] = *marker;
	return 0;
}

int tally_thread_markers_take(struct thread_markers *markers, const struct convert *convert,
			      const struct sample_row *row)
{
	const struct tally_attr *attr = &tally_data_event(convert->data, row->event)->attr;
	struct tally_sample sample = {.size = sizeof(sample)};
	struct thread_marker marker = {.start = row->time,
				       .end = row->time,
				       .pid = row->pid,
				       .tid = row->tid,
				       .event = row->event};
	struct tally_buf text = {0};
	int64_t number;

	if (attr->type != PERF_TYPE_TRACEPOINT)
		return 0;
	if (markers->trace && !tally_batch_sample(row->batch, row->at, &sample) &&
	    sample.present & PERF_SAMPLE_RAW)
		(void)tally_trace_text_add(markers->trace, &text, attr->config, sample.raw,
					   sample.raw_size, NULL);
	number = text.failed
		     ? text.failed
		     : tally_strings_intern(&markers->texts, tally_buf_str(&text), text.size);
	tally_buf_done(&text);
	if (number < 0)
		return -ENOMEM;
	marker.text = (uint32_t)number;
	return add(markers, &marker);
}

/* Reading context switches: threads that are off a CPU. */
struct switches {
	struct thread_markers *markers;
	struct tally_map since; /* pid and tid -> marker + 1; 0: it runs */
	uint64_t from, until;
};

static int take_switch(struct switches *switches, const struct tally_sample *at, uint16_t misc)
{
	struct thread_markers *markers = switches->markers;
	struct thread_marker marker = {.start = at->time,
				       .pid = at->pid,
				       .tid = at->tid,
				       .text = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
				       .kind = MARKER_OFF_CPU};
	bool added;
	uint64_t *since =
	    tally_map_put(&switches->since, (uint64_t)at->pid << 32 | at->tid, &added);

	if (!since)
		return -ENOMEM;
	if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
		*since = markers->count + 1ULL;
		return add(markers, &marker);
	}
	if (*since)
		markers->list[*since - 1].end = at->time;
	*since = 0;
	return 0;
}

static int take_batch(void *context, struct tally_record_batch *batch)
{
	struct switches *switches = context;
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		const struct tally_sample *at;

		if (entry.kind != TALLY_ENTRY_RECORD ||
		    (entry.record.type != PERF_RECORD_SWITCH &&
		     entry.record.type != PERF_RECORD_SWITCH_CPU_WIDE))
			continue;
		at = &entry.at->sample;
		if (!(at->present & PERF_SAMPLE_TID) || !(at->present & PERF_SAMPLE_TIME) ||
		    at->time < switches->from || at->time > switches->until)
			continue;
		result = take_switch(switches, at, entry.record.misc);
		if (result)
			break;
	}
	return result;
}

static int by_thread(const void *left, const void *right)
{
	const struct thread_marker *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

int tally_thread_markers_finish(struct thread_markers *markers, struct convert *convert,
				uint64_t from, uint64_t until)
{
	const uint64_t *types = tally_session_counts(convert->session)->by_type;
	struct switches switches = {.markers = markers, .from = from, .until = until};
	const struct tally_record_sink sink = {
	    .context = &switches, .records = true, .batch = take_batch};
	int result = 0;

	if (types[PERF_RECORD_SWITCH] || types[PERF_RECORD_SWITCH_CPU_WIDE])
		result = tally_session_run_in_order(convert->session, &sink, true, convert->error);
	tally_map_done(&switches.since);
	for (uint32_t i = 0; i < markers->count; i++)
		if (!markers->list[i].end) /* still off when the samples end */
			markers->list[i].end = until;
	if (!result && markers->count)
		qsort(markers->list, markers->count, sizeof(*markers->list), by_thread);
	return result < 0 ? result : 0;
}
