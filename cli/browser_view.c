/* What a browser shows, on a screen: the heading, titles of columns, lines, and the keys of the
 * moment. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "browser.h"
#include "screen.h"

/* Narrower terminals indent trees less. */
#define INDENT_MOST 40U

static enum cli_style style_of(double share)
{
	return share >= 5 ? CLI_HOT : share >= 0.5 ? CLI_WARM : CLI_PLAIN;
}

/* --- the heading: parts, what is chosen of them, samples --- */

static size_t events_with_samples(const struct tally_profile *profile)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	size_t count = 0;

	for (size_t i = 0; !tally_profile_event(profile, i, &event); i++)
		count += event.samples > 0;
	return count;
}

static unsigned put_parts(const struct browser *browser, struct cli_screen *screen, unsigned line)
{
	static const char *const names[BROWSER_PARTS] = {"1 Functions", "2 Threads", "3 Binaries",
							 "4 Stacks"};
	unsigned column = 0, width = cli_screen_width(screen);

	for (unsigned i = 0; i < BROWSER_PARTS; i++) {
		bool here = browser->place.view == BROWSER_LIST && browser->place.want.part == i;

		char text[32];

		snprintf(text, sizeof(text), here ? "[%s] " : " %s  ", names[i]);
		column += cli_screen_put(screen, line, column, here ? CLI_BOLD : CLI_PLAIN, text,
					 width - column);
	}
	return column;
}

/* Where the reader is, from the last step inwards. */
static void place_text(const struct browser *browser, char *text, size_t size)
{
	const struct browser_place *place = &browser->place;
	char name[256];
	size_t used = 0;
	const struct {
		const char *what, *name;
	} parts[] = {
	    {"function ", place->view == BROWSER_FUNCTION ? place->function : ""},
	    {"", place->view == BROWSER_FLAME ? "flame view" : ""},
	    {"thread ", place->want.one_thread ? place->thread : ""},
	    {"program ", place->comm},
	    {"binary ", place->dso},
	    {"filter ", place->filter},
	    {"by ", browser->sort == BROWSER_BY_SELF   ? "self"
		    : browser->sort == BROWSER_BY_NAME ? "name"
						       : ""},
	    {"without ", browser->hide_kernel && browser->hide_user ? "kernel and user space"
			 : browser->hide_kernel                     ? "kernel"
			 : browser->hide_user                       ? "user space"
								    : ""},
	};

	*text = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && used < size; i++) {
		if (!parts[i].name[0])
			continue;
		tally_text_escape(parts[i].name, name, sizeof(name));
		used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "",
					 parts[i].what, name);
	}
}

static void put_samples(const struct browser *browser, struct cli_screen *screen, unsigned line,
			unsigned column)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	unsigned width = cli_screen_width(screen);
	size_t count = events_with_samples(browser->profile);
	char name[128], texts[3][256];
	size_t text = 0;

	if (tally_profile_event(browser->profile, browser->event, &event))
		return;
	tally_text_escape(event.name, name, sizeof(name));
	/* The longest that there is room for. */
	snprintf(texts[0], sizeof(texts[0]),
		 count > 1 ? "%" PRIu64 " sample%s of %s (Tab: %zu events)"
			   : "%" PRIu64 " sample%s of %s",
		 event.samples, event.samples == 1 ? "" : "s", name, count);
	snprintf(texts[1], sizeof(texts[1]),
		 count > 1 ? "%" PRIu64 " of %s (Tab)" : "%" PRIu64 " of %s", event.samples, name);
	snprintf(texts[2], sizeof(texts[2]), "%s", name);
	while (text < 2 && column + strlen(texts[text]) > width)
		text++;
	if (column + strlen(texts[text]) < width)
		column = width - (unsigned)strlen(texts[text]);
	cli_screen_put(screen, line, column, CLI_PLAIN, texts[text], width - column);
}

/* --- lines --- */

static bool has_children(const struct browser *browser)
{
	return tally_profile_has_children(browser->profile);
}

/* Titles of the shares: of rows, and of branches, which have one share. */
static const char *share_titles(const struct browser *browser)
{
	if (browser->place.want.part == BROWSER_STACKS)
		return "     Share";
	return has_children(browser) ? "  Children    Self" : "  Overhead";
}

