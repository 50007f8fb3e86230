/* A flame graph as an SVG that stands alone: all stacks from the root at the bottom.
 *
 * The picture is complete without a script; web/svg/flame.js zooms and searches in it.  Names are
 * text of elements alone, escaped for a terminal first, as XML cannot have control characters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/page.h>
#include "base/cell.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "page/page_file.h"
#include "page/page_frame.h"
#include "page/page_tables.h"
#include "report/report_frame.h"

#define WIDTH      1200.0
#define PAD        10.0
#define ROW        17U
#define HEAD       64U /* the title, and the lines of words */
#define SPACE      40U /* between graphs, with their titles */
#define LETTER     7.3 /* px, of the font */
#define NARROW     0.1 /* px: what is narrower is left out */
#define NAME_MOST  2000U
#define DEPTH_MOST 4096U

struct drawing {
	const struct tally_tree *tree;
	struct tally_buf *to;
	struct tally_buf name;
	uint64_t total;
	uint64_t narrow; /* of it, in frames that are left out */
	unsigned bottom; /* px: where the root's row begins */
	unsigned rows;
	bool time;
};

/* Source: XML 1.0, sections 2.2 and 2.4: of what escaped names may have, U+FFFE and U+FFFF (here in
 * UTF-8) are no characters. */
static void put_text(struct tally_buf *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char one = text[i];

		if (one == '&' || one == '<' || one == '>' || one == '"' || one == '\'') {
			tally_buf_printf(to, "&#%u;", (unsigned)(unsigned char)one);
		} else if (length - i >= 3 && !memcmp(text + i, "\xef\xbf", 2) &&
			   (uint8_t)text[i + 2] >= 0xbe) {
			tally_buf_byte(to, '?');
			i += 2;
		} else {
			tally_buf_byte(to, (uint8_t)one);
		}
	}
}

static void name_of(struct tally_buf *to, const struct tally_frame *frame)
{
	struct tally_buf plain = {0};

	tally_buf_clear(to);
	if (frame->symbol)
		tally_buf_text(&plain, frame->symbol);
	else
		tally_report_frame(&plain, frame);
	if (plain.size > NAME_MOST) {
		plain.size = tally_cell_cut((const char *)plain.data, NAME_MOST, NAME_MOST);
		tally_buf_text(&plain, "...");
	}
	tally_cell_name(to, tally_buf_str(&plain));
	if (frame->symbol && frame->inlined)
		tally_buf_text(to, " (inlined)");
	tally_buf_done(&plain);
}

/* By kind, in three tints; the page's palette (web/palette.js). */
static const char *colour_of(const struct tally_frame *frame, const struct tally_buf *name)
{
	static const char *const colours[][3] = {
	    {"#f4c27a", "#f5c988", "#f6cf97"}, /* user */
	    {"#f2b294", "#f4ba9f", "#f5c3ab"}, /* kernel */
	    {"#94d5b9", "#9fdac0", "#abdec8"}, /* made at run time */
	    {"#f1e08a", "#f2e396", "#f4e7a3"}, /* inlined */
	    {"#d3d6dc", "#d8dae0", "#dddfe4"}, /* unknown */
	};
	unsigned kind = frame->inlined                                   ? 3
			: frame->level == 'k' || frame->level == 'g'     ? 1
			: frame->image == UINT32_MAX                     ? 4
			: frame->image_name && *frame->image_name == '[' ? 2
									 : 0;

	return colours[kind][tally_hash_bytes(name->data, name->size) % 3];
}

static void put_title(struct drawing *drawing, const struct tally_tree_node *node,
		      const char *image)
{
	struct tally_buf *to = drawing->to;

	tally_buf_text(to, "<title>");
	put_text(to, (const char *)drawing->name.data, drawing->name.size);
	tally_buf_text(to, "\n");
	if (image) {
		struct tally_buf escaped = {0};

		tally_cell_name(&escaped, image);
		put_text(to, (const char *)escaped.data, escaped.size);
		tally_buf_text(to, "\n");
		tally_buf_done(&escaped);
	}
	tally_cell_percent(to, tally_cell_share(node->total, drawing->total));
	tally_buf_text(to, ", ");
	tally_page_put_amount(to, (double)node->total, drawing->time);
	if (node->self) {
		tally_buf_text(to, ", itself ");
		tally_page_put_amount(to, (double)node->self, drawing->time);
	}
	tally_buf_text(to, "</title>");
}

