/* A trace of Perfetto: samples with their call stacks, at their times.
 *
 * Source: trace_packet.proto, interned_data.proto, profile_common.proto, profile_packet.proto,
 * perf_events.proto and process_tree.proto of github.com/google/perfetto, whose numbers of fields
 * are named here.  The samples of each event are a packet sequence with its tables.  A sample's
 * timebase_count is the sum of the event's periods on its CPU so far. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/pool.h"
#include "base/table.h"
#include "convert/code_tables.h"
#include "convert/thread_samples.h"
#include "formats/format_list.h"
#include "base/protobuf.h"
#include "session/run.h"

enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_PERF_SAMPLE = 66,
};
enum defaults_field { DEFAULTS_PERF_SAMPLE = 12 };
enum perf_sample_defaults_field { PERF_DEFAULTS_TIMEBASE = 1 };
enum timebase_field {
	TIMEBASE_PERIOD = 1,
	TIMEBASE_FREQUENCY,
	TIMEBASE_TRACEPOINT,
	TIMEBASE_RAW_EVENT = 5,
	TIMEBASE_NAME = 10,
};
enum tracepoint_field { TRACEPOINT_NAME = 1 };
enum raw_event_field { RAW_EVENT_TYPE = 1, RAW_EVENT_CONFIG };
enum interned_field {
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES,
	INTERNED_CALLSTACKS,
	INTERNED_BUILD_IDS = 16,
	INTERNED_MAPPING_PATHS,
	INTERNED_SOURCE_PATHS,
	INTERNED_MAPPINGS,
};
enum string_field { STRING_IID = 1, STRING_STR };
enum mapping_field {
	MAPPING_IID = 1,
	MAPPING_BUILD_ID,
	MAPPING_START = 4,
	MAPPING_END,
	MAPPING_PATH = 7,
	MAPPING_EXACT_OFFSET,
};
enum frame_field {
	FRAME_IID = 1,
	FRAME_FUNCTION_NAME,
	FRAME_MAPPING,
	FRAME_REL_PC,
	FRAME_SOURCE_PATH,
	FRAME_LINE,
};
enum callstack_field { CALLSTACK_IID = 1, CALLSTACK_FRAMES };
enum perf_sample_field {
	PERF_SAMPLE_FIELD_CPU = 1,
	PERF_SAMPLE_FIELD_PID,
	PERF_SAMPLE_FIELD_TID,
	PERF_SAMPLE_FIELD_CALLSTACK,
	PERF_SAMPLE_FIELD_TIMEBASE_COUNT = 6,
	PERF_SAMPLE_FIELD_LOST = 17,
};
enum process_tree_field { TREE_PROCESSES = 1, TREE_THREADS };
enum process_field { PROCESS_PID = 1, PROCESS_CMDLINE = 3 };
enum thread_field { THREAD_TID = 1, THREAD_NAME, THREAD_TGID };

#define SEQUENCE_CLEARED 1
#define SEQUENCE_NEEDS   2
/* A packet of tables is ended when it has so many bytes. */
#define TABLE_SIZE 32768U
/* Stacks that a thread makes at a time. */
#define STACKS_SHARE 512U
/* How many steps before it is read memory is fetched. */
#define AHEAD 8U

struct perfetto {
	struct convert *convert;
	struct thread_samples threads;
	struct code_tables code;
	struct tally_buf *text;
	uint32_t *stacks; /* by iid of a callstack - 1: the node */
	uint32_t stack_count;
	struct tally_map counts; /* event and CPU -> sum of periods */
	struct stacks_worker *workers;
	uint32_t sequence;
	size_t packet, table; /* places of what is open */
};

/* --- call stacks --- */

/* Numbers the stacks of samples, which get the iid of their callstack in place of the node. */
static int number_stacks(struct perfetto *trace)
{
	const struct thread_samples *threads = &trace->threads;
	uint32_t *iids = table_new(threads->stacks.node_count, sizeof(*iids)); /* by node */

	trace->stacks = array_new(threads->stacks.node_count, sizeof(*trace->stacks));
	if (!iids || !trace->stacks) {
		free(iids);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < threads->count; i++) {
		const struct thread_track *track = &threads->tracks[i];

		for (uint32_t at = 0; at < track->count; at++) {
			struct thread_sample *sample = &track->samples[at];
			uint32_t *iid = &iids[sample->node];

			if (at + AHEAD < track->count)
				__builtin_prefetch(&iids[sample[AHEAD].node]);
			if (sample->node && !*iid) {
				trace->stacks[trace->stack_count++] = sample->node;
				*iid = trace->stack_count;
			}
			sample->node = *iid;
		}
	}
	free(iids);
	return 0;
}

