/* Which rows of a profile are shown, and in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "array.h"
#include "browser.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
	return hash ^ hash >> 32;
}

uint64_t browser_text_id(uint64_t seed, const char *text)
{
	uint64_t hash = seed;

	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
	return mix(hash, 1);
}

uint64_t browser_frame_id(uint64_t seed, const struct tally_frame *frame)
{
	return mix(browser_text_id(browser_text_id(seed, frame->image_name), frame->symbol),
		   frame->place);
}

static bool is_of_place(const char *key)
{
	return !strcmp(key, "comm") || !strcmp(key, "dso") || !strcmp(key, "symbol");
}

static uint64_t id_of(const struct browser *browser, const struct tally_profile_row *row)
{
	/* Of a session, equal names are one text, which is faster to compare by its place. */
	uint64_t hash = mix(mix(row->frame.image, (uintptr_t)row->frame.symbol), row->frame.place);
	const char *const *keys;
	size_t count;

	hash = mix(hash, (uintptr_t)row->comm);

	keys = tally_profile_keys(browser->profile, &count);
	for (size_t i = 0; i < count; i++)
		if (!is_of_place(keys[i]))
			hash = mix(hash, row->values[i]);
	return hash;
}

struct browser_row browser_row(const struct browser *browser, uint32_t number,
			       const struct tally_profile_row *row)
{
	return (struct browser_row){
	    .id = id_of(browser, row),
	    .children = row->children,
	    .self = row->self,
	    .number = number,
	};
}

static bool contains(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool contains_filter(const struct browser *browser, const struct tally_profile_row *row)
{
	const char *filter = browser->place.filter;
	char text[1024];

	if (!filter[0] || contains(row->comm, filter) || contains(row->frame.image_name, filter) ||
	    contains(row->frame.symbol, filter))
		return true;
	for (size_t i = 0; i < browser->column_count; i++) {
		if (is_of_place(browser->columns[i].key) &&
		    !(browser->columns[i].function && !row->frame.symbol))
			continue;
		browser_cell(browser, row, &browser->columns[i], UINT32_MAX, text, sizeof(text));
		if (contains(text, filter))
			return true;
	}
	return false;
}

static bool shows(const struct browser *browser, const struct tally_profile_row *row)
{
	const struct browser_place *place = &browser->place;
	bool kernel = row->frame.level == 'k' || row->frame.level == 'g';

	if (kernel ? browser->hide_kernel : browser->hide_user && row->frame.level)
		return false;
	if (place->comm[0] && (!row->comm || strcmp(row->comm, place->comm) != 0))
		return false;
	/* The rows of a thread or of all have no binary. */
	if (place->dso[0] && row->frame.image_name &&
	    strcmp(row->frame.image_name, place->dso) != 0)
		return false;
	return contains_filter(browser, row);
}

struct sorting {
	struct browser_row row;
	const char *name;
};

static int by_self(const void *left, const void *right)
{
	const struct sorting *a = left, *b = right;

	if (a->row.self != b->row.self)
		return a->row.self > b->row.self ? -1 : 1;
	return a->row.number < b->row.number ? -1 : a->row.number > b->row.number;
}

static int by_name(const void *left, const void *right)
{
	const struct sorting *a = left, *b = right;
	int result = strcmp(a->name, b->name);

	if (result)
		return result;
	return a->row.number < b->row.number ? -1 : a->row.number > b->row.number;
}

static const char *name_of(const struct tally_profile_row *row)
{
	if (row->frame.symbol)
		return row->frame.symbol;
	if (row->frame.image_name)
		return row->frame.image_name;
	return row->comm ? row->comm : "";
}

static int sort(struct browser *browser)
{
	struct tally_profile_row row = {.size = sizeof(row)};
	struct sorting *list;

	if (browser->sort == BROWSER_BY_TOTAL || browser->shown_count < 2)
		return 0; /* as the profile has them */
	list = calloc(browser->shown_count, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < browser->shown_count; i++) {
		list[i].row = browser->shown[i];
		if (browser->sort == BROWSER_BY_SELF)
			continue;
		tally_profile_row(browser->profile, browser->event, list[i].row.number, &row);
		list[i].name = name_of(&row);
	}
	qsort(list, browser->shown_count, sizeof(*list),
	      browser->sort == BROWSER_BY_SELF ? by_self : by_name);
	for (size_t i = 0; i < browser->shown_count; i++)
		browser->shown[i] = list[i].row;
	free(list);
	return 0;
}

int browser_choose_rows(struct browser *browser)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	struct tally_profile_row row = {.size = sizeof(row)};

	browser->shown_count = 0;
	if (!browser->profile || tally_profile_event(browser->profile, browser->event, &event))
		return 0;
	for (uint64_t i = 0; i < event.row_count && i < UINT32_MAX; i++) {
		if (tally_profile_row(browser->profile, browser->event, i, &row))
			break;
		if ((double)row.children < browser->percent_limit / 100 * (double)event.total ||
		    row.samples < browser->samples_least || !shows(browser, &row))
			continue;
		if (!cli_array_next(&browser->shown, &browser->shown_room, browser->shown_count,
				    sizeof(*browser->shown)))
			return -ENOMEM;
		browser->shown[browser->shown_count++] = browser_row(browser, (uint32_t)i, &row);
	}
	return sort(browser);
}

uint32_t browser_find_function(const struct browser *browser, const struct browser_place *place)
{
	struct tally_profile_event event = {.size = sizeof(event)};
	struct tally_profile_row row = {.size = sizeof(row)};

	if (!browser->profile || tally_profile_event(browser->profile, browser->event, &event))
		return UINT32_MAX;
	for (uint64_t i = 0; i < event.row_count && i < UINT32_MAX; i++) {
		if (tally_profile_row(browser->profile, browser->event, i, &row))
			break;
		if (browser_frame_id(1, &row.frame) == place->frame &&
		    (!place->program || browser_text_id(1, row.comm) == place->program))
			return (uint32_t)i;
	}
	return UINT32_MAX;
}