/* Where some letters fit; the script adds the element where it is missing. */
static void put_label(struct drawing *drawing, double left, unsigned y, double wide)
{
	const char *name = (const char *)drawing->name.data;
	size_t room = wide > 6 ? (size_t)((wide - 6) / LETTER) : 0;
	size_t length = drawing->name.size;

	if (room < 3)
		return;
	tally_buf_printf(drawing->to, "<text x=\"%.1f\" y=\"%u\">", left + 3, y + 12);
	if (tally_cell_columns(name, length) <= room) {
		put_text(drawing->to, name, length);
	} else {
		put_text(drawing->to, name, tally_cell_cut(name, length, room - 1));
		tally_buf_text(drawing->to, "\xe2\x80\xa6");
	}
	tally_buf_text(drawing->to, "</text>");
}

/* A frame and what is below it, callers first; `from` is in units of weight. */
static void draw(struct drawing *drawing, uint32_t number, unsigned depth, uint64_t from)
{
	const struct tally_tree_node *node = &drawing->tree->nodes[number];
	struct tally_buf *to = drawing->to;
	double scale = (WIDTH - 2 * PAD) / (double)drawing->total;
	double left = PAD + (double)from * scale, wide = (double)node->total * scale;
	unsigned y = drawing->bottom - depth * ROW;
	uint64_t drawn = 0;

	if (depth)
		name_of(&drawing->name, &node->frame);
	tally_buf_printf(to, "<g class=\"f\" data-f=\"%llu\" data-w=\"%llu\" data-d=\"%u\"",
			 (unsigned long long)from, (unsigned long long)node->total, depth);
	if (node->self)
		tally_buf_printf(to, " data-s=\"%llu\"", (unsigned long long)node->self);
	tally_buf_text(to, wide > LETTER ? " tabindex=\"0\">" : ">");
	put_title(drawing, node, depth ? node->frame.image_name : NULL);
	tally_buf_printf(to, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\" fill=\"%s\"/>",
			 left, y,
			 wide > 3     ? wide - 0.6
			 : wide < 0.3 ? 0.3
				      : wide,
			 ROW - 1, depth ? colour_of(&node->frame, &drawing->name) : "#e3e6eb");
	put_label(drawing, left, y, wide);
	tally_buf_text(to, "</g>\n");
	for (uint32_t i = 0; i < node->child_count; i++) {
		uint64_t part = drawing->tree->nodes[node->first_child + i].total;

		if ((double)part * scale >= NARROW && depth + 1 < DEPTH_MOST) {
			draw(drawing, node->first_child + i, depth + 1, from);
			drawn += part;
		}
		from += part;
	}
	/* The tree has no branches that are too small, either. */
	drawing->narrow += node->total - node->self - drawn;
}

static unsigned rows_of(const struct tally_tree *tree, uint32_t number, unsigned depth,
			uint64_t least)
{
	const struct tally_tree_node *node = &tree->nodes[number];
	unsigned most = depth + 1;

	for (uint32_t i = 0; i < node->child_count && depth < DEPTH_MOST; i++)
		if (tree->nodes[node->first_child + i].total >= least) {
			unsigned rows = rows_of(tree, node->first_child + i, depth + 1, least);

			most = rows > most ? rows : most;
		}
	return most;
}

static bool is_time(const struct tally_profile *profile, size_t event)
{
	const struct tally_data *data = tally_session_data(tally_profile_session(profile));

	return tally_page_event_is_time(tally_data_event(data, event));
}

/* The graph of an event, from `*top` on, which becomes where the next one begins.  0, -ENODATA: it
 * has no stacks, or -ENOMEM. */
static int draw_event(const struct tally_profile *profile, size_t event, struct tally_buf *to,
		      unsigned *top)
{
	struct tally_profile_event facts = {.size = sizeof(facts)};
	struct tally_profile_row row = {.size = sizeof(row)};
	struct tally_tree_options options = {.size = sizeof(options), .order = TALLY_CALLER};
	struct tally_tree tree;
	struct drawing drawing = {.tree = &tree, .to = to};
	int result;

	if (tally_profile_event(profile, event, &facts) ||
	    tally_profile_row(profile, event, 0, &row) || !row.self)
		return -ENODATA;
	options.least = (uint64_t)((double)row.self * NARROW / WIDTH);
	result = tally_profile_tree(profile, event, &row, &options, &tree);
	if (result)
		return result == -ENOMEM ? result : -ENODATA;
	drawing.time = is_time(profile, event);
	drawing.total = tree.nodes[0].total;
	drawing.rows = rows_of(&tree, 0, 0, options.least);
	drawing.bottom = *top + SPACE + (drawing.rows - 1) * ROW;
	tally_buf_text(to, "<g class=\"g\">");
	tally_buf_text(&drawing.name, "all");
	draw(&drawing, 0, 0, 0);
	name_of(&drawing.name, &(struct tally_frame){.symbol = facts.name});
	tally_buf_printf(to, "<text x=\"%.0f\" y=\"%u\">", PAD, *top + SPACE - 12);
	put_text(to, (const char *)drawing.name.data, drawing.name.size);
	tally_buf_printf(to, ": %llu", (unsigned long long)facts.samples);
	tally_cell_noun(to, facts.samples, "sample");
	tally_buf_text(to, ", ");
	tally_page_put_amount(to, (double)drawing.total, drawing.time);
	if (drawing.narrow) {
		tally_buf_text(to, "; ");
		tally_cell_percent(to, tally_cell_share(drawing.narrow, drawing.total));
		tally_buf_text(to, " of it ends in frames narrower than a tenth of a pixel, which "
				   "are left out");
	}
	tally_buf_text(to, "</text></g>\n");
	*top = drawing.bottom + ROW;
	tally_buf_done(&drawing.name);
	tally_tree_done(&tree);
	return 0;
}