/* Walks all stacks, so that their places are known. */
static int find_places(struct perfetto *trace)
{
	struct code_places *places = &trace->code.places;

	for (uint32_t i = 0; i < trace->stack_count; i++) {
		if (i + 2 * AHEAD < trace->stack_count)
			code_places_fetch(places, trace->stacks[i + 2 * AHEAD]);
		if (i + AHEAD < trace->stack_count)
			code_places_fetch_caller(places, trace->stacks[i + AHEAD]);
		if (tally_code_places_add(places, trace->stacks[i]))
			return -ENOMEM;
	}
	return 0;
}

/* --- packets --- */

static void begin_packet(struct perfetto *trace, uint64_t flags)
{
	trace->packet = tally_protobuf_begin(trace->text, TRACE_PACKET);
	tally_protobuf_u64(trace->text, PACKET_SEQUENCE_ID, trace->sequence);
	tally_protobuf_u64(trace->text, PACKET_SEQUENCE_FLAGS, flags);
}

static int end_packet(struct perfetto *trace)
{
	tally_protobuf_end(trace->text, trace->packet);
	return convert_pour(trace->convert);
}

static void begin_table(struct perfetto *trace)
{
	begin_packet(trace, SEQUENCE_NEEDS);
	trace->table = tally_protobuf_begin(trace->text, PACKET_INTERNED_DATA);
}

static int end_table(struct perfetto *trace)
{
	tally_protobuf_end(trace->text, trace->table);
	return end_packet(trace);
}

/* After an entry: a new packet when this one is large. */
static int next_entry(struct perfetto *trace)
{
	int result = 0;

	if (trace->text->size - trace->table < TABLE_SIZE)
		return trace->text->failed;
	result = end_table(trace);
	begin_table(trace);
	return result;
}

static void put_string(struct perfetto *trace, unsigned field, uint64_t iid, const char *text,
		       size_t length)
{
	size_t place = tally_protobuf_begin(trace->text, field);

	tally_protobuf_u64(trace->text, STRING_IID, iid);
	tally_protobuf_bytes(trace->text, STRING_STR, text, length);
	tally_protobuf_end(trace->text, place);
}

static const char *string_at(const struct perfetto *trace, uint32_t number)
{
	return trace->code.strings.text[number];
}

static int put_strings(struct perfetto *trace)
{
	const struct code_tables *code = &trace->code;
	int result = 0;

	for (uint32_t i = 1; i < code->function_count && !result; i++) {
		put_string(trace, INTERNED_FUNCTION_NAMES, i,
			   string_at(trace, code->functions[i].name),
			   code->strings.length[code->functions[i].name]);
		if (code->functions[i].file)
			put_string(trace, INTERNED_SOURCE_PATHS, i,
				   string_at(trace, code->functions[i].file),
				   code->strings.length[code->functions[i].file]);
		result = next_entry(trace);
	}
	for (uint32_t i = 1; i < code->mapping_count && !result; i++) {
		const char *path = string_at(trace, code->mappings[i].file);

		/* A path is put together of parts with a slash before each. */
		path += path[0] == '/';
		put_string(trace, INTERNED_MAPPING_PATHS, i, path, strlen(path));
		if (code->mappings[i].build_id)
			put_string(trace, INTERNED_BUILD_IDS, i,
				   string_at(trace, code->mappings[i].build_id),
				   code->strings.length[code->mappings[i].build_id]);
		result = next_entry(trace);
	}
	return result;
}

