/* A processed profile of the Firefox Profiler (profiler.firefox.com), version 61: threads with
 * their samples over time, and markers for tracepoints and context switches.
 *
 * Source: docs-developer/CHANGELOG-formats.md and src/types/profile.ts of
 * github.com/firefox-devtools/profiler.  The profiler reads this and newer versions.  A thread's
 * samples of each event are a thread of the profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/digits.h"
#include "convert/thread_samples.h"
#include "formats/firefox_markers.h"
#include "formats/firefox_tables.h"
#include "formats/format_list.h"
#include "session/numbers.h"

#define VERSION       61
#define GECKO_VERSION 31
/* How many samples before they are taken memory is fetched. */
#define AHEAD 8U

struct firefox {
	struct convert *convert;
	struct json json;
	struct thread_samples threads;
	struct thread_markers markers;
	struct firefox_tables tables;
	uint64_t start;  /* ns of the event clock: time 0 */
	uint32_t *names; /* strings: of each event, and of times off the CPU behind them */
	uint32_t next_marker;
};

static bool has_tracepoints(const struct convert *convert)
{
	for (uint32_t i = 0; i < tally_data_event_count(convert->data); i++)
		if (tally_convert_has_event(convert, i) &&
		    tally_data_event(convert->data, i)->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

static int take_more(void *context, const struct sample_row *row)
{
	struct firefox *file = context;

	return tally_thread_markers_take(&file->markers, file->convert, row);
}

/* Nanoseconds as milliseconds, with all digits that there are. */
static void put_ms(struct json *json, uint64_t ns)
{
	char text[DIGITS_MOST + 1], *end = put_dec(text, ns / 1000000);

	*end++ = '.';
	end = put_dec_fixed(end, ns % 1000000, 6);
	json_raw(json, text, (size_t)(end - text));
}

/* --- meta --- */

static void put_category(struct json *json, const char *name, const char *colour)
{
	json_object(json);
	json_key_string(json, "name", name);
	json_key_string(json, "color", colour);
	json_key(json, "subcategories");
	json_array(json);
	json_text(json, "Other");
	json_array_end(json);
	json_object_end(json);
}

/* What the profiler shows of a kind of marker: one text. */
static void put_marker_schema(struct json *json, const char *name, const char *label)
{
	json_object(json);
	json_key_string(json, "name", name);
	json_key_string(json, "tooltipLabel", label);
	json_key_string(json, "tableLabel", "{marker.data.text}");
	json_key(json, "display");
	json_array(json);
	json_text(json, "marker-chart");
	json_text(json, "marker-table");
	json_array_end(json);
	json_key(json, "fields");
	json_array(json);
	json_object(json);
	json_key_string(json, "key", "text");
	json_key_string(json, "label", "Text");
	json_key_string(json, "format", "string");
	json_object_end(json);
	json_array_end(json);
	json_object_end(json);
}

struct facts {
	struct json *json;
	unsigned count;
};

static void put_fact(void *context, const char *line, size_t length)
{
	struct facts *facts = context;
	char label[16];

	snprintf(label, sizeof(label), "%u", ++facts->count);
	json_object(facts->json);
	json_key_string(facts->json, "label", label);
	json_key_string(facts->json, "format", "string");
	json_key(facts->json, "value");
	json_string(facts->json, line, length);
	json_object_end(facts->json);
}

static int put_extra(struct firefox *file)
{
	struct json *json = &file->json;
	struct facts facts = {.json = json};
	int result;

	json_key(json, "extra");
	json_array(json);
	json_object(json);
	json_key_string(json, "label", "Recording");
	json_key(json, "entries");
	json_array(json);
	result = tally_convert_facts(file->convert, put_fact, &facts);
	json_array_end(json);
	json_object_end(json);
	json_array_end(json);
	return result;
}

/* ns between two samples, as the first event that says it has it. */
static uint64_t interval_of(const struct firefox *file)
{
	for (uint32_t i = 0; i < file->threads.count; i++) {
		const struct thread_track *track = &file->threads.tracks[i];
		const struct tally_attr *attr =
		    &tally_data_event(file->convert->data, track->event)->attr;

		if (!strcmp(tally_convert_unit(file->convert, track->event), "nanoseconds") &&
		    track->samples[0].period)
			return track->samples[0].period;
		if (attr->freq && attr->sample_freq)
			return 1000000000 / attr->sample_freq;
	}
	return 1000000;
}

static void put_start(struct firefox *file)
{
	struct json *json = &file->json;
	int64_t offset, start = tally_data_info(file->convert->data)->modified * 1000000000;

	/* Without the clock's offset the time is that of the file. */
	if (tally_convert_wall_offset(file->convert, &offset))
		start = (int64_t)file->start + offset;
	json_key(json, "startTime");
	put_ms(json, start < 0 ? 0 : (uint64_t)start);
	json_key(json, "profilingStartTime");
	put_ms(json, 0);
	/* What is at the end itself is not shown. */
	json_key(json, "profilingEndTime");
	put_ms(json, file->threads.last_time - file->start + interval_of(file));
}

static int put_meta(struct firefox *file)
{
	const struct tally_data_info *info = tally_data_info(file->convert->data);
	struct json *json = &file->json;
	int result;

	json_key(json, "meta");
	json_object(json);
	json_key(json, "interval");
	put_ms(json, interval_of(file));
	put_start(file);
	json_key_u64(json, "processType", 0);
	json_key_string(json, "product", info->hostname ? info->hostname : "tally");
	json_key_string(json, "importedFrom", "tally");
	json_key_u64(json, "stackwalk", 1);
	json_key_u64(json, "version", GECKO_VERSION);
	json_key_u64(json, "preprocessedProfileVersion", VERSION);
	json_key_bool(json, "symbolicated", true);
	json_key_bool(json, "symbolicationNotSupported", true);
	json_key_bool(json, "usesOnlyOneStackType", true);
	json_key_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_key_bool(json, "keepProfileThreadOrder", true);
	if (info->os_release)
		json_key_string(json, "oscpu", info->os_release);
	if (info->cpu_desc)
		json_key_string(json, "CPUName", info->cpu_desc);
	if (info->cpus_online)
		json_key_u64(json, "logicalCPUs", info->cpus_online);
	json_key(json, "sampleUnits");
	json_object(json);
	json_key_string(json, "time", "ms");
	json_key_string(json, "eventDelay", "ms");
	json_key_string(json, "threadCPUDelta", "ns");
	json_object_end(json);
	json_key(json, "categories"); /* enum firefox_category */
	json_array(json);
	put_category(json, "Other", "grey");
	put_category(json, "User", "yellow");
	put_category(json, "Kernel", "orange");
	json_array_end(json);
	json_key(json, "markerSchema");
	json_array(json);
	put_marker_schema(json, "tally-tracepoint", "Tracepoint");
	put_marker_schema(json, "tally-off-cpu", "Off the CPU");
	json_array_end(json);
	result = put_extra(file);
	json_object_end(json);
	return result;
}

/* --- threads --- */

static int put_stacks(struct firefox *file, const struct thread_track *track)
{
	int result = 0;

	json_key(&file->json, "stack");
	json_array(&file->json);
	for (uint32_t i = 0; i < track->count && !result; i++) {
		int64_t row;

		if (i + 2 * AHEAD < track->count)
			firefox_tables_fetch(&file->tables, track->samples[i + 2 * AHEAD].node);
		if (i + AHEAD < track->count)
			firefox_tables_fetch_caller(&file->tables, track->samples[i + AHEAD].node);
		row = tally_firefox_tables_stack(&file->tables, track->samples[i].node);
		if (row > 0)
			json_u64(&file->json, (uint64_t)row - 1);
		else
			json_null(&file->json);
		result = row < 0 ? (int)row : convert_pour(file->convert);
	}
	json_array_end(&file->json);
	return result;
}

static int put_times(struct firefox *file, const struct thread_track *track)
{
	int result = 0;

	json_key(&file->json, "time");
	json_array(&file->json);
	for (uint32_t i = 0; i < track->count && !result; i++) {
		put_ms(&file->json, track->samples[i].time - file->start);
		result = convert_pour(file->convert);
	}
	json_array_end(&file->json);
	return result;
}

/* Periods; of a clock in ms, and as the time on a CPU since the last sample, too. */
static int put_weights(struct firefox *file, const struct thread_track *track)
{
	bool is_time = !strcmp(tally_convert_unit(file->convert, track->event), "nanoseconds");
	int result = 0;

	json_key_string(&file->json, "weightType", is_time ? "tracing-ms" : "samples");
	json_key(&file->json, "weight");
	json_array(&file->json);
	for (uint32_t i = 0; i < track->count && !result; i++) {
		if (is_time)
			put_ms(&file->json, track->samples[i].period);
		else
			json_u64(&file->json, track->samples[i].period);
		result = convert_pour(file->convert);
	}
	json_array_end(&file->json);
	if (!is_time)
		return result;
	json_key(&file->json, "threadCPUDelta");
	json_array(&file->json);
	for (uint32_t i = 0; i < track->count && !result; i++) {
		uint64_t since =
		    i ? track->samples[i].time - track->samples[i - 1].time : UINT64_MAX;
		uint64_t period = track->samples[i].period;

		json_u64(&file->json, period < since ? period : since);
		result = convert_pour(file->convert);
	}
	json_array_end(&file->json);
	return result;
}

static int put_samples(struct firefox *file, const struct thread_track *track)
{
	int result;

	json_key(&file->json, "samples");
	json_object(&file->json);
	result = put_stacks(file, track);
	if (!result)
		result = put_times(file, track);
	if (!result)
		result = put_weights(file, track);
	json_key_u64(&file->json, "length", track->count);
	json_object_end(&file->json);
	return result;
}

static void put_marker_data(struct firefox *file, const struct thread_marker *marker)
{
	const struct tally_strings *texts = &file->markers.texts;
	struct json *json = &file->json;

	json_object(json);
	if (marker->kind == MARKER_OFF_CPU) {
		json_key_string(json, "type", "tally-off-cpu");
		json_key_string(json, "text", marker->text ? "preempted" : "waits");
	} else {
		json_key_string(json, "type", "tally-tracepoint");
		json_key(json, "text");
		json_string(json, texts->text[marker->text], texts->length[marker->text]);
	}
	json_object_end(json);
}

/* Of a tracepoint an instant (phase 0), of a time off the CPU an interval (1). */
static int put_markers(struct firefox *file, const struct thread_marker *list, uint32_t count)
{
	uint32_t off_cpu = (uint32_t)tally_data_event_count(file->convert->data);
	struct json *json = &file->json;
	int result = 0;

	json_key(json, "markers");
	json_object(json);
	json_key(json, "data");
	json_array(json);
	for (uint32_t i = 0; i < count && !result; i++) {
		put_marker_data(file, &list[i]);
		result = convert_pour(file->convert);
	}
	json_array_end(json);
	json_key(json, "name");
	json_array(json);
	for (uint32_t i = 0; i < count; i++)
		json_u64(json,
			 file->names[list[i].kind == MARKER_OFF_CPU ? off_cpu : list[i].event]);
	json_array_end(json);
	json_key(json, "startTime");
	json_array(json);
	for (uint32_t i = 0; i < count; i++)
		put_ms(json, list[i].start - file->start);
	json_array_end(json);
	json_key(json, "endTime");
	json_array(json);
	for (uint32_t i = 0; i < count; i++)
		if (list[i].kind == MARKER_OFF_CPU)
			put_ms(json, list[i].end - file->start);
		else
			json_null(json);
	json_array_end(json);
	json_key(json, "phase");
	json_array(json);
	for (uint32_t i = 0; i < count; i++)
		json_u64(json, list[i].kind == MARKER_OFF_CPU);
	json_array_end(json);
	json_key(json, "category");
	json_array(json);
	for (uint32_t i = 0; i < count; i++)
		json_u64(json, FIREFOX_OTHER);
	json_array_end(json);
	json_key_u64(json, "length", count);
	json_object_end(json);
	return result ? result : convert_pour(file->convert);
}

/* Markers are in the first track of their thread. */
static int put_own_markers(struct firefox *file, const struct thread_track *track, bool first)
{
	const struct thread_marker *list = file->markers.list;
	uint32_t at = file->next_marker, count = 0;

	if (first) {
		while (at < file->markers.count &&
		       (list[at].pid < track->pid ||
			(list[at].pid == track->pid && list[at].tid < track->tid)))
			at++;
		while (at + count < file->markers.count && list[at + count].pid == track->pid &&
		       list[at + count].tid == track->tid)
			count++;
		file->next_marker = at + count;
	}
	return put_markers(file, list ? list + at : NULL, count);
}

static void put_id(struct json *json, const char *key, uint32_t number, bool text)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number == UINT32_MAX ? 0 : number);
	json_key(json, key);
	if (text)
		json_text(json, digits);
	else
		json_raw(json, digits, strlen(digits));
}

