/* The instructions of a function on a screen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "browser.h"
#include "code_text.h"
#include "screen.h"
#include "terminal.h"

#define JUMPS_MOST  32U
#define WHEEL_LINES 3
#define SHARE_WIDTH 8U

struct code {
	struct browser *browser;
	struct cli_screen *screen;
	const struct tally_frame *function;
	struct tally_annotation *annotation;
	struct code_text text;
	char title[512];
	size_t cursor, first;
	size_t jumps[JUMPS_MOST]; /* lines that Escape goes back to */
	size_t jump_count;
};

static unsigned rows_of(const struct code *code)
{
	unsigned height = cli_screen_height(code->screen);

	return height > 2 ? height - 2 : 1;
}

static int make_text(struct code *code, struct tally_error *error)
{
	const struct code_options options = {
	    .width = cli_screen_width(code->screen),
	    .intel = code->browser->intel,
	    .no_source = code->browser->no_source,
	    .utf8 = cli_term_utf8(),
	};
	uint64_t address =
	    code->cursor < code->text.count ? code->text.lines[code->cursor].address : UINT64_MAX;
	struct code_text text = {0};
	int result = code_text_make(code->annotation, &options, &text, error);
	size_t at;

	if (result)
		return result;
	code_text_done(&code->text);
	code->text = text;
	code->jump_count = 0;
	at = code_text_find(&text, address);
	if (at == text.count)
		at = code_text_next_hot(&text, text.count, true);
	code->cursor = at < text.count ? at : 0;
	return 0;
}

/* --- drawing --- */

static enum cli_style style_of(double share)
{
	return share >= 5 ? CLI_HOT : share >= 0.5 ? CLI_WARM : CLI_PLAIN;
}

static void put_line(const struct code *code, unsigned at, const struct code_line *line,
		     bool chosen)
{
	unsigned width = cli_screen_width(code->screen), column;
	enum cli_style style = chosen ? CLI_CURSOR : line->is_instruction ? CLI_PLAIN : CLI_DIM;
	const char *found = code->browser->search;

	if (!chosen && found[0] && strcasestr(line->text, found))
		style = CLI_FOUND;
	column = cli_screen_put(code->screen, at, 0, style, line->text, width);
	if (line->is_instruction && !chosen)
		cli_screen_put(code->screen, at, 0, style_of(line->share), line->text,
			       width < SHARE_WIDTH ? width : SHARE_WIDTH);
	if (chosen)
		cli_screen_fill(code->screen, at, column < width ? column : width, style);
}

static void draw(struct code *code)
{
	static const struct browser_hint hints[] = {{CLI_KEY_ESCAPE, "Esc", "back"},
						    {CLI_KEY_ENTER, "Enter", "follow jump, call"},
						    {'\t', "Tab", "next hot"},
						    {'s', "s", "search"},
						    {'o', "o", "source"},
						    {'M', "M", "syntax"},
						    {0}};
	unsigned rows = rows_of(code), width = cli_screen_width(code->screen);

	cli_screen_clear(code->screen);
	cli_screen_put(code->screen, 0, 0, CLI_BAR, code->title, width);
	cli_screen_fill(code->screen, 0, 0, CLI_BAR);
	if (code->cursor < code->first)
		code->first = code->cursor;
	if (code->cursor >= code->first + rows)
		code->first = code->cursor - rows / 2;
	if (code->first + rows > code->text.count)
		code->first = code->text.count > rows ? code->text.count - rows : 0;
	for (unsigned i = 0; i < rows && code->first + i < code->text.count; i++)
		put_line(code, 1 + i, &code->text.lines[code->first + i],
			 code->first + i == code->cursor);
	browser_draw_footer(code->browser, code->screen, hints);
	cli_screen_show(code->screen);
}

/* --- keys --- */

static void move(struct code *code, int64_t lines)
{
	int64_t to = (int64_t)code->cursor + lines, last = (int64_t)code->text.count - 1;

	code->cursor = (size_t)(to < 0 || last < 0 ? 0 : to > last ? last : to);
}

static void jump(struct code *code, size_t line)
{
	if (code->jump_count == JUMPS_MOST)
		memmove(code->jumps, code->jumps + 1, --code->jump_count * sizeof(*code->jumps));
	code->jumps[code->jump_count++] = code->cursor;
	code->cursor = line;
}

