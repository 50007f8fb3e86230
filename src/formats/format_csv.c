/* A line for each sample, as RFC 4180 has them: a header, commas, and quotes around what has
 * commas, quotes or line ends in it.  The last column is the stack, outermost frame first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/table.h"
#include "base/text.h"
#include "convert/sample_rows.h"
#include "formats/format_list.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

struct csv {
	struct convert *convert;
	const struct tally_stacks *stacks;
	struct tally_buf cell, name;
	struct tally_strings names;
	uint32_t *path, *name_of; /* name_of: by frame of the session: its name + 1 */
	uint32_t room, name_room;
};

/* The cell so far, quoted if it must be. */
static void end_cell(struct csv *csv)
{
	struct tally_buf *text = &csv->convert->text;
	const char *cell = tally_buf_str(&csv->cell);

	if (csv->cell.failed) {
		text->failed = csv->cell.failed;
	} else if (!cell[strcspn(cell, ",\"\r\n")]) {
		tally_buf_add(text, cell, csv->cell.size);
	} else {
		tally_buf_byte(text, '"');
		for (; *cell; cell++) {
			if (*cell == '"')
				tally_buf_byte(text, '"');
			tally_buf_byte(text, (uint8_t)*cell);
		}
		tally_buf_byte(text, '"');
	}
	tally_buf_clear(&csv->cell);
	tally_buf_byte(text, ',');
}

static void put_text(struct csv *csv, const char *text)
{
	tally_text_add_escaped(&csv->cell, text, strlen(text));
	end_cell(csv);
}

static void put_number(struct csv *csv, uint64_t number, bool known)
{
	if (known)
		tally_buf_printf(&csv->convert->text, "%llu", (unsigned long long)number);
	tally_buf_byte(&csv->convert->text, ',');
}

/* The name of a frame within a stack, where semicolons separate them.  0 or -ENOMEM. */
static int make_name(struct csv *csv, uint32_t number)
{
	const struct tally_frame frame = tally_session_frame(csv->convert->session, number);
	struct tally_buf label = {0};
	int64_t name = -ENOMEM;

	tally_convert_frame_label(&frame, &label);
	for (size_t i = 0; i < label.size; i++)
		if (label.data[i] == ';')
			label.data[i] = ':';
	tally_buf_clear(&csv->name);
	tally_text_add_escaped(&csv->name, tally_buf_str(&label), label.size);
	if (!label.failed && !csv->name.failed)
		name = tally_strings_intern(&csv->names, tally_buf_str(&csv->name), csv->name.size);
	tally_buf_done(&label);
	if (name >= 0)
		csv->name_of[number] = (uint32_t)name + 1;
	return name < 0 ? -ENOMEM : 0;
}

static int add_frame(struct csv *csv, uint32_t number)
{
	int result = 0;

	if (!array_reach(&csv->name_of, &csv->name_room, number, 1024, sizeof(*csv->name_of)))
		return -ENOMEM;
	if (!csv->name_of[number])
		result = make_name(csv, number);
	if (!result)
		tally_buf_add(&csv->cell, csv->names.text[csv->name_of[number] - 1],
			      csv->names.length[csv->name_of[number] - 1]);
	return result;
}

static int put_stack(struct csv *csv, uint32_t stack)
{
	uint32_t depth = 0;
	int result = 0;

	for (; stack; stack = stacks_caller(csv->stacks, stack)) {
		uint32_t room = array_room(csv->room, depth + 1, 256);

		if (room != csv->room && !array_resize(&csv->path, room, sizeof(*csv->path)))
			return -ENOMEM;
		csv->room = room;
		csv->path[depth++] = stacks_frame(csv->stacks, stack);
	}
	while (depth && !result) {
		result = add_frame(csv, csv->path[--depth]);
		if (depth)
			tally_buf_byte(&csv->cell, ';');
	}
	end_cell(csv);
	return result;
}

static int take_row(void *context, const struct sample_row *row)
{
	struct csv *csv = context;
	struct tally_buf *text = &csv->convert->text;
	const struct tally_frame frame = tally_session_frame(csv->convert->session, row->frame);
	int result;

	put_number(csv, row->time, tally_session_has_time(csv->convert->session, row->event));
	put_text(csv, tally_data_event(csv->convert->data, row->event)->name);
	put_number(csv, row->period, true);
	put_text(csv, row->comm);
	put_number(csv, row->pid, row->pid != UINT32_MAX);
	put_number(csv, row->tid, row->tid != UINT32_MAX);
	put_number(csv, row->cpu, row->cpu != UINT32_MAX);
	put_number(csv, row->batch->weight[row->at], true);
	tally_buf_clear(&csv->name);
	tally_convert_frame_name(&frame, &csv->name);
	tally_text_add_escaped(&csv->cell, tally_buf_str(&csv->name), csv->name.size);
	end_cell(csv);
	put_text(csv, frame.image_path ? frame.image_path : "[unknown]");
	result = put_stack(csv, row->stack);
	if (text->size)
		text->data[text->size - 1] = '\n'; /* instead of the last comma */
	return result ? result : convert_pour(csv->convert);
}

static int write_csv(struct convert *convert)
{
	struct csv csv = {.convert = convert, .stacks = tally_session_stacks(convert->session)};
	int result;

	tally_buf_text(&convert->text,
		       "time_ns,event,period,comm,pid,tid,cpu,weight,symbol,dso,stack\n");
	result = tally_sample_rows_run(convert, TALLY_COLUMN_WEIGHT, take_row, &csv);
	tally_buf_done(&csv.cell);
	tally_buf_done(&csv.name);
	tally_strings_done(&csv.names);
	free(csv.path);
	free(csv.name_of);
	return result;
}

const struct export_format tally_export_format_csv = {
    .name = "csv",
    .help = "a line for each sample, for tables",
    .write = write_csv,
};
