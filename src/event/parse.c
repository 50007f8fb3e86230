/* STRING -> ATTRS: lists, groups and the order in which the families are asked.
 *
 *   list     = member { "," member }
 *   member   = event | [ name ] "{" event { "," event } "}" [ ":" modifiers ]
 *   event    = generic [ ":" [ modifiers ] ]       cycles, cpu-clock:u
 *            | generic "//" [ modifiers ]          cycles//u
 *            | cache [ ":" modifiers ]             L1-dcache-load-misses:u
 *            | "r" hex [ ":" modifiers ]           r1a8:k
 *            | number ":" number [ ":" [ modifiers ] ]   type:config
 *            | system ":" name [ ":" [ modifiers ] ]   sched:sched_switch, either side a glob
 *
 * Names end at one of , { } : / or a blank.  Blanks may stand before and after an event. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/text.h"
#include "event/family.h"

struct parser {
	const char *text;
	size_t at;
	const struct tally_event_options *options;
	struct event_items items;
	struct tally_error *error;
};

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)parser->text[parser->at]))
		parser->at++;
}

static char peek(const struct parser *parser)
{
	return parser->text[parser->at];
}

static bool take(struct parser *parser, char byte)
{
	if (peek(parser) != byte)
		return false;
	parser->at++;
	return true;
}

static bool ends_word(char byte)
{
	return !byte || strchr(",{}:/", byte) || isspace((unsigned char)byte);
}

static struct event_word take_word(struct parser *parser)
{
	struct event_word word = {.text = parser->text + parser->at, .position = parser->at};
	bool set = false;

	/* In a glob's [set] everything but its end belongs to it. */
	while (peek(parser) && (set || !ends_word(peek(parser)))) {
		if (peek(parser) == '[')
			set = strchr(parser->text + parser->at, ']');
		else if (peek(parser) == ']')
			set = false;
		parser->at++;
	}
	word.length = parser->at - word.position;
	return word;
}

/* At most this much of a foreign word in a message; escaped by who prints it. */
static int shown(const struct event_word *word)
{
	return word->length > 80 ? 80 : (int)word->length;
}

static int fail_memory(const struct parser *parser)
{
	return tally_fail(parser->error, -ENOMEM, -1, "out of memory");
}

static int fail_unknown(const struct parser *parser, const struct event_word *word)
{
	const char *names[64], *near = NULL;
	size_t count = tally_generic_names(names, 64);
	char *text;

	if (!word->length && !peek(parser))
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "expected an event's name, not the end");
	if (!word->length)
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "expected an event's name before '%c'", peek(parser));
	text = strndup(word->text, word->length);
	if (!text)
		return fail_memory(parser);
	/* Of each cache the spelling that people use most. */
	static const char *const cache_names[] = {
	    "L1-dcache-loads",       "L1-dcache-load-misses",
	    "L1-dcache-stores",      "L1-icache-loads",
	    "L1-icache-load-misses", "LLC-loads",
	    "LLC-load-misses",       "LLC-stores",
	    "LLC-store-misses",      "dTLB-loads",
	    "dTLB-load-misses",      "dTLB-stores",
	    "dTLB-store-misses",     "iTLB-loads",
	    "iTLB-load-misses",      "branch-loads",
	    "branch-load-misses",    "node-loads",
	    "node-load-misses",      "node-stores",
	    "node-store-misses",
	};
	for (size_t i = 0; i < sizeof(cache_names) / sizeof(cache_names[0]) && count < 64; i++)
		names[count++] = cache_names[i];
	near = tally_text_nearest(text, names, count);
	free(text);
	return tally_fail(
	    parser->error, -EINVAL, (int64_t)word->position,
	    "no event is called %.*s%s%s%s; expected a name such as cycles, cpu-clock, "
	    "LLC-load-misses or sched:sched_switch, a raw code rHEX, or a group {a,b}",
	    shown(word), word->text, near ? " (did you mean " : "", near ? near : "",
	    near ? "?)" : "");
}

/* ":" modifiers, which may be left out altogether, and where `may_be_empty` after the colon, too.
 */
static int take_modifiers(struct parser *parser, bool may_be_empty, struct event_word *ret)
{
	*ret = (struct event_word){.text = parser->text + parser->at, .position = parser->at};
	if (!take(parser, ':'))
		return 0;
	*ret = take_word(parser);
	if (!ret->length && !may_be_empty)
		return tally_fail(parser->error, -EINVAL, (int64_t)ret->position,
				  "expected modifiers (u k h G H p P S D e W I) after the colon");
	return 0;
}

