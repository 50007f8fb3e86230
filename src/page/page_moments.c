#include "page/page_moments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/record.h>
#include "base/own_pid.h"
#include "base/table.h"
#include "session/record_sink.h"
#include "trace/trace_text.h"

/* A run takes some 6 bytes of the page, a marker with its text some 20 and more. */
#define RUNS_MOST    (1U << 17)
#define MARKERS_MOST (1U << 14) /* of tracepoints; and of all others */
#define TEXT_MOST    400U

struct reading {
	struct page_tables *tables;
	const struct page_source *source;
	const struct tally_data *data;
	struct tally_trace_text *trace; /* NULL: none can be read */
	struct tally_map threads;       /* hash of recording, pid, tid and comm -> thread + 1 */
	struct tally_map running;       /* pid and tid -> run + 1; 0: none */
	uint32_t first_run;             /* of this recording */
	uint64_t gap;                   /* units: runs that are closer are one */
	struct tracepoint *tracepoints; /* by event */
	struct tally_strings texts;     /* of their markers, until all have been read */
	uint32_t first_marker;          /* of this recording */
	uint32_t traced, others;        /* markers: of tracepoints, and all others */
};

struct tracepoint {
	uint64_t met, nth; /* samples; each n-th is a marker; 0: the event is no tracepoint */
	uint32_t markers, name;
};

static uint64_t thread_hash(uint32_t recording, uint32_t pid, uint32_t tid, uint32_t comm)
{
	return hash_mix(hash_pair(page_two(pid, tid), comm), recording);
}

static int note_threads(struct reading *reading)
{
	const struct page_tables *tables = reading->tables;

	for (uint32_t i = 0; i < tables->thread_count; i++) {
		const struct page_thread *thread = &tables->threads[i];
		uint64_t *number;
		bool added;

		/* Two threads of one hash are as good as none: the first one counts. */
		if (tables->several && thread->recording != reading->source->number)
			continue;
		number = tally_map_put(&reading->threads,
				       thread_hash(tables->several ? 0 : thread->recording,
						   thread->pid, thread->tid, thread->comm),
				       &added);

		if (!number)
			return -ENOMEM;
		if (added)
			*number = i + 1ULL;
	}
	return 0;
}

/* The thread that a record is of; PAGE_NONE: the page has no sample of it. -ENOMEM. */
static int64_t thread_at(struct reading *reading, const struct tally_resolved *at, uint32_t pid,
			 uint32_t tid)
{
	int64_t comm = tally_page_string(reading->tables,
					 tally_session_string(reading->source->session, at->comm));
	uint32_t recording = reading->tables->several ? 0 : recording_of_pid(pid);
	const uint64_t *number;

	if (comm < 0)
		return comm;
	number =
	    tally_map_find(&reading->threads, thread_hash(recording, pid, tid, (uint32_t)comm));
	return number ? (int64_t)*number - 1 : PAGE_NONE;
}

/* In units since the start of the page; UINT64_MAX: before it, or behind its end. */
static uint64_t unit_of(const struct reading *reading, const struct tally_resolved *at)
{
	const struct page_tables *tables = reading->tables;
	uint64_t time = at->sample.time, start = reading->source->start;

	return !(at->sample.present & PERF_SAMPLE_TIME) || time < start ||
		       time - start > tables->end - tables->start
		   ? UINT64_MAX
		   : (time - start) / PAGE_UNIT;
}

/* --- runs --- */