static void put_titles(const struct browser *browser, struct cli_screen *screen, unsigned line)
{
	const char *shares = share_titles(browser);
	unsigned width = cli_screen_width(screen), column = (unsigned)strlen(shares) + 1;
	unsigned widths[BROWSER_COLUMNS_MOST];
	char place[600];

	column += has_children(browser); /* as put_line() has it */
	place_text(browser, place, sizeof(place));
	cli_screen_put(screen, line, 0, CLI_BAR, shares, width);
	cli_screen_fill(screen, line, (unsigned)strlen(shares), CLI_BAR);
	browser_widths(browser, width > column ? width - column : 0, widths);
	for (size_t i = 0; i < browser->column_count && column < width; i++) {
		if (!widths[i])
			continue;
		cli_screen_put(screen, line, column, CLI_BAR, browser->columns[i].title,
			       width - column < widths[i] ? width - column : widths[i]);
		column += widths[i] + 2;
	}
	if (place[0]) { /* at the right, over titles that are of less interest */
		unsigned length = (unsigned)strlen(place) + 2;

		column = length < width ? width - length : 0;
		cli_screen_put(screen, line, column, CLI_BAR_KEY, " ", width - column);
		cli_screen_put(screen, line, column + 1, CLI_BAR_KEY, place, width - column - 1);
	}
}

static void put_line(const struct browser *browser, struct cli_screen *screen, unsigned at,
		     const struct browser_line *line, bool chosen)
{
	unsigned width = cli_screen_width(screen), column = 0;
	enum cli_style style = chosen ? CLI_CURSOR : CLI_PLAIN;
	char text[2048], shares[64];
	char mark = line->opens ? line->open ? '-' : '+' : ' ';

	if (line->title) {
		cli_screen_put(screen, at, 2, CLI_BOLD, line->title, width > 2 ? width - 2 : 0);
		return;
	}
	if (line->tree == BROWSER_NO_TREE) {
		snprintf(shares, sizeof(shares),
			 has_children(browser) ? "%c %6.2f%% %6.2f%%  " : "%c %6.2f%%  ", mark,
			 line->share, line->self);
	} else {
		unsigned most = width / 2 < INDENT_MOST ? width / 2 : INDENT_MOST;
		unsigned indent = line->depth * 2 < most ? line->depth * 2 : most;

		snprintf(shares, sizeof(shares), "%*s%c %6.2f%%  ", (int)indent, "", mark,
			 line->share);
	}
	column = cli_screen_put(screen, at, 0,
				chosen                          ? style
				: line->tree == BROWSER_NO_TREE ? style_of(line->share)
								: CLI_DIM,
				shares, width);
	browser_text(browser, line, width - column, text, sizeof(text));
	if (!chosen && browser->search[0] && strcasestr(text, browser->search))
		style = CLI_FOUND;
	column += cli_screen_put(screen, at, column, style, text, width - column);
	if (chosen)
		cli_screen_fill(screen, at, column, style);
}

unsigned browser_top(const struct browser *browser)
{
	unsigned above = browser->status ? 1 : 0;

	return above + browser_notes(browser, browser->screen, above, false) + 2;
}

unsigned browser_page(const struct browser *browser, const struct cli_screen *screen)
{
	unsigned height = cli_screen_height(screen), top = browser_top(browser) + 1;

	return height > top ? height - top : 1;
}

/* In as many lines as it needs. */
static void put_sentence(struct cli_screen *screen, unsigned line, unsigned lines, const char *text)
{
	unsigned width = cli_screen_width(screen) > 4 ? cli_screen_width(screen) - 4 : 1;

	for (; *text && lines; lines--) {
		size_t used = browser_fitting(text, strlen(text), width);
		char part[512];

		snprintf(part, sizeof(part), "%.*s", (int)used, text);
		cli_screen_put(screen, line++, 2, CLI_PLAIN, part, width);
		text += used + strspn(text + used, " ");
	}
}