static int put_mappings(struct perfetto *trace)
{
	int result = 0;

	for (uint32_t i = 1; i < trace->code.mapping_count && !result; i++) {
		const struct code_mapping *mapping = &trace->code.mappings[i];
		size_t place = tally_protobuf_begin(trace->text, INTERNED_MAPPINGS);

		tally_protobuf_u64(trace->text, MAPPING_IID, i);
		tally_protobuf_u64(trace->text, MAPPING_BUILD_ID, mapping->build_id ? i : 0);
		tally_protobuf_u64(trace->text, MAPPING_START, mapping->start);
		tally_protobuf_u64(trace->text, MAPPING_END, mapping->limit);
		tally_protobuf_u64(trace->text, MAPPING_EXACT_OFFSET, mapping->offset);
		tally_protobuf_u64(trace->text, MAPPING_PATH, i);
		tally_protobuf_end(trace->text, place);
		result = next_entry(trace);
	}
	return result;
}

/* A frame for each function of each place. */
static int put_frames(struct perfetto *trace)
{
	const struct code_places *places = &trace->code.places;
	int result = 0;

	for (uint32_t i = 1; i < places->count && !result; i++) {
		const struct code_place *of = &places->list[i];

		for (uint32_t at = of->first_line; at < of->first_line + of->line_count; at++) {
			size_t place = tally_protobuf_begin(trace->text, INTERNED_FRAMES);
			uint32_t function = trace->code.function_of[at];
			uint32_t mapping = trace->code.mapping_of[of->image];

			tally_protobuf_u64(trace->text, FRAME_IID, at + 1ULL);
			tally_protobuf_u64(trace->text, FRAME_FUNCTION_NAME, function);
			tally_protobuf_u64(trace->text, FRAME_MAPPING, mapping);
			tally_protobuf_u64(trace->text, FRAME_REL_PC, mapping ? of->address : 0);
			tally_protobuf_u64(trace->text, FRAME_SOURCE_PATH,
					   trace->code.functions[function].file ? function : 0);
			tally_protobuf_u64(trace->text, FRAME_LINE, places->lines[at].line);
			tally_protobuf_end(trace->text, place);
		}
		result = next_entry(trace);
	}
	return result;
}

/* --- the call stacks of a sequence, by several threads --- */

/* What a thread makes of a share of the stacks. */
struct stacks_worker {
	struct tally_buf text;
	uint64_t *frames;
	uint32_t frame_room, count;
	size_t ends[STACKS_SHARE]; /* of each entry in the text */
} __attribute__((aligned(TABLE_APART)));

/* Outermost first. */
static int make_callstack(const struct perfetto *trace, uint32_t number,
			  struct stacks_worker *worker)
{
	const struct code_places *places = &trace->code.places;
	struct code_position at = {.node = trace->stacks[number]};
	uint32_t count = 0;
	size_t place;

	while (at.node) {
		const struct code_place *of = &places->list[code_places_next(places, &at)];
		uint32_t room = array_room(worker->frame_room, count + of->line_count, 256);

		if (room != worker->frame_room &&
		    !array_resize(&worker->frames, room, sizeof(*worker->frames)))
			return -ENOMEM;
		worker->frame_room = room;
		for (uint32_t i = 0; i < of->line_count; i++)
			worker->frames[count++] = of->first_line + i + 1ULL;
	}
	place = tally_protobuf_begin(&worker->text, INTERNED_CALLSTACKS);
	tally_protobuf_u64(&worker->text, CALLSTACK_IID, number + 1ULL);
	while (count)
		tally_protobuf_u64(&worker->text, CALLSTACK_FRAMES, worker->frames[--count]);
	tally_protobuf_end(&worker->text, place);
	worker->ends[worker->count++] = worker->text.size;
	return worker->text.failed;
}

static int make_share(void *context, unsigned number, size_t share)
{
	struct perfetto *trace = context;
	struct stacks_worker *worker = &trace->workers[number];
	uint32_t from = (uint32_t)share * STACKS_SHARE;
	int result = 0;

	tally_buf_clear(&worker->text);
	worker->count = 0;
	for (uint32_t i = 0; i < STACKS_SHARE && from + i < trace->stack_count && !result; i++)
		result = make_callstack(trace, from + i, worker);
	return result;
}

/* Which entries share a packet depends on those before. */
static int take_share(void *context, unsigned number, size_t share)
{
	struct perfetto *trace = context;
	const struct stacks_worker *worker = &trace->workers[number];
	size_t from = 0;
	int result = 0;

	(void)share;
	for (uint32_t i = 0; i < worker->count && !result; from = worker->ends[i++]) {
		tally_buf_add(trace->text, worker->text.data + from, worker->ends[i] - from);
		result = next_entry(trace);
	}
	return result;
}