static void put_frame(const struct tally_session *session, const char *title, unsigned height,
		      const struct tally_buf *graphs, FILE *to)
{
	const char *path = tally_data_path(tally_session_data(session));
	struct tally_buf name = {0}, text = {0};

	tally_cell_name(&name, title ? title : path);
	put_text(&text, (const char *)name.data, name.size);
	fprintf(to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\" "
		"viewBox=\"0 0 %.0f %u\" role=\"group\" aria-label=\"flame graph\">\n"
		"<style><![CDATA[\n",
		WIDTH, height, WIDTH, height);
	fwrite(tally_page_svg_style, 1, tally_page_svg_style_size, to);
	fputs("]]></style>\n<rect class=\"w\" width=\"100%\" height=\"100%\"/>\n", to);
	fwrite(graphs->data, 1, graphs->size, to);
	fprintf(to,
		"<g id=\"head\"><rect class=\"w\" width=\"100%%\" height=\"%u\"/>\n"
		"<text class=\"t\" x=\"%.0f\" y=\"22\">%s</text>\n"
		"<text class=\"b\" id=\"search\" data-right=\"90\" x=\"%.0f\" y=\"22\" "
		"tabindex=\"0\" role=\"button\">Search (/)</text>\n"
		"<text class=\"b\" id=\"all\" data-right=\"0\" x=\"%.0f\" y=\"22\" tabindex=\"0\" "
		"role=\"button\">All (Esc)</text>\n"
		"<text id=\"found\" x=\"%.0f\" y=\"40\"></text>\n"
		"<text id=\"facts\" x=\"%.0f\" y=\"58\" aria-live=\"polite\"></text></g>\n",
		HEAD, PAD, tally_buf_str(&text), WIDTH - PAD - 90, WIDTH - PAD, PAD, PAD);
	fputs("<script><![CDATA[\n", to);
	fwrite(tally_page_svg_script, 1, tally_page_svg_script_size, to);
	fputs("]]></script>\n</svg>\n", to);
	tally_buf_done(&name);
	tally_buf_done(&text);
}

int tally_page_write_svg(const struct tally_profile *profile, const struct tally_page_options *page,
			 const char *path, uint64_t *ret_size, struct tally_error *error)
{
	struct tally_page_options own = {.size = sizeof(own)};
	struct tally_buf graphs = {0};
	struct page_file file;
	unsigned top = HEAD;
	size_t drawn = 0, count = tally_profile_event_count(profile);
	int result = tally_options_take(&own, sizeof(own), page);

	if (result)
		return tally_fail(error, result, -1, "an option is not known to this libtally");
	/* Times first: they are what most want to see. */
	for (int times = 1; times >= 0; times--)
		for (size_t i = 0; i < count && (!result || result == -ENODATA); i++) {
			if (is_time(profile, i) != times)
				continue;
			result = draw_event(profile, i, &graphs, &top);
			drawn += !result;
		}
	if (result == -ENODATA && drawn)
		result = 0;
	if (!result)
		result = graphs.failed ? graphs.failed : drawn ? 0 : -ENODATA;
	if (!result)
		result = tally_page_file_open(&file, path, own.to, error);
	else if (result == -ENODATA)
		tally_fail(error, result, -1,
			   "no samples with call stacks; record them with `tally record -g`");
	else
		tally_fail(error, result, -1, "not enough memory for the flame graph");
	if (!result) {
		errno = 0;
		put_frame(tally_profile_session(profile), own.title, top + 10, &graphs, file.to);
		result = tally_page_file_close(&file, 0, ret_size, error);
	}
	tally_buf_done(&graphs);
	return result;
}
