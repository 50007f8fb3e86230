/* What a browser shows, and the way that led there. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "browser.h"

#define STEPS_MOST (sizeof(((struct browser *)NULL)->steps) / sizeof(struct browser_place))

void browser_say(struct browser *browser, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(browser->message, sizeof(browser->message), format, arguments);
	va_end(arguments);
}

bool browser_same_want(const struct browser_want *one, const struct browser_want *other)
{
	return one->part == other->part && one->one_thread == other->one_thread &&
	       (!one->one_thread || one->tid == other->tid);
}

void browser_done(struct browser *browser)
{
	browser_forget_trees(browser);
	browser_flame_done(&browser->flame);
	free(browser->flame.blocks);
	free(browser->trees);
	free(browser->lines);
	free(browser->shown);
	free(browser->opened);
	*browser = (struct browser){0};
}

/* --- profiles --- */

int browser_take(struct browser *browser, struct tally_profile *profile)
{
	int result = 0;

	browser_forget_trees(browser);
	browser_flame_done(&browser->flame);
	browser->profile = profile;
	browser->waiting = !profile;
	if (!profile) {
		browser->line_count = browser->shown_count = 0;
		return 0;
	}
	browser_columns_make(browser);
	if (browser->place.view == BROWSER_FLAME)
		result = browser_flame_make(browser);
	else
		result = browser_choose_rows(browser);
	return result ? result : browser_renew(browser);
}

/* The profile of the place.  0; -ENOMEM; or -errno with words. */
static int ask(struct browser *browser, struct tally_error *error)
{
	struct tally_profile *profile = NULL;
	int result;

	if (browser->screen) { /* it may take some time */
		browser_say(browser, "reading samples");
		browser_draw_message(browser);
		browser->message[0] = 0;
	}
	result = browser->source->profile(browser->source->context, &browser->place.want, &profile,
					  error);
	if (result && result != -EAGAIN)
		return result;
	result = browser_take(browser, result ? NULL : profile);
	if (result)
		snprintf(error->text, sizeof(error->text), "not enough memory");
	return result;
}

int browser_start(struct browser *browser, struct tally_error *error)
{
	return ask(browser, error);
}

/* Shows the place, which was another one before.  0 or -errno with words. */
static int show_place(struct browser *browser, const struct browser_want *before,
		      struct tally_error *error)
{
	int result;

	if (!browser->profile || !browser_same_want(&browser->place.want, before))
		return ask(browser, error);
	if (browser->place.view == BROWSER_FLAME)
		result = browser->flame.tree.count ? 0 : browser_flame_make(browser);
	else
		result = browser_choose_rows(browser);
	if (!result)
		result = browser_renew(browser);
	if (result)
		snprintf(error->text, sizeof(error->text), "not enough memory");
	return result;
}

/* --- steps --- */

int browser_go(struct browser *browser, const struct browser_place *place)
{
	struct browser_want before = browser->place.want;
	struct tally_error error = {0};
	int result;

	if (browser->step_count == STEPS_MOST) /* the first one stays the way out */
		memmove(browser->steps + 1, browser->steps + 2,
			(--browser->step_count - 1) * sizeof(*browser->steps));
	browser->steps[browser->step_count++] = browser->place;
	browser->place = *place;
	result = show_place(browser, &before, &error);
	if (!result || result == -ENOMEM)
		return result;
	browser_say(browser, "%s", error.text);
	return browser_back(browser);
}

int browser_back(struct browser *browser)
{
	struct browser_want before = browser->place.want;
	struct tally_error error = {0};
	int result;

	if (!browser->step_count)
		return 0;
	browser->place = browser->steps[--browser->step_count];
	result = show_place(browser, &before, &error);
	if (!result || result == -ENOMEM)
		return result;
	browser_say(browser, "%s", error.text);
	return 0;
}

/* The place with other rows, none of which is chosen. */
static struct browser_place other_rows(const struct browser *browser)
{
	struct browser_place place = browser->place;

	place.view = BROWSER_LIST;
	place.chosen = place.root = 0;
	place.cursor = place.first = 0;
	return place;
}

static bool has_chains(const struct browser *browser)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	return browser->profile && !tally_profile_event(browser->profile, browser->event, &event) &&
	       event.has_callchains;
}

static int say_chains(struct browser *browser)
{
	browser_say(browser, "this event has no call stacks: record them with -g");
	return 0;
}