static int put_callstacks(struct perfetto *trace)
{
	unsigned workers = tally_session_threads(trace->convert->session);
	int result = -ENOMEM;

	trace->workers = table_apart(workers, sizeof(*trace->workers));
	if (!trace->workers)
		return result;
	result = tally_pool_run_in_turn(workers,
					(trace->stack_count + STACKS_SHARE - 1ULL) / STACKS_SHARE,
					make_share, take_share, trace);
	for (unsigned i = 0; i < workers; i++) {
		tally_buf_done(&trace->workers[i].text);
		free(trace->workers[i].frames);
	}
	free(trace->workers);
	return result;
}

/* How the event of a sequence was sampled. */
static int put_defaults(struct perfetto *trace, uint32_t event)
{
	const struct tally_data_event *of = tally_data_event(trace->convert->data, event);
	size_t defaults, sample, timebase, inner;

	begin_packet(trace, SEQUENCE_CLEARED);
	defaults = tally_protobuf_begin(trace->text, PACKET_DEFAULTS);
	sample = tally_protobuf_begin(trace->text, DEFAULTS_PERF_SAMPLE);
	timebase = tally_protobuf_begin(trace->text, PERF_DEFAULTS_TIMEBASE);
	tally_protobuf_u64(trace->text, of->attr.freq ? TIMEBASE_FREQUENCY : TIMEBASE_PERIOD,
			   of->attr.sample_period);
	if (of->attr.type == PERF_TYPE_TRACEPOINT) {
		inner = tally_protobuf_begin(trace->text, TIMEBASE_TRACEPOINT);
		tally_protobuf_text(trace->text, TRACEPOINT_NAME, of->name, strlen(of->name));
	} else {
		inner = tally_protobuf_begin(trace->text, TIMEBASE_RAW_EVENT);
		tally_protobuf_u64(trace->text, RAW_EVENT_TYPE, of->attr.type);
		tally_protobuf_u64(trace->text, RAW_EVENT_CONFIG, of->attr.config);
	}
	tally_protobuf_end(trace->text, inner);
	tally_protobuf_text(trace->text, TIMEBASE_NAME, of->name, strlen(of->name));
	tally_protobuf_end(trace->text, timebase);
	tally_protobuf_end(trace->text, sample);
	tally_protobuf_end(trace->text, defaults);
	return end_packet(trace);
}

/* The tables of a sequence. */
static int put_tables(struct perfetto *trace, uint32_t event)
{
	int result = put_defaults(trace, event);

	begin_table(trace);
	if (!result)
		result = put_strings(trace);
	if (!result)
		result = put_mappings(trace);
	if (!result)
		result = put_frames(trace);
	if (!result)
		result = put_callstacks(trace);
	if (!result)
		result = end_table(trace);
	return result;
}

static int put_threads(struct perfetto *trace)
{
	const struct thread_samples *threads = &trace->threads;
	int result = 0;

	for (uint32_t i = 0; i < threads->count && !result; i++) {
		const struct thread_track *track = &threads->tracks[i];
		size_t tree, one;

		if (track->pid == UINT32_MAX ||
		    (i && track[-1].pid == track->pid && track[-1].tid == track->tid))
			continue;
		begin_packet(trace, 0);
		tree = tally_protobuf_begin(trace->text, PACKET_PROCESS_TREE);
		if (track->pid == track->tid) {
			one = tally_protobuf_begin(trace->text, TREE_PROCESSES);
			tally_protobuf_u64(trace->text, PROCESS_PID, track->pid);
			tally_protobuf_text(trace->text, PROCESS_CMDLINE, track->comm,
					    strlen(track->comm));
			tally_protobuf_end(trace->text, one);
		}
		one = tally_protobuf_begin(trace->text, TREE_THREADS);
		tally_protobuf_u64(trace->text, THREAD_TID, track->tid);
		tally_protobuf_text(trace->text, THREAD_NAME, track->comm, strlen(track->comm));
		tally_protobuf_u64(trace->text, THREAD_TGID, track->pid);
		tally_protobuf_end(trace->text, one);
		tally_protobuf_end(trace->text, tree);
		result = end_packet(trace);
	}
	return result;
}

/* --- samples --- */