/* Joins runs of a thread that are closer than a gap, which grows until half of them are left. */
static int join_runs(struct reading *reading)
{
	struct page_tables *tables = reading->tables;
	uint32_t *last = table_new((size_t)tables->thread_count + 1, sizeof(*last)), kept;
	uint64_t length = (tables->end - tables->start) / PAGE_UNIT;

	if (!last)
		return -ENOMEM;
	do {
		reading->gap = reading->gap ? reading->gap * 2 : length / 65536 + 1;
		memset(last, 0, ((size_t)tables->thread_count + 1) * sizeof(*last));
		kept = reading->first_run;
		for (uint32_t i = reading->first_run; i < tables->run_count; i++) {
			const struct page_run run = tables->runs[i];
			struct page_run *before =
			    last[run.thread] ? &tables->runs[last[run.thread] - 1] : NULL;

			if (before && run.start < before->end + reading->gap) {
				before->end = run.end;
				before->cpu = run.cpu;
				before->preempted = run.preempted;
				continue;
			}
			tables->runs[kept++] = run;
			last[run.thread] = kept;
		}
		tables->run_count = kept;
	} while (kept - reading->first_run > RUNS_MOST / 2 && reading->gap < length);
	/* Those that go on are at other places now: what comes begins anew. */
	tally_map_done(&reading->running);
	free(last);
	return 0;
}

static void end_run(struct reading *reading, uint64_t *running, uint64_t time, bool preempted)
{
	if (!running || !*running)
		return;
	reading->tables->runs[*running - 1].end = time;
	reading->tables->runs[*running - 1].preempted = preempted;
	*running = 0;
}

static int take_switch(struct reading *reading, const struct tally_resolved *at, uint16_t misc)
{
	struct page_tables *tables = reading->tables;
	uint32_t pid = at->sample.pid, tid = at->sample.tid, room;
	uint64_t time = unit_of(reading, at), *running;
	int64_t thread;
	bool added;

	/* Thread 0 of each CPU is the idle one. */
	if (time == UINT64_MAX || !(at->sample.present & PERF_SAMPLE_TID) || !tid)
		return 0;
	thread = thread_at(reading, at, pid, tid);
	if (thread < 0 || thread == PAGE_NONE)
		return thread < 0 ? -ENOMEM : 0;
	running = tally_map_put(&reading->running, page_two(pid, tid), &added);
	if (!running)
		return -ENOMEM;
	if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
		end_run(reading, running, time, misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
		return 0;
	}
	if (tables->run_count - reading->first_run >= RUNS_MOST) {
		int result = join_runs(reading);

		if (result)
			return result;
		running = tally_map_put(&reading->running, page_two(pid, tid), &added);
		if (!running)
			return -ENOMEM;
	}
	room = array_room(tables->run_room, tables->run_count + 1, 1024);
	if (room != tables->run_room && !array_resize(&tables->runs, room, sizeof(*tables->runs)))
		return -ENOMEM;
	tables->run_room = room;
	tables->runs[tables->run_count++] = (struct page_run){
	    .thread = (uint32_t)thread,
	    .cpu = at->sample.present & PERF_SAMPLE_CPU ? at->sample.cpu : PAGE_NONE,
	    .start = time,
	    .end = time,
	};
	*running = tables->run_count;
	return 0;
}

/* --- markers --- */

static int add_marker(struct reading *reading, const struct tally_resolved *at,
		      enum page_marker_kind kind, const char *name, const char *text)
{
	struct page_tables *tables = reading->tables;
	uint64_t time = unit_of(reading, at);
	int64_t thread = PAGE_NONE, name_number, text_number;
	uint32_t room;

	if (time == UINT64_MAX ||
	    (kind != PAGE_MARKER_TRACEPOINT && reading->others >= MARKERS_MOST))
		return 0;
	if (at->sample.present & PERF_SAMPLE_TID)
		thread = thread_at(reading, at, at->sample.pid, at->sample.tid);
	name_number = tally_page_string(tables, name);
	text_number = kind == PAGE_MARKER_TRACEPOINT
			  ? tally_strings_intern(&reading->texts, text, strlen(text))
			  : tally_page_string(tables, text);
	room = array_room(tables->marker_room, tables->marker_count + 1, 256);
	if (thread < 0 || name_number < 0 || text_number < 0 ||
	    (room != tables->marker_room &&
	     !array_resize(&tables->markers, room, sizeof(*tables->markers))))
		return -ENOMEM;
	tables->marker_room = room;
	tables->markers[tables->marker_count++] = (struct page_marker){
	    .time = time,
	    .thread = (uint32_t)thread,
	    .name = (uint32_t)name_number,
	    .text = (uint32_t)text_number,
	    .kind = (uint8_t)kind,
	};
	reading->others += kind != PAGE_MARKER_TRACEPOINT;
	return 0;
}

