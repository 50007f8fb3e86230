#include "report/report_rows.h"

#include <errno.h>
#include <stdlib.h>
#include "base/pool.h"
#include "base/table.h"

/* Rows that a thread takes at a time, and how many such parts are kept before they are written. */
#define SHARE      1024U
#define ROUND_MOST 256U
/* With fewer rows more threads are not faster. */
#define WORTH 8192U

struct work {
	const struct report_rows *rows;
	uint64_t first;                 /* of the round */
	struct report_columns *columns; /* by worker */
	struct tally_buf *texts;        /* by share of the round */
	bool lines;                     /* else widths */
};

static int make_share(void *context, unsigned worker, size_t number)
{
	struct work *work = context;
	struct report_columns *columns = &work->columns[worker];
	const struct report_rows *rows = work->rows;
	uint64_t at = work->first + number * SHARE;
	uint64_t end = rows->end - at < SHARE ? rows->end : at + SHARE;
	/* The texts of other threads are in adjacent memory, so this one is written in a variable
	 * of its own. */
	struct tally_buf text = work->lines ? work->texts[number] : (struct tally_buf){0};
	int result = 0;

	for (; at < end && !result; at++) {
		struct tally_profile_row row = report_table_row(rows->table, at);

		columns->at = at;
		result = work->lines ? tally_report_columns_row(columns, &row, &text)
				     : tally_report_columns_hold(columns, &row);
	}
	if (work->lines)
		work->texts[number] = text;
	return result;
}

static unsigned width_for(const struct report_rows *rows)
{
	unsigned width = rows->end - rows->first < WORTH ? 1 : tally_pool_width();

	return width < ROUND_MOST / 16 ? width : ROUND_MOST / 16;
}

static struct report_columns *copies_of(const struct report_columns *columns, unsigned count)
{
	struct report_columns *copies = table_apart(count, sizeof(*copies));

	for (unsigned i = 0; copies && i < count; i++)
		tally_report_columns_copy(&copies[i], columns);
	return copies;
}

static void drop(struct report_columns *copies, unsigned count)
{
	for (unsigned i = 0; copies && i < count; i++)
		tally_report_columns_done(&copies[i]);
	free(copies);
}

int tally_report_rows_hold(const struct report_rows *rows, struct report_columns *columns)
{
	unsigned width = width_for(rows);
	struct work work = {.rows = rows, .first = rows->first};
	int result;

	work.columns = copies_of(columns, width);
	if (!work.columns)
		return -ENOMEM;
	result =
	    tally_pool_run(width, (rows->end - rows->first + SHARE - 1) / SHARE, make_share, &work);
	for (unsigned i = 0; i < width; i++)
		for (size_t k = 0; k < columns->count; k++)
			if (work.columns[i].list[k].width > columns->list[k].width)
				columns->list[k].width = work.columns[i].list[k].width;
	drop(work.columns, width);
	return result;
}

int tally_report_write_out(struct tally_buf *text, FILE *to)
{
	if (text->failed)
		return text->failed;
	errno = 0;
	if (text->size && fwrite(text->data, 1, text->size, to) != text->size)
		return errno ? -errno : -EIO;
	tally_buf_clear(text);
	return 0;
}

int tally_report_rows_write(const struct report_rows *rows, struct report_columns *columns,
			    struct tally_buf *text, FILE *to)
{
	unsigned width = width_for(rows), round = width * 16;
	struct tally_buf texts[ROUND_MOST] = {0};
	struct work work = {.rows = rows, .first = rows->first, .texts = texts, .lines = true};
	int result = tally_report_write_out(text, to);

	work.columns = copies_of(columns, width);
	if (!work.columns)
		result = -ENOMEM;
	for (; !result && work.first < rows->end; work.first += (uint64_t)round * SHARE) {
		uint64_t left = (rows->end - work.first + SHARE - 1) / SHARE;
		unsigned shares = left < round ? (unsigned)left : round;

		result = tally_pool_run(width, shares, make_share, &work);
		for (unsigned i = 0; i < shares && !result; i++)
			result = tally_report_write_out(&texts[i], to);
	}
	for (unsigned i = 0; i < ROUND_MOST; i++)
		tally_buf_done(&texts[i]);
	drop(work.columns, width);
	return result;
}