/* Gives the events from `first` on their modifiers and the end of their names. */
static int finish(struct parser *parser, size_t first, const struct event_word *modifiers,
		  size_t name_end, size_t name_start)
{
	for (size_t i = first; i < parser->items.count; i++) {
		struct event_item *item = &parser->items.items[i];
		int result = tally_modifier_apply(item, modifiers, false, true, parser->error);

		if (result)
			return result;
		if (name_end > name_start) {
			/* As it was written, blanks excepted. */
			free(item->event.name);
			item->event.name =
			    strndup(parser->text + name_start, name_end - name_start);
		} else if (modifiers->length) {
			struct tally_buf name = {0};

			tally_buf_text(&name, item->event.name);
			tally_buf_byte(&name, ':');
			tally_buf_add(&name, modifiers->text, modifiers->length);
			free(item->event.name);
			item->event.name = name.failed ? NULL : strdup(tally_buf_str(&name));
			tally_buf_done(&name);
		}
		if (!item->event.name) {
			/* No name, no event: the list's end must not meet it. */
			item->event.name = strdup("");
			return fail_memory(parser);
		}
	}
	return 0;
}

static int parse_tracepoint(struct parser *parser, const struct event_word *system)
{
	size_t first = parser->items.count;
	struct event_word name, modifiers;
	int result;

	name = take_word(parser);
	if (!name.length)
		return tally_fail(parser->error, -EINVAL, (int64_t)name.position,
				  "expected a tracepoint's name after %.*s:", shown(system),
				  system->text);
	result =
	    tally_tracepoint_add(system, &name, parser->options, &parser->items, parser->error);
	/* "cycels:u" is rather a generic event with modifiers than a tracepoint called u. */
	if (result && result != -ENOMEM && tally_modifier_looks_like(&name) &&
	    !(result == -ENOENT && parser->error &&
	      parser->error->position == (int64_t)name.position))
		return fail_unknown(parser, system);
	if (!result)
		result = take_modifiers(parser, true, &modifiers);
	if (result)
		return result;
	return finish(parser, first, &modifiers, 0, 0);
}

static int parse_numbers(struct parser *parser, const struct event_word *type_word)
{
	struct tally_attr attr = {.exclude_guest = 1};
	struct event_word config_word, modifiers;
	size_t first = parser->items.count;
	uint64_t type, config;
	int result;

	config_word = take_word(parser);
	if (tally_raw_number(&config_word, &config) != 1)
		return tally_fail(parser->error, -EINVAL, (int64_t)config_word.position,
				  "expected attr.config, a number of at most 64 bits");
	if (tally_raw_number(type_word, &type) != 1 || type > UINT32_MAX)
		return tally_fail(parser->error, -EINVAL, (int64_t)type_word->position,
				  "attr.type has 32 bits");
	attr.type = (uint32_t)type;
	attr.config = config;
	result = take_modifiers(parser, true, &modifiers);
	if (!result && tally_items_add(&parser->items, &attr, "", 0))
		result = fail_memory(parser);
	if (result)
		return result;
	return finish(parser, first, &modifiers, parser->at, type_word->position);
}

/* The families whose names are one word. */
static int find_word(struct parser *parser, const struct event_word *word, struct tally_attr *ret,
		     bool *ret_generic)
{
	int result;

	*ret_generic = tally_generic_find(word, ret);
	if (*ret_generic)
		return 1;
	switch (tally_cache_find(word, ret)) {
	case CACHE_YES:
		return 1;
	case CACHE_IMPOSSIBLE:
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "%.*s cannot be counted: instruction caches know loads and "
				  "prefetches, iTLB and branch loads only",
				  shown(word), word->text);
	case CACHE_NO:
		break;
	}
	result = tally_raw_find(word, ret);
	if (result == -ERANGE)
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "%.*s: a raw event has at most 16 hex digits", shown(word),
				  word->text);
	return result;
}

static int parse_event(struct parser *parser)
{
	struct event_word word, modifiers;
	size_t first = parser->items.count;
	struct tally_attr attr;
	uint64_t number;
	bool generic;
	int result;

	skip_blanks(parser);
	word = take_word(parser);
	if (!word.length)
		return fail_unknown(parser, &word);
	result = find_word(parser, &word, &attr, &generic);
	if (result < 0)
		return result;
	if (!result) {
		bool colon = take(parser, ':');

		if (colon && tally_raw_number(&word, &number))
			return parse_numbers(parser, &word);
		return colon ? parse_tracepoint(parser, &word) : fail_unknown(parser, &word);
	}
	/* "cycles//u": terms between slashes, of which there are none, and modifiers without colon.
	 */
	if (generic && peek(parser) == '/' && parser->text[parser->at + 1] == '/') {
		parser->at += 2;
		modifiers = take_word(parser);
		result = 0;
	} else {
		result = take_modifiers(parser, generic, &modifiers);
	}
	attr.exclude_guest = 1;
	if (!result && tally_items_add(&parser->items, &attr, "", 0))
		result = fail_memory(parser);
	if (result)
		return result;
	return finish(parser, first, &modifiers, parser->at, word.position);
}

