/* A line for each sample, as RFC 4180 has them: a header, commas, and quotes around what has
 * commas, quotes or line ends in it.  The last column is the stack, outermost frame first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/digits.h"
#include "base/map.h"
#include "base/table.h"
#include "base/text.h"
#include "convert/sample_rows.h"
#include "formats/format_list.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

/* What a thread that makes lines has: its texts of frames, and room for its work. */
struct csv_worker {
	struct tally_buf cell, name;
	struct tally_strings names;
	struct csv_name {
		uint32_t text;  /* within a stack, + 1; 0: not met */
		uint32_t cells; /* of symbol and dso, + 1; 0: not met */
		bool quoted;
	} * name_of; /* by frame of the session */
	uint32_t *path;
	uint32_t room, name_room;
} __attribute__((aligned(TABLE_APART)));

struct csv {
	struct convert *convert;
	const struct tally_stacks *stacks;
	struct csv_worker *workers;
	unsigned worker_count;
};

static bool needs_quotes(const char *text)
{
	return text[strcspn(text, ",\"\r\n")] != 0;
}

/* The cell so far, quoted if it must be. */
static void end_cell(struct tally_buf *cell, struct tally_buf *to)
{
	const char *text = tally_buf_str(cell);

	if (cell->failed) {
		to->failed = cell->failed;
	} else if (!needs_quotes(text)) {
		tally_buf_add(to, text, cell->size);
	} else {
		buf_byte(to, '"');
		for (; *text; text++) {
			if (*text == '"')
				buf_byte(to, '"');
			buf_byte(to, *text);
		}
		buf_byte(to, '"');
	}
	tally_buf_clear(cell);
	buf_byte(to, ',');
}

static void put_text(struct csv_worker *worker, const char *text, struct tally_buf *to)
{
	tally_text_add_escaped(&worker->cell, text, strlen(text));
	end_cell(&worker->cell, to);
}

static void put_number(uint64_t number, bool known, struct tally_buf *to)
{
	if (known)
		buf_dec(to, number);
	buf_byte(to, ',');
}

/* The name of a frame within a stack, where semicolons separate them.  0 or -ENOMEM. */
static int make_name(struct csv *csv, struct csv_worker *worker, uint32_t number)
{
	const struct tally_frame frame = tally_session_frame(csv->convert->session, number);
	struct tally_buf label = {0};
	int64_t name = -ENOMEM;

	tally_convert_frame_label(&frame, &label);
	for (size_t i = 0; i < label.size; i++)
		if (label.data[i] == ';')
			label.data[i] = ':';
	tally_buf_clear(&worker->name);
	tally_text_add_escaped(&worker->name, tally_buf_str(&label), label.size);
	if (!label.failed && !worker->name.failed)
		name = tally_strings_intern(&worker->names, tally_buf_str(&worker->name),
					    worker->name.size);
	tally_buf_done(&label);
	if (name < 0)
		return -ENOMEM;
	worker->name_of[number].text = (uint32_t)name + 1;
	worker->name_of[number].quoted = needs_quotes(worker->names.text[name]);
	return 0;
}

static bool reach_frame(struct csv_worker *worker, uint32_t number)
{
	return array_reach(&worker->name_of, &worker->name_room, number, 1024,
			   sizeof(*worker->name_of));
}

/* The cells symbol and dso of a frame. */
static int put_cells(struct csv *csv, struct csv_worker *worker, uint32_t number,
		     struct tally_buf *to)
{
	uint32_t *cells;
	int64_t made;

	if (!reach_frame(worker, number))
		return -ENOMEM;
	cells = &worker->name_of[number].cells;
	if (!*cells) {
		const struct tally_frame frame = tally_session_frame(csv->convert->session, number);
		struct tally_buf text = {0};

		tally_buf_clear(&worker->name);
		tally_convert_frame_name(&frame, &worker->name);
		put_text(worker, tally_buf_str(&worker->name), &text);
		put_text(worker, frame.image_path ? frame.image_path : "[unknown]", &text);
		made = text.failed || worker->name.failed
			   ? -ENOMEM
			   : tally_strings_intern(&worker->names, tally_buf_str(&text), text.size);
		tally_buf_done(&text);
		if (made < 0)
			return -ENOMEM;
		*cells = (uint32_t)made + 1;
	}
	tally_buf_add(to, worker->names.text[*cells - 1], worker->names.length[*cells - 1]);
	return 0;
}