static int put_thread(struct firefox *file, uint32_t number, const char *process)
{
	const struct thread_track *track = &file->threads.tracks[number];
	bool first = !number || track[-1].pid != track->pid || track[-1].tid != track->tid;
	struct json *json = &file->json;
	struct tally_buf name = {0};
	int result;

	tally_buf_text(&name, track->comm);
	if (!first)
		tally_buf_printf(&name, " (%s)",
				 tally_data_event(file->convert->data, track->event)->name);
	json_object(json);
	json_key_string(json, "processType", "default");
	json_key(json, "processStartupTime");
	put_ms(json, 0);
	json_key(json, "processShutdownTime");
	json_null(json);
	json_key(json, "registerTime");
	put_ms(json, track->samples[0].time - file->start);
	json_key(json, "unregisterTime");
	json_null(json);
	json_key(json, "pausedRanges");
	json_array(json);
	json_array_end(json);
	json_key(json, "name");
	json_string(json, tally_buf_str(&name), name.size);
	json_key_string(json, "processName", process);
	json_key_bool(json, "isMainThread", track->pid == track->tid && first);
	put_id(json, "pid", track->pid, true);
	put_id(json, "tid", track->tid, false);
	json_key_bool(json, "showMarkersInTimeline", true);
	result = name.failed ? name.failed : put_samples(file, track);
	tally_buf_done(&name);
	if (!result)
		result = put_own_markers(file, track, first);
	json_object_end(json);
	return result;
}