int browser_go_part(struct browser *browser, enum browser_part part)
{
	struct browser_place place = other_rows(browser);

	if (part == BROWSER_STACKS && !has_chains(browser))
		return say_chains(browser);
	if (browser->place.view == BROWSER_LIST && place.want.part == part)
		return 0;
	place.want.part = part;
	return browser_go(browser, &place);
}

int browser_go_flame(struct browser *browser)
{
	struct browser_place place = other_rows(browser);

	if (!has_chains(browser))
		return say_chains(browser);
	if (browser->place.view == BROWSER_FLAME)
		return 0;
	place.view = BROWSER_FLAME;
	place.want.part = BROWSER_STACKS;
	return browser_go(browser, &place);
}

/* The row of the chosen line; false: there is none. */
static bool chosen_row(const struct browser *browser, struct tally_profile_row *ret)
{
	const struct browser_line *line = browser_chosen(browser);

	return line && !tally_profile_row(browser->profile, browser->event, line->row, ret);
}

/* The value of the key tid; false: rows do not have it. */
static bool tid_of(const struct browser *browser, const struct tally_profile_row *row,
		   uint64_t *ret)
{
	const char *const *keys;
	size_t count;

	keys = tally_profile_keys(browser->profile, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i], "tid")) {
			*ret = row->values[i];
			return true;
		}
	return false;
}

int browser_go_thread(struct browser *browser)
{
	struct browser_place place = other_rows(browser);
	struct tally_profile_row row = {.size = sizeof(row)};
	char name[32];

	if (!chosen_row(browser, &row))
		return 0;
	if (tid_of(browser, &row, &place.want.tid)) {
		tally_text_escape(row.comm ? row.comm : "", name, sizeof(name));
		snprintf(place.thread, sizeof(place.thread), "%s %" PRIu64, name, place.want.tid);
		place.want.one_thread = true;
		if (place.want.part == BROWSER_THREADS)
			place.want.part = BROWSER_FUNCTIONS;
	} else if (row.comm && strlen(row.comm) < sizeof(place.comm)) {
		snprintf(place.comm, sizeof(place.comm), "%s", row.comm);
	} else {
		browser_say(browser, "these rows are of all threads: 2 lists the threads");
		return 0;
	}
	return browser_go(browser, &place);
}

int browser_go_image(struct browser *browser)
{
	struct browser_place place = other_rows(browser);
	struct tally_profile_row row = {.size = sizeof(row)};
	const struct browser_line *line = browser_chosen(browser);
	const char *name;
	struct tally_frame frame;

	if (!chosen_row(browser, &row))
		return 0;
	name = browser_line_frame(browser, line, &frame) ? frame.image_name : row.frame.image_name;
	if (!name || strlen(name) >= sizeof(place.dso)) {
		browser_say(browser, "these rows are of all binaries: 3 lists the binaries");
		return 0;
	}
	snprintf(place.dso, sizeof(place.dso), "%s", name);
	if (place.want.part != BROWSER_FUNCTIONS)
		place.want.part = BROWSER_FUNCTIONS;
	return browser_go(browser, &place);
}

int browser_go_function(struct browser *browser)
{
	struct browser_place place = other_rows(browser);
	struct tally_profile_row row = {.size = sizeof(row)};
	const struct browser_line *line = browser_chosen(browser);
	struct tally_frame frame;
	int result;

	if (!has_chains(browser))
		return say_chains(browser);
	if (browser->place.view == BROWSER_FLAME) {
		const struct tally_tree_node *node = browser_flame_chosen(browser);

		if (!node)
			return 0;
		frame = node->frame;
	} else if (!line || !browser_line_frame(browser, line, &frame)) {
		browser_say(browser, "this row is not of a function");
		return 0;
	} else if (chosen_row(browser, &row) && place.want.part == BROWSER_FUNCTIONS) {
		place.program = browser_text_id(1, row.comm);
	}
	frame.inlined = false;
	place.frame = browser_frame_id(1, &frame);
	if (browser->place.view == BROWSER_FUNCTION && place.frame == browser->place.frame)
		return 0;
	browser_frame_text(&frame, UINT32_MAX, place.function, sizeof(place.function));
	place.view = BROWSER_FUNCTION;
	place.want.part = BROWSER_FUNCTIONS;
	result = browser_go(browser, &place);
	if (!result && !browser->waiting && !browser->line_count) {
		browser_say(browser, "%s has no row of its own", place.function);
		result = browser_back(browser);
	}
	return result;
}