/* Leaves every second marker of the tracepoint that has most, so that those of rare ones stay. */
static void thin_out(struct reading *reading)
{
	struct page_tables *tables = reading->tables;
	struct tracepoint *most = reading->tracepoints;
	uint32_t to = reading->first_marker, number = 0;

	for (size_t i = 1; i < tally_data_event_count(reading->data); i++)
		if (reading->tracepoints[i].markers > most->markers)
			most = &reading->tracepoints[i];
	for (uint32_t i = to; i < tables->marker_count; i++) {
		const struct page_marker *at = &tables->markers[i];

		if (at->kind != PAGE_MARKER_TRACEPOINT || at->name != most->name ||
		    number++ % 2 == 0)
			tables->markers[to++] = *at;
	}
	tables->marker_count = to;
	reading->traced -= most->markers / 2;
	most->markers -= most->markers / 2;
	most->nth *= 2;
}

static int take_tracepoint(struct reading *reading, const struct tally_resolved *at)
{
	const struct tally_data_event *event = tally_data_event(reading->data, at->event);
	struct tracepoint *tracepoint = &reading->tracepoints[at->event];
	struct tally_buf text = {0};
	int result;

	if (!tracepoint->nth || unit_of(reading, at) == UINT64_MAX)
		return 0;
	if (tracepoint->met++ % tracepoint->nth)
		return 0;
	if (reading->trace && at->sample.present & PERF_SAMPLE_RAW)
		(void)tally_trace_text_add(reading->trace, &text, event->attr.config,
					   at->sample.raw, at->sample.raw_size, NULL);
	if (text.size > TEXT_MOST)
		text.size = TEXT_MOST;
	result = text.failed ? text.failed
			     : add_marker(reading, at, PAGE_MARKER_TRACEPOINT, event->name,
					  tally_buf_str(&text));
	tally_buf_done(&text);
	if (result)
		return result;
	tracepoint->markers++;
	tracepoint->name = reading->tables->markers[reading->tables->marker_count - 1].name;
	if (++reading->traced >= MARKERS_MOST)
		thin_out(reading);
	return 0;
}

/* The page has the texts of those markers that stayed. */
static int put_texts(struct reading *reading)
{
	struct page_tables *tables = reading->tables;

	for (uint32_t i = reading->first_marker; i < tables->marker_count; i++) {
		struct page_marker *at = &tables->markers[i];
		int64_t text;

		if (at->kind != PAGE_MARKER_TRACEPOINT)
			continue;
		text = tally_page_string(tables, reading->texts.text[at->text]);
		if (text < 0)
			return -ENOMEM;
		at->text = (uint32_t)text;
	}
	return 0;
}

static int take_task(struct reading *reading, const struct tally_entry *entry,
		     const struct tally_body *body)
{
	bool exec = entry->record.misc & PERF_RECORD_MISC_COMM_EXEC;

	switch (body->type) {
	case PERF_RECORD_COMM:
		return exec ? add_marker(reading, entry->at, PAGE_MARKER_START, body->comm.comm,
					 "exec")
			    : 0;
	case PERF_RECORD_FORK:
		return body->task.pid != body->task.ppid
			   ? add_marker(
				 reading, entry->at, PAGE_MARKER_START, "fork",
				 tally_session_string(reading->source->session, entry->at->comm))
			   : 0;
	default: /* the last switch of a thread is nobody's any more */
		if (unit_of(reading, entry->at) != UINT64_MAX)
			end_run(reading,
				tally_map_find(&reading->running,
					       page_two(body->task.pid, body->task.tid)),
				unit_of(reading, entry->at), false);
		return body->task.pid == body->task.tid
			   ? add_marker(
				 reading, entry->at, PAGE_MARKER_END, "exit",
				 tally_session_string(reading->source->session, entry->at->comm))
			   : 0;
	}
}