static int put_sample(struct perfetto *trace, const struct thread_track *track,
		      const struct thread_sample *sample)
{
	bool added;
	uint64_t *sum =
	    tally_map_put(&trace->counts, (uint64_t)track->event << 32 | sample->cpu, &added);
	size_t place;

	if (!sum)
		return -ENOMEM;
	*sum += sample->period;
	trace->sequence = track->event + 1;
	begin_packet(trace, SEQUENCE_NEEDS);
	tally_protobuf_u64(trace->text, PACKET_TIMESTAMP, sample->time);
	place = tally_protobuf_begin(trace->text, PACKET_PERF_SAMPLE);
	if (sample->cpu != UINT32_MAX)
		tally_protobuf_u64(trace->text, PERF_SAMPLE_FIELD_CPU, sample->cpu);
	if (track->pid != UINT32_MAX) {
		tally_protobuf_u64(trace->text, PERF_SAMPLE_FIELD_PID, track->pid);
		tally_protobuf_u64(trace->text, PERF_SAMPLE_FIELD_TID, track->tid);
	}
	tally_protobuf_u64(trace->text, PERF_SAMPLE_FIELD_CALLSTACK, sample->node);
	tally_protobuf_u64(trace->text, PERF_SAMPLE_FIELD_TIMEBASE_COUNT, *sum);
	tally_protobuf_end(trace->text, place);
	return end_packet(trace);
}

/* In the order of time: each track goes on where it was. */
static int put_samples(struct perfetto *trace)
{
	const struct thread_samples *threads = &trace->threads;
	uint32_t *next = calloc(threads->count + 1ULL, sizeof(*next));
	uint32_t *index = calloc(threads->count + 1ULL, sizeof(*index));
	int result = next && index ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < threads->count && !result; i++)
		index[threads->tracks[i].number] = i;
	for (uint32_t i = 0; i < threads->order_count && !result; i++) {
		const struct thread_track *track = &threads->tracks[index[threads->order[i]]];

		result = put_sample(trace, track, &track->samples[next[threads->order[i]]++]);
	}
	free(next);
	free(index);
	return result;
}

/* What the kernel lost, at the end. */
static int put_lost(struct perfetto *trace)
{
	uint64_t lost = tally_session_counts(trace->convert->session)->lost;
	size_t place;

	if (!lost)
		return 0;
	begin_packet(trace, SEQUENCE_NEEDS);
	tally_protobuf_u64(trace->text, PACKET_TIMESTAMP, trace->threads.last_time);
	place = tally_protobuf_begin(trace->text, PACKET_PERF_SAMPLE);
	tally_protobuf_u64(trace->text, PERF_SAMPLE_FIELD_LOST, lost);
	tally_protobuf_end(trace->text, place);
	return end_packet(trace);
}

static int put_trace(struct perfetto *trace)
{
	uint32_t events = (uint32_t)tally_data_event_count(trace->convert->data);
	bool *used = calloc(events + 1ULL, sizeof(*used));
	int result = used ? tally_code_tables_make(&trace->code) : -ENOMEM;

	trace->sequence = 1;
	if (!result)
		result = put_threads(trace);
	for (uint32_t i = 0; i < trace->threads.count && !result; i++) {
		uint32_t event = trace->threads.tracks[i].event;

		if (used[event])
			continue;
		used[event] = true;
		trace->sequence = event + 1;
		result = put_tables(trace, event);
	}
	if (!result)
		result = put_samples(trace);
	free(used);
	return result ? result : put_lost(trace);
}

static int write_perfetto(struct convert *convert)
{
	struct perfetto trace = {.convert = convert,
				 .text = &convert->text,
				 .threads = {.by_event = true, .in_order = true}};
	int result;

	result = tally_thread_samples_make(convert, &trace.threads);
	if (!result)
		result = tally_code_tables_init(&trace.code, convert, &trace.threads.stacks);
	if (!result)
		result = number_stacks(&trace);
	if (!result)
		result = find_places(&trace);
	if (!result)
		result = put_trace(&trace);
	tally_code_tables_done(&trace.code);
	tally_thread_samples_done(&trace.threads);
	tally_map_done(&trace.counts);
	free(trace.stacks);
	return result;
}

const struct export_format tally_export_format_perfetto = {
    .name = "perfetto",
    .help = "a trace for ui.perfetto.dev and its trace processor",
    .binary = true,
    .places = true,
    .write = write_perfetto,
};