static void put_lines(struct browser *browser, struct cli_screen *screen)
{
	struct browser_place *place = &browser->place;
	unsigned rows = browser_page(browser, screen), top = browser_top(browser);
	char empty[512];

	if (place->cursor < place->first)
		place->first = place->cursor;
	/* What is above the first line of a function's screen is seen, too. */
	if (place->cursor == 1 && place->first == 1)
		place->first = 0;
	if (place->cursor >= place->first + rows)
		place->first = place->cursor - rows + 1;
	if (place->first && place->first + rows > browser->line_count)
		place->first = browser->line_count > rows ? browser->line_count - rows : 0;
	for (unsigned i = 0; i < rows && place->first + i < browser->line_count; i++)
		put_line(browser, screen, top + i, &browser->lines[place->first + i],
			 place->first + i == place->cursor);
	if (browser->line_count)
		return;
	browser_why_empty(browser, empty, sizeof(empty));
	put_sentence(screen, top, rows, empty);
}

/* --- the keys of the moment --- */

static void put_footer(struct browser *browser, struct cli_screen *screen)
{
	const struct browser_line *line = browser_chosen(browser);
	struct browser_hint hints[BROWSER_HINTS_MOST];
	struct tally_frame frame;
	size_t count = 0;
	bool function = line && browser_line_frame(browser, line, &frame);

	if (browser->step_count)
		hints[count++] = (struct browser_hint){CLI_KEY_ESCAPE, "Esc", "back"};
	if (line && line->opens)
		hints[count++] =
		    (struct browser_hint){CLI_KEY_ENTER, "Enter", line->open ? "close" : "open"};
	if (browser->place.want.part == BROWSER_THREADS && line)
		hints[count++] = (struct browser_hint){'t', "t", "its functions"};
	else if (browser->place.want.part == BROWSER_IMAGES && line)
		hints[count++] = (struct browser_hint){'d', "d", "its functions"};
	if (function) {
		hints[count++] = (struct browser_hint){'c', "c", "callers"};
		hints[count++] = (struct browser_hint){'a', "a", "code"};
	}
	hints[count++] = (struct browser_hint){'f', "f", "flame"};
	for (size_t i = 0; browser->own && browser->own[i].name && i < 3; i++)
		hints[count++] = browser->own[i];
	hints[count++] = (struct browser_hint){'/', "/", "filter"};
	hints[count++] = (struct browser_hint){'s', "s", "search"};
	hints[count] = (struct browser_hint){0};
	browser_draw_footer(browser, screen, hints);
}

static void put_flame_footer(struct browser *browser, struct cli_screen *screen)
{
	static const struct browser_hint hints[] = {{CLI_KEY_ESCAPE, "Esc", "back"},
						    {CLI_KEY_ENTER, "Enter", "zoom"},
						    {'c', "c", "callers"},
						    {'a', "a", "code"},
						    {'s', "s", "search"},
						    {0}};

	browser_draw_footer(browser, screen, hints);
}

/* What is cut ends with ... */
static void put_status(const char *status, struct cli_screen *screen)
{
	unsigned width = cli_screen_width(screen);
	size_t length = strlen(status);
	bool cut = browser_fitting(status, length, width) < length && width > 4;
	unsigned used = cli_screen_put(screen, 0, 0, CLI_BOLD, status, cut ? width - 4 : width);

	if (cut)
		cli_screen_put(screen, 0, used, CLI_BOLD, " ...", 4);
}

void browser_draw(struct browser *browser, struct cli_screen *screen)
{
	unsigned width = cli_screen_width(screen), line = browser->status ? 1 : 0;
	char place[600];

	browser->screen = screen;
	cli_screen_clear(screen);
	if (browser->status)
		put_status(browser->status, screen);
	if (browser->profile) {
		line += browser_notes(browser, screen, line, true);
		put_samples(browser, screen, line, put_parts(browser, screen, line));
		if (browser->place.view == BROWSER_FLAME) {
			place_text(browser, place, sizeof(place));
			cli_screen_put(screen, line + 1, 0, CLI_BAR_KEY, place, width);
			cli_screen_fill(screen, line + 1, 0, CLI_BAR);
			browser_flame_draw(browser, screen, line + 2,
					   browser_page(browser, screen));
		} else {
			put_titles(browser, screen, line + 1);
			put_lines(browser, screen);
		}
	} else {
		cli_screen_put(screen, line + 2, 2, CLI_PLAIN, "waiting for samples",
			       width > 2 ? width - 2 : 0);
	}
	if (browser->place.view == BROWSER_FLAME && browser->profile)
		put_flame_footer(browser, screen);
	else
		put_footer(browser, screen);
	cli_screen_show(screen);
}