static int take_lost(struct reading *reading, const struct tally_resolved *at, uint64_t lost)
{
	struct page_event *event = &reading->tables->events[reading->source->events[at->event]];
	char text[32];

	event->lost += lost;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)lost);
	return add_marker(reading, at, PAGE_MARKER_LOSS, "lost", text);
}

static int take_record(struct reading *reading, const struct tally_entry *entry)
{
	const struct tally_resolved *at = entry->at;
	const struct tally_data_event *event = tally_data_event(reading->data, at->event);
	struct tally_body body = {.size = sizeof(body)};

	switch (entry->record.type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch(reading, at, entry->record.misc);
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
		break;
	default:
		return 0;
	}
	if (!event || tally_record_decode(&event->layout, &entry->record, &body, NULL) < 0)
		return 0;
	switch (body.type) {
	case PERF_RECORD_LOST:
		return take_lost(reading, at, body.lost.lost);
	case PERF_RECORD_LOST_SAMPLES: /* the same again, where there are both */
		return tally_session_counts(reading->source->session)->by_type[PERF_RECORD_LOST]
			   ? 0
			   : take_lost(reading, at, body.lost_samples.lost);
	case PERF_RECORD_THROTTLE:
		reading->tables->events[reading->source->events[at->event]].throttled++;
		return add_marker(reading, at, PAGE_MARKER_THROTTLE, "throttled", event->name);
	default:
		return take_task(reading, entry, &body);
	}
}

static int take_batch(void *context, struct tally_record_batch *batch)
{
	struct reading *reading = context;
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		if (!entry.at)
			continue;
		result = entry.kind == TALLY_ENTRY_SAMPLE ? take_tracepoint(reading, entry.at)
							  : take_record(reading, &entry);
		if (result)
			return result;
	}
	return result;
}

/* --- both --- */

/* Whether there are tracepoints: 1 or 0; -ENOMEM. */
static int find_tracepoints(struct reading *reading)
{
	size_t count = tally_data_event_count(reading->data);
	int found = 0;

	reading->tracepoints = calloc(count + 1, sizeof(*reading->tracepoints));
	if (!reading->tracepoints)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		bool is = tally_data_event(reading->data, i)->attr.type == PERF_TYPE_TRACEPOINT;

		reading->tracepoints[i].nth = is;
		found |= is;
	}
	return found;
}

/* Threads that run until the end have no switch there. */
static void end_runs(struct reading *reading)
{
	struct page_tables *tables = reading->tables;

	for (size_t i = 0; i < reading->running.room; i++) {
		const struct tally_map_slot *slot = &reading->running.slots[i];

		if (slot->key && slot->value)
			tables->runs[slot->value - 1].end =
			    (tables->end - tables->start) / PAGE_UNIT;
	}
}

int tally_page_moments_make(struct page_tables *tables, const struct page_source *source,
			    struct tally_error *error)
{
	struct reading reading = {
	    .tables = tables,
	    .source = source,
	    .data = tally_session_data(source->session),
	    .first_run = tables->run_count,
	    .first_marker = tables->marker_count,
	};
	struct tally_record_sink sink = {
	    .context = &reading,
	    .want = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
	    .records = true,
	    .batch = take_batch,
	};
	struct tally_block formats = tally_data_feature(reading.data, TALLY_FEATURE_TRACING_DATA);
	int result;

	if (!tables->start && !tables->end)
		return 0;
	result = find_tracepoints(&reading);
	sink.samples = result > 0;
	if (sink.samples)
		result = tally_trace_text_new(formats.bytes, formats.size, &reading.trace, NULL);
	result = result == -ENOMEM ? result : note_threads(&reading);
	if (!result)
		result = tally_session_run_in_order(source->session, &sink, true, error);
	if (!result)
		result = put_texts(&reading);
	end_runs(&reading);
	tally_trace_text_free(reading.trace);
	free(reading.tracepoints);
	tally_strings_done(&reading.texts);
	tally_map_done(&reading.threads);
	tally_map_done(&reading.running);
	return result;
}