/* A process is called what its main thread is, else what its first one is. */
static const char *process_name(const struct firefox *file, uint32_t number)
{
	const struct thread_track *tracks = file->threads.tracks;
	const char *name = tracks[number].comm;

	for (uint32_t i = number; i < file->threads.count && tracks[i].pid == tracks[number].pid;
	     i++)
		if (tracks[i].tid == tracks[i].pid)
			return tracks[i].comm;
	return name;
}

static int put_threads(struct firefox *file)
{
	const struct thread_track *tracks = file->threads.tracks;
	const char *process = "";
	int result = 0;

	json_key(&file->json, "threads");
	json_array(&file->json);
	for (uint32_t i = 0; i < file->threads.count && !result; i++) {
		if (!i || tracks[i].pid != tracks[i - 1].pid)
			process = process_name(file, i);
		result = put_thread(file, i, process);
	}
	json_array_end(&file->json);
	return result;
}

static int name_markers(struct firefox *file)
{
	size_t events = tally_data_event_count(file->convert->data);

	file->names = calloc(events + 1, sizeof(*file->names));
	if (!file->names)
		return -ENOMEM;
	for (size_t i = 0; i <= events; i++) {
		int64_t name = tally_firefox_tables_string(
		    &file->tables,
		    i < events ? tally_data_event(file->convert->data, i)->name : "off CPU");

		if (name < 0)
			return -ENOMEM;
		file->names[i] = (uint32_t)name;
	}
	return 0;
}

