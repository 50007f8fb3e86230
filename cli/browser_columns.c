/* The text of rows: a cell for each key. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tally/report.h>
#include <tally/text.h>
#include "browser.h"

/* Rows that widths are made of. */
#define ROWS_MEASURED 500U
/* The narrowest column of functions, and of others. */
#define FUNCTION_SMALL 16U /* else other cells have no room */
#define FUNCTION_LEAST 28U
#define CELL_LEAST     4U
#define GAP            2U

/* Columns of escaped text. */
static unsigned columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* Cuts the start of a text that is wider: names differ at their ends. */
static void keep_end(char *text, unsigned width)
{
	unsigned columns = columns_of(text), drop;
	char *from = text;

	if (columns <= width || width < 3)
		return;
	for (drop = columns - width + 2; drop; drop--)
		do
			from++;
		while (((unsigned char)*from & 0xc0) == 0x80);
	memmove(text + 2, from, strlen(from) + 1);
	text[0] = text[1] = '.';
}

void browser_frame_text(const struct tally_frame *frame, unsigned width, char *text, size_t size)
{
	char name[4096];

	if (frame->symbol) {
		size_t length = tally_text_escape(frame->symbol, name, sizeof(name));

		if (frame->inlined && length < sizeof(name))
			snprintf(name + length, sizeof(name) - length, " (inlined)");
	} else if (frame->function || (frame->image_name && frame->image_name[0] != '[')) {
		size_t length = tally_text_escape(frame->image_name, name, sizeof(name));

		if (length < sizeof(name))
			snprintf(name + length, sizeof(name) - length, "+0x%" PRIx64,
				 frame->function ? frame->address : frame->place);
	} else {
		snprintf(name, sizeof(name), "0x%" PRIx64, frame->place);
	}
	if (columns_of(name) <= width || tally_report_shorten(name, width, text, size) < 0)
		snprintf(text, size, "%s", name);
}

void browser_cell(const struct browser *browser, const struct tally_profile_row *row,
		  const struct browser_column *column, unsigned width, char *text, size_t size)
{
	if (column->function) {
		int used = snprintf(
		    text, size, "[%c] ",
		    row->frame.level > ' ' && row->frame.level < 0x7f ? row->frame.level : '.');

		browser_frame_text(&row->frame, width > 4 ? width - 4 : 0, text + used,
				   size - (size_t)used);
		return;
	}
	if (tally_report_cell(browser->profile, row, column->key, 1, text, size) < 0)
		*text = 0;
	keep_end(text, width);
}

static void measure(struct browser *browser)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	char text[1024];

	for (uint64_t i = 0; i < ROWS_MEASURED; i++) {
		if (tally_profile_row(browser->profile, browser->event, i, &row))
			break;
		for (size_t k = 0; k < browser->column_count; k++) {
			struct browser_column *column = &browser->columns[k];
			unsigned width;

			if (column->function)
				continue;
			browser_cell(browser, &row, column, UINT32_MAX, text, sizeof(text));
			width = columns_of(text);
			column->width = width > column->width ? width : column->width;
		}
	}
}

static void add(struct browser *browser, const char *key)
{
	const char *title = tally_report_title(browser->profile, key);
	struct browser_column *column = &browser->columns[browser->column_count];

	if (browser->column_count == BROWSER_COLUMNS_MOST)
		return;
	browser->column_count++;
	title = title ? title : key;
	*column = (struct browser_column){
	    .key = key,
	    .title = title,
	    .width = columns_of(title),
	    .function = !strcmp(key, "symbol"),
	};
}

void browser_columns_make(struct browser *browser)
{
	const char *const *keys;
	size_t count;

	browser->column_count = 0;
	if (browser->show_samples)
		add(browser, "sample");
	if (browser->show_period)
		add(browser, "period");
	keys = tally_profile_keys(browser->profile, &count);
	for (size_t i = 0; i < count; i++)
		add(browser, keys[i]);
	measure(browser);
}

/* Takes columns away from the widest cells until they fit. */
static void narrow(unsigned *widths, const struct browser *browser, unsigned sum, unsigned most)
{
	while (sum > most) {
		size_t widest = BROWSER_COLUMNS_MOST;

		for (size_t i = 0; i < browser->column_count; i++)
			if (!browser->columns[i].function &&
			    (widest == BROWSER_COLUMNS_MOST || widths[i] > widths[widest]))
				widest = i;
		if (widest == BROWSER_COLUMNS_MOST || widths[widest] <= CELL_LEAST)
			return;
		widths[widest]--;
		sum--;
	}
}

void browser_widths(const struct browser *browser, unsigned width, unsigned *ret)
{
	unsigned sum = 0, left = width, most = width;
	size_t functions = 0;

	for (size_t i = 0; i < browser->column_count; i++) {
		ret[i] = browser->columns[i].width;
		functions += browser->columns[i].function;
		if (!browser->columns[i].function)
			sum += ret[i] + GAP;
	}
	if (functions)
		most = width * 9 / 20 < FUNCTION_LEAST ? width - width * 9 / 20
						       : width - FUNCTION_LEAST;
	narrow(ret, browser, sum, most);
	for (size_t i = 0; i < browser->column_count; i++)
		if (!browser->columns[i].function)
			left = left > ret[i] + GAP ? left - ret[i] - GAP : 0;
	/* Cells of a few letters say less than a name. */
	for (size_t i = 0; functions && i < browser->column_count && left < FUNCTION_SMALL; i++)
		if (!browser->columns[i].function) {
			left += ret[i] + GAP;
			ret[i] = 0;
		}
	for (size_t i = 0; i < browser->column_count; i++)
		if (browser->columns[i].function)
			ret[i] = left;
}

static size_t row_text(const struct browser *browser, const struct tally_profile_row *row,
		       unsigned width, char *text, size_t size)
{
	unsigned widths[BROWSER_COLUMNS_MOST];
	size_t used = 0;

	*text = 0;
	browser_widths(browser, width, widths);
	for (size_t i = 0; i < browser->column_count && used + 8 < size; i++) {
		bool last = i + 1 == browser->column_count;
		unsigned columns;

		if (!widths[i])
			continue;
		browser_cell(browser, row, &browser->columns[i], widths[i], text + used,
			     size - used);
		columns = columns_of(text + used);
		used += strlen(text + used);
		for (; !last && columns < widths[i] + GAP && used + 1 < size; columns++)
			text[used++] = ' ';
		text[used] = 0;
	}
	return used;
}

/* "_start (cc1plus)": the name is what gives way. */
static void frame_with_image(const struct tally_frame *frame, unsigned width, char *text,
			     size_t size)
{
	char image[256];
	unsigned columns;
	size_t used;

	tally_text_escape(frame->image_name, image, sizeof(image));
	keep_end(image, width / 3);
	columns = columns_of(image) + 3;
	browser_frame_text(frame, width > columns ? width - columns : 0, text, size);
	used = strlen(text);
	snprintf(text + used, size - used, " (%s)", image);
}

void browser_text(const struct browser *browser, const struct browser_line *line, unsigned width,
		  char *text, size_t size)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	struct tally_frame frame;

	*text = 0;
	if (line->title)
		snprintf(text, size, "%s", line->title);
	else if (line->tree != BROWSER_NO_TREE && browser_line_frame(browser, line, &frame))
		(line->with_image ? frame_with_image : browser_frame_text)(&frame, width, text,
									   size);
	else if (!tally_profile_row(browser->profile, browser->event, line->row, &row))
		row_text(browser, &row, width, text, size);
}