/* The frames of a stack, innermost first, to the worker's path; ret: whether the cell must be
 * quoted, and its length.  0 or -ENOMEM. */
static int find_path(struct csv *csv, struct csv_worker *worker, uint32_t stack,
		     uint32_t *ret_depth, bool *ret_quoted, size_t *ret_length)
{
	int result = 0;

	*ret_depth = 0;
	*ret_quoted = false;
	*ret_length = 0;
	for (; stack && !result; stack = stacks_caller(csv->stacks, stack)) {
		uint32_t room = array_room(worker->room, *ret_depth + 1, 256);
		uint32_t frame = stacks_frame(csv->stacks, stack);

		if (room != worker->room &&
		    !array_resize(&worker->path, room, sizeof(*worker->path)))
			return -ENOMEM;
		worker->room = room;
		if (!reach_frame(worker, frame))
			return -ENOMEM;
		if (!worker->name_of[frame].text)
			result = make_name(csv, worker, frame);
		if (result)
			break;
		worker->path[*ret_depth] = worker->name_of[frame].text - 1;
		*ret_length += worker->names.length[worker->path[(*ret_depth)++]] + 1ULL;
		*ret_quoted |= worker->name_of[frame].quoted;
	}
	return result;
}

static int put_stack(struct csv *csv, struct csv_worker *worker, uint32_t stack,
		     struct tally_buf *to)
{
	struct tally_buf *cell;
	uint32_t depth;
	size_t length;
	bool quoted;
	char *at;
	int result = find_path(csv, worker, stack, &depth, &quoted, &length);

	cell = quoted ? &worker->cell : to;
	at = result ? NULL : buf_put_begin(cell, length);
	if (!at)
		return result ? result : -ENOMEM;
	while (depth) {
		uint32_t name = worker->path[--depth];

		at = mempcpy(at, worker->names.text[name], worker->names.length[name]);
		if (depth)
			*at++ = ';';
	}
	buf_put_end(cell, at);
	if (quoted)
		end_cell(&worker->cell, to);
	else
		buf_byte(to, ',');
	return 0;
}

static int put_row(void *context, const struct sample_row *row)
{
	struct csv *csv = context;
	struct csv_worker *worker = &csv->workers[row->worker];
	struct tally_session *session = csv->convert->session;
	struct tally_buf *to = row->part;
	int result;

	put_number(row->time, tally_session_has_time(session, row->event), to);
	put_text(worker, tally_data_event(csv->convert->data, row->event)->name, to);
	put_number(row->period, true, to);
	put_text(worker, row->comm, to);
	put_number(row->pid, row->pid != UINT32_MAX, to);
	put_number(row->tid, row->tid != UINT32_MAX, to);
	put_number(row->cpu, row->cpu != UINT32_MAX, to);
	put_number(row->batch->weight[row->at], true, to);
	result = put_cells(csv, worker, row->frame, to);
	if (!result)
		result = put_stack(csv, worker, row->stack, to);
	if (!to->failed)
		to->data[to->size - 1] = '\n'; /* instead of the last comma */
	return result ? result : to->failed;
}

static int take(void *context, const struct tally_buf *part)
{
	struct csv *csv = context;

	tally_buf_add(&csv->convert->text, part->data, part->size);
	return convert_pour(csv->convert);
}

static int begin(void *context, unsigned workers)
{
	struct csv *csv = context;

	csv->workers = table_apart(workers, sizeof(*csv->workers));
	csv->worker_count = csv->workers ? workers : 0;
	return csv->workers ? 0 : -ENOMEM;
}

static int write_csv(struct convert *convert)
{
	struct csv csv = {.convert = convert, .stacks = tally_session_stacks(convert->session)};
	int result;

	tally_buf_text(&convert->text,
		       "time_ns,event,period,comm,pid,tid,cpu,weight,symbol,dso,stack\n");
	result =
	    tally_sample_rows_by_parts(convert, TALLY_COLUMN_WEIGHT, begin, put_row, take, &csv);
	for (unsigned i = 0; i < csv.worker_count; i++) {
		struct csv_worker *worker = &csv.workers[i];

		tally_buf_done(&worker->cell);
		tally_buf_done(&worker->name);
		tally_strings_done(&worker->names);
		free(worker->path);
		free(worker->name_of);
	}
	free(csv.workers);
	return result;
}

const struct export_format tally_export_format_csv = {
    .name = "csv",
    .help = "a line for each sample, for tables",
    .only_samples = true,
    .write = write_csv,
};