/* The function that a call leads to: "1210 <name>" or "1210 <name+0x8>". */
static int follow_call(struct code *code, const struct tally_instruction *instruction)
{
	const char *from = strchr(instruction->operands ? instruction->operands : "", '<');
	struct tally_frame frame = {.image_name = code->function->image_name};
	char name[1024];
	size_t length = from ? strcspn(from + 1, ">") : 0;
	char *plus;

	if (!length || length >= sizeof(name)) {
		browser_say(code->browser, "where this leads is not known before it runs");
		return BROWSER_CHANGED;
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, from + 1);
	plus = strrchr(name, '+');
	if (plus && plus[1] == '0')
		*plus = 0;
	frame.symbol = name;
	return browser_code(code->browser, code->screen, &frame);
}

static int follow(struct code *code)
{
	const struct code_line *line = &code->text.lines[code->cursor];
	struct tally_instruction instruction = {.size = sizeof(instruction)};
	size_t to;

	if (code->cursor >= code->text.count || !line->is_instruction ||
	    !code_text_instruction(&code->text, line->address, &instruction) ||
	    (instruction.kind != TALLY_INSTRUCTION_JUMP &&
	     instruction.kind != TALLY_INSTRUCTION_CALL)) {
		browser_say(code->browser, "this is neither a jump nor a call");
		return BROWSER_CHANGED;
	}
	to = instruction.has_target ? code_text_find(&code->text, instruction.target)
				    : code->text.count;
	if (to < code->text.count) {
		jump(code, to);
		return BROWSER_CHANGED;
	}
	return follow_call(code, &instruction);
}

static void next_hot(struct code *code, bool fewer)
{
	size_t to = code_text_next_hot(&code->text, code->cursor, fewer);

	if (to < code->text.count)
		code->cursor = to;
	else
		browser_say(code->browser, fewer ? "no other instruction has fewer samples"
						 : "no instruction has more samples");
}

static void find(struct code *code, bool forward)
{
	size_t count = code->text.count, at = code->cursor;

	for (size_t i = 0; i < count && code->browser->search[0]; i++) {
		at = forward ? (at + 1) % count : (at + count - 1) % count;
		if (strcasestr(code->text.lines[at].text, code->browser->search)) {
			code->cursor = at;
			return;
		}
	}
	browser_say(code->browser, "'%s' is in no line", code->browser->search);
}

/* Typed on the last line of this screen. */
static void search(struct code *code)
{
	char *text = code->browser->search;
	size_t length = 0;
	int key;

	*text = 0;
	do {
		browser_say(code->browser, "Search: %s_", text);
		draw(code);
		key = browser_wait_key(code->browser, code->screen);
		if (key == CLI_KEY_BACKSPACE && length)
			text[--length] = 0;
		else if (key >= ' ' && key < 127 && length + 1 < sizeof(code->browser->search))
			text[length++] = (char)key;
		text[length] = 0;
	} while (key != CLI_KEY_ENTER && key != CLI_KEY_ESCAPE && key != CLI_KEY_END_OF_INPUT);
	code->browser->message[0] = 0;
	if (key != CLI_KEY_ENTER)
		*text = 0;
	else
		find(code, true);
}

static void click(struct code *code)
{
	unsigned column, line = cli_screen_click(code->screen, &column);
	size_t at = code->first + line - 1;

	if (line && line <= rows_of(code) && at < code->text.count)
		code->cursor = at;
}

/* Text of another width or kind. */
static int make_again(struct code *code)
{
	struct tally_error error = {0};

	if (make_text(code, &error))
		browser_say(code->browser, "%s", error.text);
	return BROWSER_CHANGED;
}

/* 1: the screen is left, for a step back. */
#define LEAVE 100

static int move_key(struct code *code, int key)
{
	int64_t all = (int64_t)code->text.count, page = rows_of(code);

	switch (key) {
	case CLI_KEY_UP:
	case 'k':
		move(code, -1);
		break;
	case CLI_KEY_DOWN:
	case 'j':
		move(code, 1);
		break;
	case CLI_KEY_WHEEL_UP:
		move(code, -WHEEL_LINES);
		break;
	case CLI_KEY_WHEEL_DOWN:
		move(code, WHEEL_LINES);
		break;
	case CLI_KEY_PAGE_UP:
	case CLI_CTRL('b'):
		move(code, -page);
		break;
	case CLI_KEY_PAGE_DOWN:
	case CLI_CTRL('f'):
	case ' ':
		move(code, page);
		break;
	case CLI_KEY_HOME:
	case 'g':
		move(code, -all);
		break;
	case CLI_KEY_END:
	case 'G':
		move(code, all);
		break;
	case CLI_KEY_CLICK:
		click(code);
		break;
	default:
		return BROWSER_UNKNOWN;
	}
	return BROWSER_CHANGED;
}