/* Threads first, as they say which stacks there are. */
static int put_profile(struct firefox *file)
{
	int result;

	file->start = file->threads.first_time;
	result = tally_thread_markers_finish(&file->markers, file->convert, file->start,
					     file->threads.last_time);
	if (!result)
		result =
		    tally_firefox_tables_init(&file->tables, file->convert, &file->threads.stacks);
	if (!result)
		result = name_markers(file);
	json_object(&file->json);
	if (!result)
		result = put_meta(file);
	if (!result)
		result = put_threads(file);
	if (!result)
		result = tally_firefox_tables_write(&file->tables, &file->json);
	json_object_end(&file->json);
	tally_buf_byte(&file->convert->text, '\n');
	return result;
}

static int write_firefox(struct convert *convert)
{
	struct firefox file = {
	    .convert = convert,
	    .json = {.to = &convert->text},
	    .threads = {.by_event = true, .columns = TALLY_COLUMN_SAMPLE},
	};
	int result;

	file.threads.context = &file;
	if (has_tracepoints(convert))
		file.threads.more = take_more;
	result = tally_thread_markers_init(&file.markers, convert);
	if (!result)
		result = tally_thread_samples_make(convert, &file.threads);
	if (!result)
		result = put_profile(&file);
	tally_firefox_tables_done(&file.tables);
	tally_thread_markers_done(&file.markers);
	tally_thread_samples_done(&file.threads);
	free(file.names);
	return result;
}

const struct export_format tally_export_format_firefox = {
    .name = "firefox",
    .help = "a profile for profiler.firefox.com",
    .places = true,
    .write = write_firefox,
};
