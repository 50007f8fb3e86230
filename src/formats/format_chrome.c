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
#include "base/pool.h"
#include "base/table.h"
#include "convert/thread_samples.h"
#include "formats/format_list.h"
#include "session/numbers.h"
#include "session/run.h"

/* Samples of a piece, at most: some 100 KB of text. */
#define PIECE 512U
/* When a slice began that was on the stack before the piece: not known until it is written. */
#define BEFORE UINT64_MAX

/* A frame that is on the stack. */
struct slice {
	uint32_t frame; /* of the stacks */
	uint64_t since, samples, period;
};

/* Samples of a track, of which a thread makes the text. */
struct piece {
	uint32_t track, from, until;
};

/* A slice that began before the piece and ends in it. */
struct late_slice {
	struct slice slice;
	uint32_t depth;
	uint64_t end;
	size_t at; /* its place in the text */
};

struct chrome_worker {
	const struct chrome *file;
	const struct thread_track *track;
	struct tally_buf text;
	struct json json;
	uint32_t *path; /* outermost first */
	struct slice *open;
	uint32_t room, depth;
	struct late_slice *late;
	uint32_t late_count, late_room;
} __attribute__((aligned(TABLE_APART)));

struct chrome {
	struct convert *convert;
	struct json json;
	struct thread_samples threads;
	struct tally_strings names;
	uint32_t *name_of; /* by frame of the stacks */
	uint32_t event;    /* that slices are made of; UINT32_MAX: none */
	struct piece *pieces;
	uint32_t piece_count, piece_room;
	struct chrome_worker *workers;
	struct slice *open; /* what is on the stack behind the text that was written */
	uint32_t room;
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

/* --- what a piece consists of --- */

/* Microseconds, with all digits that there are. */
static void put_time(struct json *json, const char *key, uint64_t ns)
{
	char text[DIGITS_MOST + 1], *end = put_dec(text, ns / 1000);

	*end++ = '.';
	end = put_dec_fixed(end, ns % 1000, 3);
	json_key(json, key);
	json_raw(json, text, (size_t)(end - text));
}

static void put_name(const struct chrome *file, struct json *json, uint32_t frame)
{
	uint32_t name = file->name_of[frame];

	json_string(json, file->names.text[name], file->names.length[name]);
}

static void put_thread(struct json *json, const struct thread_track *track)
{
	json_key_u64(json, "pid", track->pid == UINT32_MAX ? 0 : track->pid);
	json_key_u64(json, "tid", track->tid == UINT32_MAX ? 0 : track->tid);
}

/* "M": what a thread, and its process, is called. */
static void put_thread_name(struct json *json, const struct thread_track *track, const char *what)
{
	json_object(json);
	json_key_string(json, "ph", "M");
	json_key_string(json, "name", what);
	put_thread(json, track);
	json_key(json, "args");
	json_object(json);
	json_key_string(json, "name", track->comm);
	json_object_end(json);
	json_object_end(json);
}

static void put_slice(const struct chrome *file, struct json *json,
		      const struct thread_track *track, const struct slice *slice, uint64_t end)
{
	json_object(json);
	json_key_string(json, "ph", "X");
	json_key(json, "name");
	put_name(file, json, slice->frame);
	put_thread(json, track);
	put_time(json, "ts", slice->since - file->threads.first_time);
	put_time(json, "dur", end - slice->since);
	if (slice->samples) {
		json_key(json, "args");
		json_object(json);
		json_key_u64(json, "samples", slice->samples);
		json_key_u64(json, "period", slice->period);
		json_object_end(json);
	}
	json_object_end(json);
}

static int close_slices(struct chrome_worker *worker, uint32_t keep, uint64_t end)
{
	while (worker->depth > keep) {
		const struct slice *slice = &worker->open[--worker->depth];

		if (slice->since != BEFORE) {
			put_slice(worker->file, &worker->json, worker->track, slice, end);
			continue;
		}
		if (!array_reach(&worker->late, &worker->late_room, worker->late_count, 64,
				 sizeof(*worker->late)))
			return -ENOMEM;
		worker->late[worker->late_count++] =
		    (struct late_slice){*slice, worker->depth, end, worker->text.size};
	}
	return 0;
}

/* The frames of a sample, to the path.  0 or -ENOMEM. */
static int find_path(struct chrome_worker *worker, const struct thread_sample *sample,
		     uint32_t *ret_depth)
{
	const struct stack_node *nodes = worker->file->threads.stacks.nodes;
	uint32_t depth = 0, room;

	for (uint32_t at = sample->node; at; at = nodes[at].caller)
		depth++;
	room = array_room(worker->room, depth, 256);
	if (room != worker->room && (!array_resize(&worker->path, room, sizeof(*worker->path)) ||
				     !array_resize(&worker->open, room, sizeof(*worker->open))))
		return -ENOMEM;
	worker->room = room;
	*ret_depth = depth;
	for (uint32_t at = sample->node; at; at = nodes[at].caller)
		worker->path[--depth] = nodes[at].frame;
	return 0;
}

static int put_slices(struct chrome_worker *worker, const struct thread_sample *sample)
{
	uint32_t depth = 0, equal = 0;
	struct slice *innermost;
	int result = find_path(worker, sample, &depth);

	if (result)
		return result;
	while (equal < worker->depth && equal < depth &&
	       worker->open[equal].frame == worker->path[equal])
		equal++;
	result = close_slices(worker, equal, sample->time);
	for (; equal < depth; equal++)
		worker->open[worker->depth++] =
		    (struct slice){.frame = worker->path[equal], .since = sample->time};
	if (!depth)
		return result;
	innermost = &worker->open[depth - 1];
	innermost->samples++;
	innermost->period += sample->period;
	return result;
}

static void put_instant(struct chrome_worker *worker, const struct thread_sample *sample)
{
	const struct chrome *file = worker->file;
	struct json *json = &worker->json;

	json_object(json);
	json_key_string(json, "ph", "i");
	json_key_string(json, "s", "t");
	json_key_string(json, "name",
			tally_data_event(file->convert->data, worker->track->event)->name);
	put_thread(json, worker->track);
	put_time(json, "ts", sample->time - file->threads.first_time);
	json_key(json, "args");
	json_object(json);
	json_key_u64(json, "period", sample->period);
	if (sample->node) {
		json_key(json, "function");
		put_name(file, json, file->threads.stacks.nodes[sample->node].frame);
	}
	json_object_end(json);
	json_object_end(json);
}

/* --- pieces, each by one thread --- */

/* Whether the slices of a sample end with it, and when. */
static bool ends(const struct chrome_worker *worker, uint32_t number, uint64_t *ret_end)
{
	const struct thread_track *track = worker->track;
	uint64_t length = tally_thread_sample_length(&worker->file->threads, track, number);
	uint64_t since = track->samples[number].time;

	*ret_end = since + length;
	return number + 1 == track->count || track->samples[number + 1].time - since > length;
}

/* What is on the stack at the start.  0 or -ENOMEM. */
static int begin_slices(struct chrome_worker *worker, uint32_t from)
{
	uint64_t end;
	int result;

	worker->depth = 0;
	if (!from || ends(worker, from - 1, &end))
		return 0;
	result = find_path(worker, &worker->track->samples[from - 1], &worker->depth);
	for (uint32_t i = 0; i < worker->depth && !result; i++)
		worker->open[i] = (struct slice){.frame = worker->path[i], .since = BEFORE};
	return result;
}

static int make_piece(void *context, unsigned number, size_t at)
{
	const struct chrome *file = context;
	struct chrome_worker *worker = &file->workers[number];
	const struct piece *piece = &file->pieces[at];
	bool slices;
	int result = 0;

	worker->file = file;
	worker->track = &file->threads.tracks[piece->track];
	worker->late_count = 0;
	worker->json = (struct json){.to = &worker->text, .comma = at != 0};
	tally_buf_clear(&worker->text);
	if (!piece->from) {
		put_thread_name(&worker->json, worker->track, "thread_name");
		if (worker->track->pid == worker->track->tid)
			put_thread_name(&worker->json, worker->track, "process_name");
	}
	slices = worker->track->event == file->event;
	if (slices)
		result = begin_slices(worker, piece->from);
	for (uint32_t i = piece->from; i < piece->until && !result; i++) {
		const struct thread_sample *sample = &worker->track->samples[i];
		uint64_t end;

		if (!slices) {
			put_instant(worker, sample);
			continue;
		}
		result = put_slices(worker, sample);
		if (!result && ends(worker, i, &end))
			result = close_slices(worker, 0, end);
	}
	return result ? result : worker->text.failed;
}

/* What is on the stack behind a piece, for the next one.  0 or -ENOMEM. */
static int keep_open(struct chrome *file, const struct chrome_worker *worker)
{
	if (!array_reach(&file->open, &file->room, worker->depth, 256, sizeof(*file->open)))
		return -ENOMEM;
	for (uint32_t i = 0; i < worker->depth; i++) {
		const struct slice *slice = &worker->open[i];

		if (slice->since == BEFORE) {
			file->open[i].samples += slice->samples;
			file->open[i].period += slice->period;
		} else {
			file->open[i] = *slice;
		}
	}
	return 0;
}

static int take_piece(void *context, unsigned number, size_t at)
{
	struct chrome *file = context;
	const struct chrome_worker *worker = &file->workers[number];
	struct tally_buf *to = &file->convert->text;
	size_t from = 0;
	int result;

	(void)at;
	for (uint32_t i = 0; i < worker->late_count; i++) {
		const struct late_slice *late = &worker->late[i];
		struct slice slice = file->open[late->depth];

		tally_buf_add(to, worker->text.data + from, late->at - from);
		from = late->at;
		slice.samples += late->slice.samples;
		slice.period += late->slice.period;
		put_slice(file, &file->json, worker->track, &slice, late->end);
	}
	tally_buf_add(to, worker->text.data + from, worker->text.size - from);
	file->json.comma = true;
	result = keep_open(file, worker);
	return result ? result : convert_pour(file->convert);
}

static int find_pieces(struct chrome *file)
{
	for (uint32_t i = 0; i < file->threads.count; i++)
		for (uint32_t from = 0, count = file->threads.tracks[i].count; from < count;
		     from += PIECE) {
			if (!array_reach(&file->pieces, &file->piece_room, file->piece_count, 1024,
					 sizeof(*file->pieces)))
				return -ENOMEM;
			file->pieces[file->piece_count++] =
			    (struct piece){i, from, count - from > PIECE ? from + PIECE : count};
		}
	return 0;
}

static int put_pieces(struct chrome *file)
{
	unsigned workers = tally_session_threads(file->convert->session);
	int result = find_pieces(file);

	file->workers = table_apart(workers, sizeof(*file->workers));
	if (result || !file->workers)
		return -ENOMEM;
	result = tally_pool_run_in_turn(workers, file->piece_count, make_piece, take_piece, file);
	for (unsigned i = 0; i < workers; i++) {
		tally_buf_done(&file->workers[i].text);
		free(file->workers[i].path);
		free(file->workers[i].open);
		free(file->workers[i].late);
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
	int result = make_names(file);

	file->event = choose_event(file);
	json_key(&file->json, "traceEvents");
	json_array(&file->json);
	if (!result)
		result = put_pieces(file);
	json_array_end(&file->json);
	if (!result && file->event != UINT32_MAX)
		json_key_string(&file->json, "slicesOf",
				tally_data_event(file->convert->data, file->event)->name);
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
	free(file.pieces);
	free(file.workers);
	free(file.open);
	return result;
}

const struct export_format tally_export_format_chrome = {
    .name = "chrome",
    .help = "a time line in JSON for chrome://tracing, Perfetto and others",
    .write = write_chrome,
};
