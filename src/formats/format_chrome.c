/* The Trace Event Format of Chrome, in JSON: a time line of each thread, for chrome://tracing,
 * Perfetto and speedscope.
 *
 * Source: the "Trace Event Format" document.  Samples of the first event become slices ("X"), one
 * for each frame that stays on the stack from sample to sample.  The innermost frame's slices hold
 * the sums: "samples" and "period", of which there are none elsewhere.  Samples of other events are
 * instants ("i") with their period and function. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/digits.h"
#include "base/table.h"
#include "convert/thread_samples.h"
#include "formats/format_list.h"
#include "session/numbers.h"

/* A frame that is on the stack. */
struct slice {
	uint32_t frame; /* of the stacks */
	uint64_t since, samples, period;
};

struct chrome {
	struct convert *convert;
	struct json json;
	struct thread_samples threads;
	struct tally_strings names;
	uint32_t *name_of; /* by frame of the stacks */
	uint32_t *path;    /* outermost first */
	struct slice *open;
	uint32_t room, depth;
};

static int make_names(struct chrome *file)
{
	const struct stack_table *stacks = &file->threads.stacks;
	struct tally_buf label = {0};
	int64_t number = 0;

	file->name_of = calloc(stacks->frame_count + 1ULL, sizeof(*file->name_of));
	if (!file->name_of)
		return -ENOMEM;
	for (uint32_t i = 1; i < stacks->frame_count && number >= 0; i++) {
		const struct tally_frame frame =
		    tally_session_frame(file->convert->session, stacks->frames[i]);

		tally_buf_clear(&label);
		tally_convert_frame_label(&frame, &label);
		number = label.failed ? label.failed
				      : tally_strings_intern(&file->names, tally_buf_str(&label),
							     label.size);
		file->name_of[i] = number < 0 ? 0 : (uint32_t)number;
	}
	tally_buf_done(&label);
	return number < 0 ? -ENOMEM : 0;
}

/* Microseconds, with all digits that there are. */
static void put_time(struct chrome *file, const char *key, uint64_t ns)
{
	char text[DIGITS_MOST + 1], *end = put_dec(text, ns / 1000);

	*end++ = '.';
	end = put_dec_fixed(end, ns % 1000, 3);
	json_key(&file->json, key);
	json_raw(&file->json, text, (size_t)(end - text));
}

static void put_name(struct chrome *file, uint32_t frame)
{
	uint32_t name = file->name_of[frame];

	json_string(&file->json, file->names.text[name], file->names.length[name]);
}

static void put_thread(struct chrome *file, const struct thread_track *track)
{
	json_key_u64(&file->json, "pid", track->pid == UINT32_MAX ? 0 : track->pid);
	json_key_u64(&file->json, "tid", track->tid == UINT32_MAX ? 0 : track->tid);
}

/* "M": what a thread, and its process, is called. */
static void put_thread_name(struct chrome *file, const struct thread_track *track, const char *what)
{
	struct json *json = &file->json;

	json_object(json);
	json_key_string(json, "ph", "M");
	json_key_string(json, "name", what);
	put_thread(file, track);
	json_key(json, "args");
	json_object(json);
	json_key_string(json, "name", track->comm);
	json_object_end(json);
	json_object_end(json);
}

static void close_slices(struct chrome *file, const struct thread_track *track, uint32_t keep,
			 uint64_t at)
{
	struct json *json = &file->json;

	while (file->depth > keep) {
		const struct slice *slice = &file->open[--file->depth];

		json_object(json);
		json_key_string(json, "ph", "X");
		json_key(json, "name");
		put_name(file, slice->frame);
		put_thread(file, track);
		put_time(file, "ts", slice->since - file->threads.first_time);
		put_time(file, "dur", at - slice->since);
		if (slice->samples) {
			json_key(json, "args");
			json_object(json);
			json_key_u64(json, "samples", slice->samples);
			json_key_u64(json, "period", slice->period);
			json_object_end(json);
		}
		json_object_end(json);
	}
}

static int make_room(struct chrome *file, uint32_t depth)
{
	uint32_t room = array_room(file->room, depth, 256);

	if (depth <= file->room)
		return 0;
	if (!array_resize(&file->path, room, sizeof(*file->path)) ||
	    !array_resize(&file->open, room, sizeof(*file->open)))
		return -ENOMEM;
	file->room = room;
	return 0;
}

