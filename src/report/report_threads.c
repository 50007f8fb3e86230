/* Prints what each thread counted of each event: the values of READ records, as `perf report
 * --threads` lists them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/report.h>
#include "base/buf.h"
#include "base/cell.h"
#include "base/map.h"
#include "base/table.h"
#include "report/report_rows.h"
#include "session/record_sink.h"

struct counting {
	uint32_t pid, tid;
};

struct counts {
	const struct tally_data *data;
	struct tally_map known;   /* pid and tid -> index of the thread, + 1 */
	struct tally_map values;  /* thread and event -> sum */
	struct counting *threads; /* in the order of their first values */
	size_t thread_count, room;
	size_t *events, event_count; /* likewise */
};

static int add_thread(struct counts *counts, uint32_t pid, uint32_t tid, uint64_t *ret)
{
	bool added;
	uint64_t *index = tally_map_put(&counts->known, (uint64_t)pid << 32 | tid, &added);

	if (!index)
		return -ENOMEM;
	if (added) {
		if (!array_next(&counts->threads, &counts->room, counts->thread_count, 64,
				sizeof(*counts->threads)))
			return -ENOMEM;
		*index = counts->thread_count;
		counts->threads[counts->thread_count++] = (struct counting){pid, tid};
	}
	*ret = *index;
	return 0;
}

static void add_event(struct counts *counts, size_t event)
{
	for (size_t i = 0; i < counts->event_count; i++)
		if (counts->events[i] == event)
			return;
	counts->events[counts->event_count++] = event;
}

static int take(struct counts *counts, const struct tally_entry *entry)
{
	struct tally_body body;
	size_t event = entry->at->event;
	uint64_t thread, *value;
	bool added;

	body.size = sizeof(body);
	if (entry->record.type != PERF_RECORD_READ ||
	    event >= tally_data_event_count(counts->data) ||
	    tally_record_decode(&tally_data_event(counts->data, event)->layout, &entry->record,
				&body, NULL) < 0)
		return 0;
	if (add_thread(counts, body.read.pid, body.read.tid, &thread))
		return -ENOMEM;
	add_event(counts, event);
	value = tally_map_put(&counts->values, thread << 32 | event, &added);
	if (!value)
		return -ENOMEM;
	*value += body.read.read.value;
	return 0;
}

static int take_batch(void *context, struct tally_record_batch *batch)
{
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		result = take(context, &entry);
		if (result)
			break;
	}
	return result;
}

static uint64_t value_of(const struct counts *counts, size_t thread, size_t event)
{
	const uint64_t *value = tally_map_find(&counts->values, (uint64_t)thread << 32 | event);

	return value ? *value : 0;
}

static size_t digits_of(uint64_t value)
{
	size_t digits = 1;

	for (; value >= 10; value /= 10)
		digits++;
	return digits;
}

/* A name or a number, with blanks before it. */
static void put_cell(struct tally_buf *to, size_t width, const char *name, uint64_t value)
{
	size_t start = to->size, size;
	char *text;

	if (name)
		tally_cell_name(to, name);
	else
		tally_cell_u64(to, value);
	size = to->size - start;
	if (to->failed || tally_cell_columns((char *)to->data + start, size) >= width)
		return;
	text = strndup((char *)to->data + start, size);
	if (!text) {
		to->failed = -ENOMEM;
		return;
	}
	to->size = start;
	tally_cell_spaces(to, width - tally_cell_columns(text, size));
	tally_buf_add(to, text, size);
	free(text);
}

struct widths {
	size_t pid, tid, name, raw, count;
};

static void widen(size_t *width, size_t least)
{
	*width = *width < least ? least : *width;
}

static void measure(const struct counts *counts, struct widths *ret)
{
	*ret = (struct widths){3, 3, 4, 3, 5};
	for (size_t i = 0; i < counts->thread_count; i++) {
		widen(&ret->pid, digits_of(counts->threads[i].pid));
		widen(&ret->tid, digits_of(counts->threads[i].tid));
		for (size_t k = 0; k < counts->event_count; k++)
			widen(&ret->count, digits_of(value_of(counts, i, counts->events[k])));
	}
	for (size_t k = 0; k < counts->event_count; k++) {
		const char *name = tally_data_event(counts->data, counts->events[k])->name;

		widen(&ret->name, tally_cell_columns(name, strlen(name)));
		widen(&ret->raw, digits_of(counts->events[k]));
	}
}

