/* A file for speedscope.app: sums of stacks, or stacks over time.
 *
 * Source: file-format-schema.json of speedscope 1.25.  A profile is a thread's samples of one
 * event: "sampled" ones have a weight each, the sum of periods; "evented" ones open and close
 * frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "convert/frame_lines.h"
#include "convert/sample_sums.h"
#include "convert/thread_samples.h"
#include "formats/format_list.h"
#include "session/numbers.h"

struct speedscope {
	struct convert *convert;
	struct json json;
	const struct stack_table *stacks;
	uint32_t *path, *last; /* frames of stacks, outermost first */
	uint32_t room, depth;
};

/* "comm 12/13, cycles". */
static void put_name(struct speedscope *file, const char *comm, uint32_t pid, uint32_t tid,
		     uint32_t event)
{
	struct tally_buf name = {0};

	tally_buf_text(&name, comm ? comm : "");
	if (pid != UINT32_MAX)
		tally_buf_printf(&name, " %u/%u", pid, tid);
	tally_buf_printf(&name, ", %s", tally_data_event(file->convert->data, event)->name);
	json_key(&file->json, "name");
	json_string(&file->json, tally_buf_str(&name), name.size);
	if (name.failed)
		file->convert->text.failed = name.failed;
	tally_buf_done(&name);
}

static int put_frames(struct speedscope *file)
{
	struct convert *convert = file->convert;
	struct json *json = &file->json;
	struct tally_buf label = {0};
	struct frame_line *lines;
	int result = tally_frame_lines_make(convert, file->stacks, &lines);

	if (result)
		return result;
	json_key(json, "shared");
	json_object(json);
	json_key(json, "frames");
	json_array(json);
	for (uint32_t i = 1; i < file->stacks->frame_count && !result; i++) {
		const struct tally_frame frame =
		    tally_session_frame(convert->session, file->stacks->frames[i]);

		tally_buf_clear(&label);
		tally_convert_frame_label(&frame, &label);
		json_object(json);
		json_key(json, "name");
		json_string(json, tally_buf_str(&label), label.size);
		/* Without its source a function is apart from others of its name by its binary. */
		json_key_string(json, "file", lines[i].file ? lines[i].file : frame.image_path);
		if (lines[i].line)
			json_key_u64(json, "line", lines[i].line);
		json_object_end(json);
		result = label.failed ? label.failed : convert_pour(convert);
	}
	json_array_end(json);
	json_object_end(json);
	tally_buf_done(&label);
	free(lines);
	return result;
}

/* The frames of a stack into file->path.  Their count; below 0: out of memory. */
static int64_t find_path(struct speedscope *file, uint32_t node)
{
	uint32_t depth = 0;

	for (uint32_t at = node; at; at = file->stacks->nodes[at].caller)
		depth++;
	if (depth > file->room) {
		uint32_t room = array_room(file->room, depth, 256);

		if (!array_resize(&file->path, room, sizeof(*file->path)) ||
		    !array_resize(&file->last, room, sizeof(*file->last)))
			return -ENOMEM;
		file->room = room;
	}
	for (uint32_t i = depth; i-- > 0; node = file->stacks->nodes[node].caller)
		file->path[i] = file->stacks->nodes[node].frame - 1;
	return depth;
}

static void begin_profile(struct speedscope *file, const char *type, uint32_t event, uint64_t end)
{
	const char *unit = tally_convert_unit(file->convert, event);

	json_key_string(&file->json, "type", type);
	json_key_string(&file->json, "unit",
			!strcmp(type, "evented") ? "nanoseconds"
			: strcmp(unit, "count")  ? unit
						 : "none");
	json_key_u64(&file->json, "startValue", 0);
	json_key_u64(&file->json, "endValue", end);
}

/* The sums from one on that have one context; *at is behind them. */
static int put_sampled(struct speedscope *file, const struct sample_sums *sums, uint32_t *at)
{
	const uint32_t first = *at, number = sums->list[first].context;
	const struct sum_context *context = &sums->contexts[number];
	struct json *json = &file->json;
	uint64_t total = 0;
	int result = 0;

	while (*at < sums->count && sums->list[*at].context == number)
		total += sums->list[(*at)++].period;
	json_object(json);
	put_name(file, context->comm, context->pid, context->tid, context->event);
	begin_profile(file, "sampled", context->event, total);
	json_key(json, "samples");
	json_array(json);
	for (uint32_t i = first; i < *at && !result; i++) {
		int64_t depth = find_path(file, sums->list[i].node);

		json_array(json);
		for (int64_t step = 0; step < depth; step++)
			json_u64(json, file->path[step]);
		json_array_end(json);
		result = depth < 0 ? (int)depth : convert_pour(file->convert);
	}
	json_array_end(json);
	json_key(json, "weights");
	json_array(json);
	for (uint32_t i = first; i < *at && !result; i++) {
		json_u64(json, sums->list[i].period);
		result = convert_pour(file->convert);
	}
	json_array_end(json);
	json_object_end(json);
	return result;
}