static int put_slices(struct chrome *file, const struct thread_track *track,
		      const struct thread_sample *sample)
{
	const struct stack_node *nodes = file->threads.stacks.nodes;
	uint32_t depth = 0, equal = 0;
	struct slice *innermost;

	for (uint32_t at = sample->node; at; at = nodes[at].caller)
		depth++;
	if (make_room(file, depth))
		return -ENOMEM;
	for (uint32_t i = depth, at = sample->node; i-- > 0; at = nodes[at].caller)
		file->path[i] = nodes[at].frame;
	while (equal < file->depth && equal < depth && file->open[equal].frame == file->path[equal])
		equal++;
	close_slices(file, track, equal, sample->time);
	for (; equal < depth; equal++)
		file->open[file->depth++] =
		    (struct slice){.frame = file->path[equal], .since = sample->time};
	if (!depth)
		return 0;
	innermost = &file->open[depth - 1];
	innermost->samples++;
	innermost->period += sample->period;
	return 0;
}

static void put_instant(struct chrome *file, const struct thread_track *track,
			const struct thread_sample *sample)
{
	struct json *json = &file->json;

	json_object(json);
	json_key_string(json, "ph", "i");
	json_key_string(json, "s", "t");
	json_key_string(json, "name", tally_data_event(file->convert->data, track->event)->name);
	put_thread(file, track);
	put_time(file, "ts", sample->time - file->threads.first_time);
	json_key(json, "args");
	json_object(json);
	json_key_u64(json, "period", sample->period);
	if (sample->node) {
		json_key(json, "function");
		put_name(file, file->threads.stacks.nodes[sample->node].frame);
	}
	json_object_end(json);
	json_object_end(json);
}

static int put_track(struct chrome *file, const struct thread_track *track, bool slices)
{
	int result = 0;

	put_thread_name(file, track, "thread_name");
	if (track->pid == track->tid)
		put_thread_name(file, track, "process_name");
	for (uint32_t i = 0; i < track->count && !result; i++) {
		const struct thread_sample *sample = &track->samples[i];
		uint64_t length = tally_thread_sample_length(&file->threads, track, i);

		if (!slices)
			put_instant(file, track, sample);
		else
			result = put_slices(file, track, sample);
		if (slices &&
		    (i + 1 == track->count || track->samples[i + 1].time - sample->time > length))
			close_slices(file, track, 0, sample->time + length);
		if (!result)
			result = convert_pour(file->convert);
	}
	return result;
}

/* The event that slices are made of: the first one that is not a tracepoint, if there is one. */
static uint32_t choose_event(const struct chrome *file)
{
	uint32_t best = UINT32_MAX;
	bool best_traces = true;

	for (uint32_t i = 0; i < file->threads.count; i++) {
		uint32_t event = file->threads.tracks[i].event;
		bool traces =
		    tally_data_event(file->convert->data, event)->attr.type == PERF_TYPE_TRACEPOINT;

		if (best == UINT32_MAX || (best_traces && !traces) ||
		    (best_traces == traces && event < best)) {
			best = event;
			best_traces = traces;
		}
	}
	return best;
}

struct facts {
	struct chrome *file;
	unsigned count;
};

static void put_fact(void *context, const char *line, size_t length)
{
	struct facts *facts = context;
	char key[16];

	snprintf(key, sizeof(key), "fact%u", ++facts->count);
	json_key(&facts->file->json, key);
	json_string(&facts->file->json, line, length);
}

static int put_tracks(struct chrome *file)
{
	uint32_t event = choose_event(file);
	int result = make_names(file);

	json_key(&file->json, "traceEvents");
	json_array(&file->json);
	for (uint32_t i = 0; i < file->threads.count && !result; i++)
		result = put_track(file, &file->threads.tracks[i],
				   file->threads.tracks[i].event == event);
	json_array_end(&file->json);
	if (!result && event != UINT32_MAX)
		json_key_string(&file->json, "slicesOf",
				tally_data_event(file->convert->data, event)->name);
	return result;
}

static int write_chrome(struct convert *convert)
{
	struct chrome file = {
	    .convert = convert, .json = {.to = &convert->text}, .threads.by_event = true};
	struct facts facts = {.file = &file};
	int result = tally_thread_samples_make(convert, &file.threads);

	json_object(&file.json);
	json_key_string(&file.json, "displayTimeUnit", "ns");
	if (!result)
		result = put_tracks(&file);
	json_key(&file.json, "otherData");
	json_object(&file.json);
	if (!result)
		result = tally_convert_facts(convert, put_fact, &facts);
	json_object_end(&file.json);
	json_object_end(&file.json);
	tally_buf_byte(&convert->text, '\n');
	tally_thread_samples_done(&file.threads);
	tally_strings_done(&file.names);
	free(file.name_of);
	free(file.path);
	free(file.open);
	return result;
}

const struct export_format tally_export_format_chrome = {
    .name = "chrome",
    .help = "a time line in JSON for chrome://tracing, Perfetto and others",
    .write = write_chrome,
};