/* Adds a group's modifiers to a member's name, those that say what is counted and are not there. */
static int name_group_modifiers(struct tally_event *event, const struct event_word *modifiers)
{
	struct tally_buf name = {0};
	const char *own = strrchr(event->name, ':'), *slash = strrchr(event->name, '/');
	bool added = false;
	int result;

	if (own && (event->attr.type == PERF_TYPE_TRACEPOINT && strchr(event->name, ':') == own))
		own = NULL;
	if (slash)
		own = slash;
	tally_buf_text(&name, event->name);
	for (size_t i = 0; i < modifiers->length; i++) {
		char letter = modifiers->text[i];

		if (!strchr("ukhGHpI", letter) || (letter != 'p' && own && strchr(own, letter)))
			continue;
		if (!added && !own)
			tally_buf_byte(&name, ':');
		added = true;
		tally_buf_byte(&name, (uint8_t)letter);
	}
	result = name.failed;
	if (added && !result) {
		char *text = strdup(tally_buf_str(&name));

		if (text) {
			free(event->name);
			event->name = text;
		} else {
			result = -ENOMEM;
		}
	}
	tally_buf_done(&name);
	return result;
}

static int parse_group(struct parser *parser)
{
	size_t first = parser->items.count;
	struct event_word modifiers;
	int result;

	do {
		result = parse_event(parser);
		if (result)
			return result;
		skip_blanks(parser);
	} while (take(parser, ','));
	if (peek(parser) == '{')
		return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
				  "a group stands in no other group");
	if (!take(parser, '}'))
		return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
				  "expected , or the group's }");
	result = take_modifiers(parser, false, &modifiers);
	if (result)
		return result;
	for (size_t i = first; i < parser->items.count; i++) {
		struct event_item *item = &parser->items.items[i];

		item->event.leader = (uint32_t)first;
		result = tally_modifier_apply(item, &modifiers, true, i == first, parser->error);
		if (!result && name_group_modifiers(&item->event, &modifiers))
			result = fail_memory(parser);
		if (result)
			return result;
	}
	return 0;
}

/* A group may have a name before its brace; it names nothing that is kept. */
static bool begins_group(struct parser *parser)
{
	size_t at = parser->at;

	while (!ends_word(parser->text[at]))
		at++;
	if (parser->text[at] != '{')
		return false;
	parser->at = at + 1;
	return true;
}

static int parse_list(struct parser *parser)
{
	do {
		size_t first = parser->items.count;
		int result;

		skip_blanks(parser);
		if (begins_group(parser)) {
			result = parse_group(parser);
		} else {
			result = parse_event(parser);
			for (size_t i = first; i < parser->items.count; i++)
				parser->items.items[i].event.leader = (uint32_t)i;
		}
		if (result)
			return result;
		skip_blanks(parser);
	} while (take(parser, ','));
	if (peek(parser) == '/')
		return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
				  "expected , or the end: terms in slashes are not for this event");
	if (peek(parser))
		return tally_fail(
		    parser->error, -EINVAL, (int64_t)parser->at, "expected , or the end%s",
		    peek(parser) == ':' ? ": all modifiers stand behind one colon" : "");
	return 0;
}

int tally_event_list_append(struct tally_event_list *list, const char *text,
			    const struct tally_event_options *options, struct tally_error *error)
{
	struct tally_event_options use = {.size = sizeof(use)};
	struct tally_error own;
	struct parser parser = {.text = text, .options = &use, .error = error ? error : &own};
	struct tally_event *events;
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return tally_fail(error, result, -1,
				  "the event options ask for what this version cannot do");
	result = parse_list(&parser);
	if (!result && parser.items.count > UINT32_MAX - list->count)
		result = tally_fail(error, -E2BIG, -1, "too many events");
	if (!result) {
		events =
		    reallocarray(list->events, list->count + parser.items.count, sizeof(*events));
		if (events)
			list->events = events;
		else
			result = fail_memory(&parser);
	}
	if (result) {
		tally_items_done(&parser.items);
		return result;
	}
	for (size_t i = 0; i < parser.items.count; i++) {
		struct tally_event *event = &list->events[list->count + i];

		*event = parser.items.items[i].event;
		event->leader += (uint32_t)list->count;
	}
	list->count += parser.items.count;
	free(parser.items.items); /* the names live on in the list */
	return 0;
}

int tally_event_list_parse(const char *text, const struct tally_event_options *options,
			   struct tally_event_list *ret, struct tally_error *error)
{
	struct tally_event_list list = {0};
	int result = tally_event_list_append(&list, text, options, error);

	if (!result)
		*ret = list;
	return result;
}

void tally_event_list_done(struct tally_event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->events[i].name);
	free(list->events);
	*list = (struct tally_event_list){0};
}