static int write_sampled(struct speedscope *file)
{
	struct sample_sums sums;
	int result = tally_sample_sums_make(file->convert, SUMS_BY_COMM | SUMS_BY_THREAD, &sums);

	file->stacks = &sums.stacks;
	if (!result)
		result = put_frames(file);
	json_key(&file->json, "profiles");
	json_array(&file->json);
	for (uint32_t at = 0; at < sums.count && !result;)
		result = put_sampled(file, &sums, &at);
	json_array_end(&file->json);
	tally_sample_sums_done(&sums);
	file->stacks = NULL;
	return result;
}

static void put_event(struct speedscope *file, const char *type, uint32_t frame, uint64_t at)
{
	json_object(&file->json);
	json_key_string(&file->json, "type", type);
	json_key_u64(&file->json, "frame", frame);
	json_key_u64(&file->json, "at", at);
	json_object_end(&file->json);
}

/* Closes the frames of the last stack from the innermost on until `keep` are left. */
static void close_frames(struct speedscope *file, uint32_t keep, uint64_t at)
{
	while (file->depth > keep)
		put_event(file, "C", file->last[--file->depth], at);
}

static int put_change(struct speedscope *file, uint32_t node, uint64_t at)
{
	int64_t depth = find_path(file, node);
	uint32_t equal = 0;

	if (depth < 0)
		return (int)depth;
	while (equal < file->depth && equal < depth && file->last[equal] == file->path[equal])
		equal++;
	close_frames(file, equal, at);
	for (; equal < depth; equal++) {
		put_event(file, "O", file->path[equal], at);
		file->last[file->depth++] = file->path[equal];
	}
	return convert_pour(file->convert);
}

static int put_evented(struct speedscope *file, const struct thread_samples *threads,
		       const struct thread_track *track)
{
	const struct thread_sample *last = &track->samples[track->count - 1];
	uint64_t end = last->time + tally_thread_sample_length(threads, track, track->count - 1) -
		       threads->first_time;
	int result = 0;

	json_object(&file->json);
	put_name(file, track->comm, track->pid, track->tid, track->event);
	begin_profile(file, "evented", track->event, end);
	json_key(&file->json, "events");
	json_array(&file->json);
	for (uint32_t i = 0; i < track->count && !result; i++) {
		uint64_t from = track->samples[i].time - threads->first_time;
		uint64_t length = tally_thread_sample_length(threads, track, i);

		result = put_change(file, track->samples[i].node, from);
		if (i + 1 == track->count ||
		    track->samples[i + 1].time - track->samples[i].time > length)
			close_frames(file, 0, from + length);
	}
	json_array_end(&file->json);
	json_object_end(&file->json);
	return result;
}

static int write_evented(struct speedscope *file)
{
	struct thread_samples threads = {.by_event = true};
	int result = tally_thread_samples_make(file->convert, &threads);

	file->stacks = &threads.stacks;
	if (!result)
		result = put_frames(file);
	json_key(&file->json, "profiles");
	json_array(&file->json);
	for (uint32_t i = 0; i < threads.count && !result; i++)
		result = put_evented(file, &threads, &threads.tracks[i]);
	json_array_end(&file->json);
	tally_thread_samples_done(&threads);
	file->stacks = NULL;
	return result;
}

/* The facts in one line, which is all that the format has a place for. */
static void add_fact(void *context, const char *line, size_t length)
{
	struct tally_buf *name = context;

	if (name->size)
		tally_buf_text(name, "; ");
	tally_buf_add(name, line, length);
}

static int write_speedscope(struct convert *convert)
{
	struct speedscope file = {.convert = convert, .json = {.to = &convert->text}};
	struct tally_buf name = {0};
	int result;

	json_object(&file.json);
	json_key_string(&file.json, "$schema",
			"https://www.speedscope.app/file-format-schema.json");
	json_key_string(&file.json, "exporter", "tally@" TALLY_VERSION);
	result = convert->options.evented ? write_evented(&file) : write_sampled(&file);
	if (!result)
		result = tally_convert_facts(convert, add_fact, &name);
	if (!result)
		result = name.failed;
	json_key(&file.json, "name");
	json_string(&file.json, tally_buf_str(&name), name.size);
	json_object_end(&file.json);
	tally_buf_byte(&convert->text, '\n');
	tally_buf_done(&name);
	free(file.path);
	free(file.last);
	return result;
}

const struct export_format tally_export_format_speedscope = {
    .name = "speedscope",
    .help = "JSON for speedscope.app",
    .write = write_speedscope,
};
