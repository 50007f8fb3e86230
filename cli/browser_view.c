/* The lines of a browser on a screen. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "browser.h"
#include "screen.h"

/* Narrower terminals show no column of binaries. */
#define WIDTH_OF_DSO 70

void browser_frame_text(const struct tally_frame *frame, char *text, size_t size)
{
	if (frame->symbol) {
		size_t length = tally_text_escape(frame->symbol, text, size);

		if (frame->inlined && length < size)
			snprintf(text + length, size - length, " (inlined)");
	} else if (frame->function || (frame->image_name && frame->image_name[0] != '[')) {
		size_t length = tally_text_escape(frame->image_name, text, size);

		if (length < size)
			snprintf(text + length, size - length, "+0x%" PRIx64,
				 frame->function ? frame->address : frame->place);
	} else {
		snprintf(text, size, "0x%" PRIx64, frame->place);
	}
}

/* Adds a cell of so many columns: one that is too long keeps its end, where names differ. */
static size_t add_cell(char *to, size_t size, const char *text, unsigned width)
{
	char escaped[256];
	size_t length;

	tally_text_escape(text ? text : "", escaped, sizeof(escaped));
	length = strlen(escaped);
	if (length > width)
		return (size_t)snprintf(to, size, "..%-*.*s  ", (int)width - 2, (int)width - 2,
					escaped + length - (width - 2));
	return (size_t)snprintf(to, size, "%-*s  ", (int)width, escaped);
}

static bool has_key(const struct browser *browser, const char *name)
{
	const char *const *keys;
	size_t count;

	keys = tally_profile_keys(browser->profile, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i], name))
			return true;
	return false;
}

static void row_text(const struct browser *browser, const struct browser_line *line, unsigned width,
		     char *text, size_t size)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	const char *const *keys;
	size_t count, used = 0;

	*text = 0;
	if (tally_profile_row(browser->profile, browser->event, line->row, &row))
		return;
	keys = tally_profile_keys(browser->profile, &count);
	for (size_t i = 0; i < count && used + 64 < size; i++) {
		char number[32];

		if (!strcmp(keys[i], "comm")) {
			used += add_cell(text + used, size - used, row.comm, browser->comm_width);
		} else if (!strcmp(keys[i], "dso")) {
			if (width >= WIDTH_OF_DSO || !has_key(browser, "symbol"))
				used += add_cell(text + used, size - used, row.frame.image_name,
						 browser->dso_width);
		} else if (strcmp(keys[i], "symbol") != 0) {
			snprintf(number, sizeof(number), "%" PRId64, (int64_t)row.values[i]);
			used += add_cell(text + used, size - used, number, 8);
		}
	}
	if (has_key(browser, "symbol") && used + 16 < size) {
		used += (size_t)snprintf(text + used, size - used, "[%c] ",
					 row.frame.level > ' ' ? row.frame.level : '.');
		browser_frame_text(&row.frame, text + used, size - used);
	}
}

void browser_text(const struct browser *browser, const struct browser_line *line, unsigned width,
		  char *text, size_t size)
{
	if (line->tree == BROWSER_NO_TREE)
		row_text(browser, line, width, text, size);
	else
		browser_frame_text(&browser->trees[line->tree].tree.nodes[line->node].frame, text,
				   size);
}

static enum cli_style style_of(double share)
{
	return share >= 5 ? CLI_HOT : share >= 0.5 ? CLI_WARM : CLI_PLAIN;
}

static void draw_line(const struct browser *browser, struct cli_screen *screen, unsigned at,
		      const struct browser_line *line, bool chosen)
{
	unsigned width = cli_screen_width(screen), column = 0;
	bool children = tally_profile_has_children(browser->profile);
	enum cli_style style = chosen ? CLI_CURSOR : CLI_PLAIN;
	char text[2048], shares[64];
	char mark = line->opens ? line->open ? '-' : '+' : ' ';

	if (line->tree == BROWSER_NO_TREE) {
		snprintf(shares, sizeof(shares), children ? "%c %6.2f%% %6.2f%%  " : "%c %6.2f%%  ",
			 mark, line->share, line->self);
	} else {
		unsigned indent = line->depth * 2 < width / 2 ? line->depth * 2 : width / 2;

		snprintf(shares, sizeof(shares), "%*s%c %6.2f%%  ",
			 (int)(indent < 40 ? indent : 40), "", mark, line->share);
	}
	column = cli_screen_put(screen, at, 0,
				chosen                          ? style
				: line->tree == BROWSER_NO_TREE ? style_of(line->share)
								: CLI_DIM,
				shares, width);
	browser_text(browser, line, width, text, sizeof(text));
	column += cli_screen_put(screen, at, column, style, text, width - column);
	if (chosen)
		cli_screen_fill(screen, at, column, style);
}

static size_t events_with_samples(const struct tally_profile *profile)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	size_t count = 0;

	for (size_t i = 0; !tally_profile_event(profile, i, &event); i++)
		count += event.samples > 0;
	return count;
}

static void draw_heading(const struct browser *browser, struct cli_screen *screen, unsigned at)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	unsigned width = cli_screen_width(screen), column = 0;
	size_t count = events_with_samples(browser->profile);
	char name[128], text[512];

	if (tally_profile_event(browser->profile, browser->event, &event))
		return;
	tally_text_escape(event.name, name, sizeof(name));
	snprintf(text, sizeof(text), "%" PRIu64 " samples of %s", event.samples, name);
	column = cli_screen_put(screen, at, 0, CLI_BOLD, text, width);
	if (count > 1) {
		snprintf(text, sizeof(text), " (one of %zu events)", count);
		column += cli_screen_put(screen, at, column, CLI_PLAIN, text, width - column);
	}
	snprintf(text, sizeof(text), "%s%s%s%s%s%s", browser->comm[0] ? "; program " : "",
		 browser->comm, browser->dso[0] ? "; binary " : "", browser->dso,
		 browser->filter[0] ? "; filter " : "", browser->filter);
	cli_screen_put(screen, at, column, CLI_PLAIN, text, width - column);
}

void browser_draw(struct browser *browser, struct cli_screen *screen, unsigned top, unsigned height)
{
	unsigned rows = height > 2 ? height - 2 : 0, width = cli_screen_width(screen);
	const char *empty = "no rows";

	if (!browser->profile)
		return;
	draw_heading(browser, screen, top);
	cli_screen_put(screen, top + 1, 0, CLI_BAR,
		       tally_profile_has_children(browser->profile) ? "  Children    Self  "
								    : "     Self  ",
		       width);
	cli_screen_fill(screen, top + 1, 0, CLI_BAR);
	if (browser->cursor < browser->first)
		browser->first = browser->cursor;
	if (rows && browser->cursor >= browser->first + rows)
		browser->first = browser->cursor - rows + 1;
	if (browser->first && browser->first + rows > browser->line_count)
		browser->first = browser->line_count > rows ? browser->line_count - rows : 0;
	for (unsigned i = 0; i < rows && browser->first + i < browser->line_count; i++)
		draw_line(browser, screen, top + 2 + i, &browser->lines[browser->first + i],
			  browser->first + i == browser->cursor);
	if (browser->filter[0] || browser->comm[0] || browser->dso[0])
		empty = "no row matches; Esc shows all";
	if (!browser->line_count)
		cli_screen_put(screen, top + 2, 2, CLI_PLAIN, empty, width - 2);
}
