/* A function's instructions as text, in the columns of perf annotate --stdio: numbers, source
 * lines, addresses, arrows of jumps, instructions. */
#include "annotate/annotate_text.h"

#include <string.h>
#include "base/cell.h"
#include "session/session.h"

#define ENCODING_BYTES 8U  /* that have room in their column */
#define SUMMARY_LEAST  0.5 /* %, of a line: perf's */
#define ADDRESS_WIDTH  6   /* columns at least */

static const char *base_name(const struct annotate_text *text, const char *path)
{
	const char *slash = text->view.options->full_paths ? NULL : strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Ends a line, cut to the width; `from` is behind its numbers, which have colours. */
static void end_line(const struct annotate_text *text, size_t from)
{
	struct tally_buf *to = text->to;
	size_t width = text->view.options->width, used = tally_annotate_view_width(&text->view);

	while (to->size > from && to->data[to->size - 1] == ' ')
		to->size--;
	if (width && !to->failed) {
		size_t fits = tally_cell_cut((const char *)to->data + from, to->size - from,
					     width > used ? width - used : 1);

		to->size = from + fits;
	}
	tally_buf_byte(to, '\n');
}

/* Begins a line that is about no instruction; returns the place behind its numbers. */
static size_t begin_blank(const struct annotate_text *text)
{
	size_t from;

	tally_annotate_view_title(&text->view, "", text->to);
	from = text->to->size;
	tally_buf_text(text->to, " : ");
	return from;
}

static void put_events(const struct annotate_view *view, struct tally_buf *to)
{
	const struct tally_data *data = tally_session_data(view->annotation->session);

	for (size_t i = 0; i < view->count; i++) {
		if (i)
			tally_buf_text(to, ", ");
		tally_cell_name(to, tally_data_event(data, view->events[i])->name);
	}
}

static void put_function(const struct annotate_view *view, struct tally_buf *to)
{
	struct tally_frame frame =
	    tally_session_frame(view->annotation->session, view->function->frame);

	if (frame.symbol)
		tally_cell_name(to, frame.symbol);
	else
		tally_buf_printf(to, "+0x%llx", (unsigned long long)frame.address);
}

/* Cuts a line without colours to the width. */
static void cut_line(const struct annotate_view *view, size_t from, struct tally_buf *to)
{
	if (view->options->width && !to->failed)
		to->size = from + tally_cell_cut((const char *)to->data + from, to->size - from,
						 view->options->width);
}

/* perf's title and the line below it. */
static void put_title(const struct annotate_view *view, const char *what, struct tally_buf *to)
{
	static const char *const types[] = {
	    [TALLY_PERCENT_LOCAL_PERIOD] = "local period",
	    [TALLY_PERCENT_GLOBAL_PERIOD] = "global period",
	    [TALLY_PERCENT_LOCAL_HITS] = "local hits",
	    [TALLY_PERCENT_GLOBAL_HITS] = "global hits",
	};
	struct tally_frame frame =
	    tally_session_frame(view->annotation->session, view->function->frame);
	const struct tally_annotation_text *options = view->options;
	size_t from = to->size, columns;

	tally_annotate_view_title(view,
				  options->show_total_period ? "Period"
				  : options->show_samples    ? "Samples"
							     : "Percent",
				  to);
	tally_buf_printf(to, " |%c%s of ", options->width ? ' ' : '\t', what);
	tally_cell_name(to, options->full_paths ? frame.image_path : frame.image_name);
	tally_buf_text(to, " for ");
	put_events(view, to);
	tally_buf_text(to, " (");
	tally_cell_u64(to, tally_annotate_view_samples(view));
	tally_buf_printf(to, " samples, percent: %s)", types[options->percent_type]);
	cut_line(view, from, to);
	columns =
	    to->failed ? 0 : tally_cell_columns((const char *)to->data + from, to->size - from);
	tally_buf_byte(to, '\n');
	for (size_t i = 0; i < columns; i++)
		tally_buf_byte(to, '-');
	tally_buf_byte(to, '\n');
}

/* "hot: 92.30% of cycles, 90.12% of instructions". */
static void put_share(const struct annotate_view *view, struct tally_buf *to)
{
	const struct tally_data *data = tally_session_data(view->annotation->session);
	size_t from = to->size;

	tally_buf_text(to, "# ");
	put_function(view, to);
	tally_buf_text(to, ": ");
	for (size_t i = 0; i < view->count; i++) {
		uint32_t event = view->events[i];

		tally_buf_printf(to, "%s%.2f%% of ", i ? ", " : "",
				 tally_annotation_percent(view->annotation, NULL,
							  TALLY_PERCENT_GLOBAL_PERIOD, event, 0,
							  view->function->periods[event]));
		tally_cell_name(to, tally_data_event(data, event)->name);
	}
	cut_line(view, from, to);
	tally_buf_byte(to, '\n');
}

/* "work.c:20". */
static void put_place(const struct annotate_text *text, const char *file, uint32_t line)
{
	tally_cell_name(text->to, base_name(text, file));
	tally_buf_printf(text->to, ":%u", line);
}

static void put_source(const struct annotate_text *text, const char *file, uint32_t line)
{
	size_t length;
	const char *source = tally_source_lines_find(text->sources, file, line, &length);

	if (source)
		tally_source_lines_put(text->to, source, length);
}

/* The line of the source that an instruction begins, when it is another one than before. */
static void put_line(const struct annotate_text *text, const struct listing_row *row,
		     const struct listing_row *before)
{
	const char *function = before ? before->function : NULL,
		   *file = before ? before->file : NULL;
	size_t from;

	/* equal names are one pointer; NULL: the function that is listed */
	if (!before || row->function != function ||
	    (row->file && (!file || strcmp(row->file, file) != 0))) {
		from = begin_blank(text);
		if (row->function)
			tally_cell_name(text->to, row->function);
		else
			put_function(&text->view, text->to);
		tally_buf_text(text->to, row->function ? " (inlined)" : "()");
		if (row->file) {
			tally_buf_text(text->to, " ");
			tally_cell_name(text->to, base_name(text, row->file));
		}
		tally_buf_byte(text->to, ':');
		end_line(text, from);
	}
	if (!row->file || !row->line ||
	    (before && row->line == before->line && before->file &&
	     !strcmp(row->file, before->file)))
		return;
	from = begin_blank(text);
	tally_buf_printf(text->to, "%-5u ", row->line);
	put_source(text, row->file, row->line);
	end_line(text, from);
}

static void put_encoding(const struct annotate_text *text, const struct listing_row *row)
{
	const uint8_t *bytes = text->listing->bytes + row->offset;

	for (size_t i = 0; i < row->size || i < ENCODING_BYTES; i++)
		if (i < row->size)
			tally_buf_printf(text->to, "%02x ", bytes[i]);
		else
			tally_buf_text(text->to, "   ");
	tally_buf_byte(text->to, ' ');
}

static void put_row(const struct annotate_text *text, const struct listing_row *row, bool arrows)
{
	const struct tally_annotation_text *options = text->view.options;
	char arrow[JUMP_TEXT_ROOM];
	size_t from;

	tally_annotate_view_cells(&text->view, row->samples, row->periods, text->to);
	from = text->to->size;
	tally_buf_printf(text->to, " : %*llx:  ", ADDRESS_WIDTH, (unsigned long long)row->address);
	if (options->encoding)
		put_encoding(text, row);
	if (arrows) {
		tally_jump_text(&row->jumps, text->listing->lanes, options->utf8, arrow);
		tally_buf_text(text->to, arrow);
	}
	tally_buf_printf(text->to, "%-6s ", row->mnemonic);
	tally_cell_name(text->to, row->operands);
	if (options->summary && row->file && row->line &&
	    tally_annotate_view_most(&text->view, row->samples, row->periods) > 0) {
		tally_buf_text(text->to, " // ");
		put_place(text, row->file, row->line);
	}
	end_line(text, from);
}

/* The lines by their share, as perf annotate -l has them. */
static void put_summary(const struct annotate_text *text)
{
	struct tally_frame frame =
	    tally_session_frame(text->view.annotation->session, text->view.function->frame);
	struct tally_buf *to = text->to;

	tally_buf_text(to, "\nSorted summary for file ");
	tally_cell_name(to, frame.image_path);
	tally_buf_text(to, "\n----------------------------------------------\n\n");
	for (size_t i = 0; i < text->lines->count; i++) {
		const struct line_sum *line = &text->lines->lines[i];
		size_t from;

		if (!line->file || tally_annotate_view_most(&text->view, line->samples,
							    line->periods) <= SUMMARY_LEAST)
			continue;
		tally_annotate_view_cells(&text->view, line->samples, line->periods, to);
		from = to->size;
		tally_buf_byte(to, ' ');
		put_place(text, line->file, line->line);
		end_line(text, from);
	}
}

/* "00000000000011e0 <hot>:", as objdump begins a function. */
static void put_start(const struct annotate_text *text)
{
	size_t from = begin_blank(text);

	tally_buf_printf(text->to, "%016llx <",
			 text->listing->count ? (unsigned long long)text->listing->rows[0].address
					      : 0ULL);
	put_function(&text->view, text->to);
	tally_buf_text(text->to, ">:");
	end_line(text, from);
}

void tally_annotate_text_listing(const struct annotate_text *text)
{
	const struct tally_annotation_text *options = text->view.options;
	const struct listing_row *before = NULL;

	if (options->summary)
		put_summary(text);
	if (!options->quiet)
		put_share(&text->view, text->to);
	put_title(&text->view, options->no_source ? "Disassembly" : "Source code & Disassembly",
		  text->to);
	put_start(text);
	for (size_t i = 0; i < text->listing->count; i++) {
		const struct listing_row *row = &text->listing->rows[i];

		if (!options->no_source)
			put_line(text, row, before);
		put_row(text, row, true);
		before = row;
	}
	if (text->listing->cut) {
		size_t from = begin_blank(text);

		tally_buf_printf(text->to,
				 "the function goes on: only its first %llu bytes are listed",
				 (unsigned long long)LISTING_CODE_MOST);
		end_line(text, from);
	}
}

void tally_annotate_text_hot(const struct annotate_text *text)
{
	const struct line_sums *lines = text->lines;

	if (!text->view.options->quiet)
		put_share(&text->view, text->to);
	put_title(&text->view, "Source lines", text->to);
	for (size_t i = 0; i < lines->count; i++) {
		const struct line_sum *line = &lines->lines[i];
		size_t from;

		tally_annotate_view_cells(&text->view, line->samples, line->periods, text->to);
		from = text->to->size;
		tally_buf_text(text->to, " : ");
		if (line->file && line->line) {
			put_place(text, line->file, line->line);
			tally_buf_text(text->to, "  ");
			put_source(text, line->file, line->line);
		} else {
			tally_buf_text(text->to, "(no source line)");
		}
		end_line(text, from);
		for (uint32_t row = 0; row < line->count; row++)
			put_row(text, &text->listing->rows[lines->rows[line->first + row]], false);
		tally_buf_byte(text->to, '\n');
	}
}

void tally_annotate_text_missing(const struct annotate_view *view, const char *why,
				 struct tally_buf *to)
{
	put_share(view, to);
	tally_buf_text(to, "# not listed: ");
	tally_cell_name(to, why);
	tally_buf_byte(to, '\n');
}