static void put_ids(const struct counts *counts, const struct widths *widths, size_t thread,
		    struct tally_buf *to)
{
	tally_buf_text(to, "  ");
	put_cell(to, widths->pid, NULL, counts->threads[thread].pid);
	tally_buf_text(to, "  ");
	put_cell(to, widths->tid, NULL, counts->threads[thread].tid);
}

/* A line for each thread, a column for each event. */
static void put_table(const struct counts *counts, const struct widths *widths,
		      struct tally_buf *to)
{
	size_t *columns = calloc(counts->event_count + 1, sizeof(*columns));

	if (!columns) {
		to->failed = -ENOMEM;
		return;
	}
	tally_buf_text(to, "# ");
	put_cell(to, widths->pid, "PID", 0);
	tally_buf_text(to, "  ");
	put_cell(to, widths->tid, "TID", 0);
	for (size_t k = 0; k < counts->event_count; k++) {
		const char *name = tally_data_event(counts->data, counts->events[k])->name;

		columns[k] = tally_cell_columns(name, strlen(name));
		for (size_t i = 0; i < counts->thread_count; i++)
			widen(&columns[k], digits_of(value_of(counts, i, counts->events[k])));
		tally_buf_text(to, "  ");
		put_cell(to, columns[k], name, 0);
	}
	tally_buf_byte(to, '\n');
	for (size_t i = 0; i < counts->thread_count; i++) {
		put_ids(counts, widths, i, to);
		for (size_t k = 0; k < counts->event_count; k++) {
			tally_buf_text(to, "  ");
			put_cell(to, columns[k], NULL, value_of(counts, i, counts->events[k]));
		}
		tally_buf_byte(to, '\n');
	}
	free(columns);
}

/* A line for each thread and event. */
static void put_lines(const struct counts *counts, const struct widths *widths,
		      struct tally_buf *to)
{
	tally_buf_text(to, "# ");
	put_cell(to, widths->pid, "PID", 0);
	tally_buf_text(to, "  ");
	put_cell(to, widths->tid, "TID", 0);
	tally_buf_text(to, "  ");
	put_cell(to, widths->name, "Name", 0);
	tally_buf_text(to, "  ");
	put_cell(to, widths->raw, "Raw", 0);
	tally_buf_text(to, "  ");
	put_cell(to, widths->count, "Count", 0);
	tally_buf_byte(to, '\n');
	for (size_t i = 0; i < counts->thread_count; i++)
		for (size_t k = 0; k < counts->event_count; k++) {
			size_t event = counts->events[k];

			put_ids(counts, widths, i, to);
			tally_buf_text(to, "  ");
			put_cell(to, widths->name, tally_data_event(counts->data, event)->name, 0);
			tally_buf_text(to, "  ");
			put_cell(to, widths->raw, NULL, event);
			tally_buf_text(to, "  ");
			put_cell(to, widths->count, NULL, value_of(counts, i, event));
			tally_buf_byte(to, '\n');
		}
}

static void put_all(const struct counts *counts, bool raw, struct tally_buf *to)
{
	struct widths widths;

	if (!counts->thread_count) {
		tally_buf_text(to, "# No counts of threads: record with -s (--stat)\n");
		return;
	}
	measure(counts, &widths);
	if (raw)
		put_lines(counts, &widths, to);
	else
		put_table(counts, &widths, to);
}

int tally_report_threads(struct tally_session *session, bool raw, FILE *to,
			 struct tally_error *error)
{
	struct counts counts = {.data = tally_session_data(session)};
	const struct tally_record_sink sink = {
	    .context = &counts, .records = true, .batch = take_batch};
	struct tally_buf text = {0};
	int result;

	counts.events = calloc(tally_data_event_count(counts.data) + 1, sizeof(*counts.events));
	result = counts.events ? tally_session_run_in_order(session, &sink, true, error) : -ENOMEM;
	if (!result) {
		put_all(&counts, raw, &text);
		result = tally_report_write_out(&text, to);
	}
	tally_buf_done(&text);
	tally_map_done(&counts.known);
	tally_map_done(&counts.values);
	free(counts.threads);
	free(counts.events);
	return result;
}