static int other_key(struct code *code, int key)
{
	switch (key) {
	case CLI_KEY_ESCAPE:
	case CLI_KEY_BACKSPACE:
	case CLI_KEY_LEFT:
	case 'h':
		if (!code->jump_count)
			return LEAVE;
		code->cursor = code->jumps[--code->jump_count];
		return BROWSER_CHANGED;
	case CLI_KEY_ENTER:
	case CLI_KEY_RIGHT:
	case 'l':
		return follow(code);
	case '\t':
	case CLI_KEY_BACK_TAB:
		next_hot(code, key == '\t');
		return BROWSER_CHANGED;
	case 'H':
		code->cursor = code->text.count;
		next_hot(code, true);
		return BROWSER_CHANGED;
	case 's':
	case '/':
		search(code);
		return BROWSER_CHANGED;
	case 'n':
	case 'N':
		find(code, key == 'n');
		return BROWSER_CHANGED;
	case 'o':
		code->browser->no_source = !code->browser->no_source;
		return make_again(code);
	case 'M':
		code->browser->intel = !code->browser->intel;
		return make_again(code);
	case CLI_KEY_RESIZED:
		return make_again(code);
	case CLI_CTRL('l'):
		cli_screen_redraw(code->screen);
		return BROWSER_CHANGED;
	case '?':
		return browser_help(code->browser, code->screen);
	case 'q':
	case CLI_CTRL('c'):
	case CLI_KEY_END_OF_INPUT:
		return BROWSER_QUIT;
	default:
		return BROWSER_UNKNOWN;
	}
}

static int walk(struct code *code)
{
	int did;

	do {
		int key;

		draw(code);
		key = browser_wait_key(code->browser, code->screen);
		code->browser->message[0] = 0;
		key = browser_clicked_key(code->browser, code->screen, key);
		did = move_key(code, key);
		if (did == BROWSER_UNKNOWN)
			did = other_key(code, key);
	} while (did == BROWSER_CHANGED || did == BROWSER_UNKNOWN);
	return did == LEAVE ? BROWSER_CHANGED : did;
}

/* What is to be annotated, with the samples that it has itself. */
static int take_function(struct code *code, struct tally_error *error)
{
	struct tally_annotated_function of = {.size = sizeof(of)};
	char name[300], image[160];

	browser_frame_text(code->function, 200, name, sizeof(name));
	if (tally_annotation_function(code->annotation, 0, &of)) {
		const char *why = "has no samples of its own";

		if (code->function->inlined)
			why = "was inlined: its code is in the function that called it";
		else if (!code->function->symbol && !code->function->function)
			why = "is an address in no known function: there is no code to show";
		error->code = -ENOENT;
		snprintf(error->text, sizeof(error->text), "%s %s", name, why);
		return -ENOENT;
	}
	tally_text_escape(of.frame.image_name ? of.frame.image_name : "", image, sizeof(image));
	snprintf(code->title, sizeof(code->title), "%s  %s  %.2f%% of all samples", name, image,
		 100 * of.share);
	return 0;
}

int browser_code(struct browser *browser, struct cli_screen *screen,
		 const struct tally_frame *function)
{
	struct code code = {.browser = browser, .screen = screen, .function = function};
	struct tally_error error = {0};
	void *kept = NULL;
	int result, did = BROWSER_CHANGED;

	browser_say(browser, "reading samples");
	browser_draw(browser, screen);
	browser->message[0] = 0;
	result = browser->source->annotate(browser->source->context, function, &code.annotation,
					   &kept, &error);
	if (!result)
		result = take_function(&code, &error);
	if (!result)
		result = make_text(&code, &error);
	if (result)
		browser_say(browser, "%s", error.text);
	else
		did = walk(&code);
	code_text_done(&code.text);
	tally_annotation_free(code.annotation);
	if (kept)
		browser->source->done(kept);
	return did;
}
