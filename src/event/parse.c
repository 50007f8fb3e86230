/* STRING -> ATTRS: lists, groups and the order in which the families are tried.
 *
 *   list     = member { "," member }
 *   member   = event | [ name ] "{" event { "," event } "}" [ ":" modifiers ]
 *   event    = generic [ ":" [ modifiers ] ]       cycles, cpu-clock:u
 *            | generic slashes [ modifiers ]       cycles//u, cycles/period=1000/u
 *            | cache [ slashes ] [ ":" modifiers ]     L1-dcache-load-misses:u
 *            | "r" hex [ slashes ] [ ":" modifiers ]   r1a8:k
 *            | number ":" number [ slashes ] [ ":" [ modifiers ] ]   type:config
 *            | "mem:" address [ "/" length ] [ ":" rwx ] [ ":" [ modifiers ] ]
 *            | probe [ slashes ] [ ":" modifiers ]     uprobe:/bin/ls:main; see probe_words.c
 *            | pmu slashes [ modifiers ]           cpu/event=0xc0/u, uncore_imc/cas_count_read/
 *            | alias [ slashes ] [ ":" modifiers ]     an event of any PMU: mem-loads, energy-pkg
 *            | system ":" name [ slashes ] [ ":" [ modifiers ] ]   either side a glob
 *   slashes  = "/" [ terms ] "/"                   see term.c
 *
 *            | [ "pfm:" ] name in libpfm4's language         see parse_pfm.c
 *
 * Names end at one of , { } : / or a blank. Blanks may be before and after an event. Behind slashes
 * modifiers have no colon; where the colon belongs to the name (all but generic events and PMUs)
 * one is allowed. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "event/parse.h"

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

	/* Inside a glob's [set] all characters but ] belong to it. */
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

/* At most so much of a foreign word is in a message, which the caller escapes. */
int tally_word_shown(const struct event_word *word)
{
	return word->length > 80 ? 80 : (int)word->length;
}

int tally_parser_fail_memory(const struct parser *parser)
{
	return tally_fail(parser->error, -ENOMEM, -1, "out of memory");
}

static int fail_unknown(struct parser *parser, const struct event_word *word)
{
	char similar[EVENT_SUGGESTION_ROOM], *text;
	const char *tables = NULL;
	bool suggested;
	int result;

	if (!word->length && !peek(parser))
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "expected an event's name, not the end");
	if (!word->length)
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "expected an event's name before '%c'", peek(parser));
	parser->unknown = true;
	result = tally_parser_fail_absent(parser, word);
	if (result != 1)
		return result;
	text = strndup(word->text, word->length);
	if (!text)
		return tally_parser_fail_memory(parser);
	suggested = tally_suggest_event(parser->context, text, similar);
	/* Vendors' names have one of these. */
	if (strpbrk(text, "._") && parser->context && parser->context->table_result < 0)
		tables = parser->context->table_error.text;
	free(text);
	return tally_fail(
	    parser->error, -EINVAL, (int64_t)word->position,
	    "unknown event %.*s%s%s%s; expected a name such as cycles, cpu-clock, LLC-load-misses "
	    "or sched:sched_switch, a raw code rHEX, or a group {a,b}%s%s",
	    tally_word_shown(word), word->text, suggested ? " (did you mean " : "",
	    suggested ? similar : "", suggested ? "?)" : "", tables ? "; " : "",
	    tables ? tables : "");
}

/* ":" modifiers, which may be missing, and, with `may_be_empty`, be empty behind the colon. */
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

/* Modifiers behind a colon, or behind slashes without a colon. */
int tally_parser_modifiers(struct parser *parser, bool slashes, bool colon_too, bool may_be_empty,
			   struct event_word *ret)
{
	if (!slashes)
		return take_modifiers(parser, may_be_empty, ret);
	if (peek(parser) == ':') {
		if (colon_too)
			return take_modifiers(parser, may_be_empty, ret);
		return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
				  "expected the modifiers directly behind the /, without a colon");
	}
	*ret = take_word(parser);
	return 0;
}

/* "/" [ terms ] "/", if there is one. */
int tally_parser_slashes(struct parser *parser, bool *ret_there, struct event_terms *ret)
{
	int result = 0;

	ret->count = 0;
	*ret_there = take(parser, '/');
	if (!*ret_there)
		return 0;
	skip_blanks(parser);
	if (peek(parser) != '/')
		result = tally_terms_parse(parser->text, &parser->at, ret, parser->error);
	if (!result && !take(parser, '/'))
		result = tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
				    "expected the second / that ends the terms");
	return result;
}

static char *name_with(const char *name, const struct event_word *modifiers)
{
	struct tally_buf text = {0};
	char *made = NULL;

	tally_buf_text(&text, name);
	tally_buf_byte(&text, ':');
	tally_buf_add(&text, modifiers->text, modifiers->length);
	if (!text.failed)
		made = strdup(tally_buf_str(&text));
	tally_buf_done(&text);
	return made;
}

/* Sets the modifiers and names of the events from `first` on: the name as written, or, for a glob,
 * the one that was found. */
int tally_parser_finish(struct parser *parser, size_t first, const struct event_word *modifiers,
			size_t name_end, size_t name_start)
{
	for (size_t i = first; i < parser->items.count; i++) {
		struct event_item *item = &parser->items.items[i];
		char *name = NULL;
		int result = tally_modifier_apply(item, modifiers, false, true, parser->error);

		if (result)
			return result;
		if (item->event.terms.given & TALLY_TERM_NAME)
			continue;
		if (name_end > name_start)
			/* The written name without blanks. */
			name = strndup(parser->text + name_start, name_end - name_start);
		else if (modifiers->length)
			name = name_with(item->event.name, modifiers);
		else
			continue;
		if (!name)
			return tally_parser_fail_memory(parser);
		free(item->event.name);
		item->event.name = name;
	}
	return 0;
}

/* The machine's PMUs, read at the first use. */
int tally_parser_need_pmus(struct parser *parser)
{
	int result = 0;

	if (!parser->context) {
		result = tally_event_context_new(parser->options, &parser->own);
		parser->context = parser->own;
	}
	if (!result)
		result = tally_pmus_list(parser->context);
	return result ? tally_fail(parser->error, result, -1, "sysfs cannot be read: %s",
				   strerror(-result))
		      : 0;
}

/* Adds the event and takes ownership, also on failure. */
int tally_parser_put(struct parser *parser, struct tally_event *event, int result)
{
	if (!result && !event->name)
		event->name = strdup("");
	if (!result && (!event->name || tally_items_put(&parser->items, event)))
		result = tally_parser_fail_memory(parser);
	if (result)
		tally_event_done(event);
	return result;
}

/* An event of no PMU, with its terms. */
int tally_parser_add(struct parser *parser, const struct tally_attr *attr,
		     const struct event_terms *terms, enum tally_tool_event tool)
{
	struct tally_event event = {.attr = *attr, .scale = 1, .tool = tool};
	int result = 0;

	if (tool)
		event.origin = TALLY_ORIGIN_TOOL;
	event.attr.exclude_guest = attr->type < PERF_TYPE_MAX; /* not for PMUs' events */
	for (size_t i = 0; i < terms->count && !result; i++)
		result = tally_term_apply(&terms->terms[i], parser->options->command, &event,
					  parser->error);
	return tally_parser_put(parser, &event, result);
}

/* The same for one of several core PMUs. Source: PERF_PMU_TYPE_SHIFT of
 * include/uapi/linux/perf_event.h: the PMU's type is the config's upper half; for raw events it is
 * the type. */
int tally_parser_hybrid(struct parser *parser, const struct event_pmu *pmu)
{
	struct tally_event *event = &parser->items.items[parser->items.count - 1].event;
	struct tally_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_RAW)
		attr->type = pmu->type;
	else
		attr->config = (attr->config & UINT32_MAX) | (uint64_t)pmu->type << 32;
	event->pmu = strdup(pmu->name);
	event->cpus = pmu->cpus ? strdup(pmu->cpus) : NULL;
	if (!event->pmu || (pmu->cpus && !event->cpus))
		return tally_parser_fail_memory(parser);
	return 0;
}

/* A generic, cache or raw event: once for each kind of core of the machine. */
static int add_core(struct parser *parser, const struct tally_attr *attr,
		    const struct event_terms *terms)
{
	struct event_pmu *pmu;
	bool hybrid = false;
	size_t at = 0;
	int result = attr->type == PERF_TYPE_SOFTWARE ? 0 : tally_parser_need_pmus(parser);

	if (result)
		return result;
	while (attr->type != PERF_TYPE_SOFTWARE &&
	       (pmu = tally_pmu_next_hybrid(parser->context, &at))) {
		hybrid = true;
		result = tally_parser_add(parser, attr, terms, TALLY_TOOL_NONE);
		if (!result)
			result = tally_parser_hybrid(parser, pmu);
		if (result)
			return result;
	}
	return hybrid ? 0 : tally_parser_add(parser, attr, terms, TALLY_TOOL_NONE);
}

static int apply_terms(struct parser *parser, size_t first, const struct event_terms *terms)
{
	int result = 0;

	for (size_t i = first; i < parser->items.count; i++)
		for (size_t j = 0; j < terms->count && !result; j++)
			result = tally_term_apply(&terms->terms[j], parser->options->command,
						  &parser->items.items[i].event, parser->error);
	return result;
}

static int parse_tracepoint(struct parser *parser, const struct event_word *system)
{
	size_t first = parser->items.count;
	struct event_word name, modifiers;
	struct event_terms terms;
	bool slashes = false;
	int result;

	name = take_word(parser);
	if (!name.length)
		return tally_fail(parser->error, -EINVAL, (int64_t)name.position,
				  "expected a tracepoint's name after %.*s:",
				  tally_word_shown(system), system->text);
	result =
	    tally_tracepoint_add(system, &name, parser->options, &parser->items, parser->error);
	if (result && result != -ENOMEM) {
		int marker = tally_parse_marker(parser, system, &name);

		if (marker <= 0)
			return marker;
	}
	parser->unknown = result && result != -ENOMEM;
	/* "cycels:u" is more likely a misspelled generic event with modifiers than a tracepoint
	 * called u. */
	if (result && result != -ENOMEM && tally_modifier_looks_like(&name) &&
	    !(result == -ENOENT && parser->error &&
	      parser->error->position == (int64_t)name.position))
		return fail_unknown(parser, system);
	if (!result)
		result = tally_parser_slashes(parser, &slashes, &terms);
	if (!result)
		result = apply_terms(parser, first, &terms);
	if (!result)
		result = tally_parser_modifiers(parser, slashes, true, true, &modifiers);
	if (result)
		return result;
	return tally_parser_finish(parser, first, &modifiers, 0, 0);
}

static int parse_numbers(struct parser *parser, const struct event_word *type_word)
{
	struct tally_attr attr = {0};
	struct event_word config_word, modifiers;
	size_t first = parser->items.count;
	struct event_terms terms;
	uint64_t type, config;
	bool slashes;
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
	result = tally_parser_slashes(parser, &slashes, &terms);
	if (!result)
		result = attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_RAW ||
				 attr.type == PERF_TYPE_HW_CACHE
			     ? add_core(parser, &attr, &terms)
			     : tally_parser_add(parser, &attr, &terms, TALLY_TOOL_NONE);
	if (!result)
		result = tally_parser_modifiers(parser, slashes, true, true, &modifiers);
	if (result)
		return result;
	return tally_parser_finish(parser, first, &modifiers, parser->at, type_word->position);
}

static int parse_breakpoint(struct parser *parser, const struct event_word *word)
{
	static const struct event_terms none = {.count = 0};
	size_t first = parser->items.count;
	struct event_word modifiers;
	struct tally_attr attr;
	int result = tally_breakpoint_parse(parser->text, &parser->at, &attr, parser->error);

	if (!result)
		result = tally_parser_add(parser, &attr, &none, TALLY_TOOL_NONE);
	if (!result)
		result = take_modifiers(parser, true, &modifiers);
	return result ? result
		      : tally_parser_finish(parser, first, &modifiers, parser->at, word->position);
}

/* Asks the families whose names are one word. */
static int find_word(struct parser *parser, const struct event_word *word, struct tally_attr *ret,
		     bool *ret_no_colon)
{
	static const struct event_family *const families[] = {EVENT_FAMILIES(EVENT_FAMILY_AT)};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		int result = families[i]->find ? families[i]->find(word, ret, parser->error) : 0;

		*ret_no_colon = families[i]->no_colon;
		if (result)
			return result;
	}
	return 0;
}

/* An event whose name is one word. */
static int finish_word(struct parser *parser, const struct event_word *word,
		       const struct tally_attr *attr, bool no_colon)
{
	enum tally_tool_event tool = tally_generic_tool(word);
	size_t first = parser->items.count;
	struct event_word modifiers = {0};
	struct event_terms terms;
	bool slashes;
	int result = tally_parser_slashes(parser, &slashes, &terms);

	if (!result && tool && terms.count)
		result = tally_term_unknown(&terms.terms[0], parser->error);
	if (!result)
		result = tool ? tally_parser_add(parser, attr, &terms, tool)
			      : add_core(parser, attr, &terms);
	if (!result)
		result = tally_parser_modifiers(parser, slashes, !no_colon, true, &modifiers);
	return result ? result
		      : tally_parser_finish(parser, first, &modifiers, parser->at, word->position);
}

static bool second_is_no_modifier(const struct parser *parser)
{
	struct parser ahead = {.text = parser->text, .at = parser->at + 1};
	struct event_word word = take_word(&ahead);

	return word.length && !tally_modifier_looks_like(&word);
}

static int parse_perf_event(struct parser *parser)
{
	static const struct tally_attr dummy = {.type = PERF_TYPE_SOFTWARE,
						.config = PERF_COUNT_SW_DUMMY};
	struct event_word word;
	struct tally_attr attr;
	uint64_t number;
	bool no_colon;
	int result;

	word = take_word(parser);
	if (!word.length)
		return fail_unknown(parser, &word);
	if (tally_generic_tool(&word))
		return finish_word(parser, &word, &dummy, true);
	result = find_word(parser, &word, &attr, &no_colon);
	if (result < 0)
		return result;
	if (result)
		return finish_word(parser, &word, &attr, no_colon);
	if (peek(parser) == ':') {
		if (tally_raw_number(&word, &number))
			return take(parser, ':'), parse_numbers(parser, &word);
		if (tally_word_is(&word, "mem"))
			return take(parser, ':'), parse_breakpoint(parser, &word);
		if (tally_probe_begins(&word))
			return take(parser, ':'), tally_parse_probe(parser, &word);
		if (second_is_no_modifier(parser))
			return take(parser, ':'), parse_tracepoint(parser, &word);
	}
	result = tally_parse_pmu_event(parser, &word);
	if (result != -ENOENT)
		return result;
	return take(parser, ':') ? parse_tracepoint(parser, &word) : fail_unknown(parser, &word);
}

static void drop_items(struct parser *parser, size_t from)
{
	while (parser->items.count > from)
		tally_event_done(&parser->items.items[--parser->items.count].event);
}

/* A name that is unknown to perf's grammar may be libpfm4's; if not, the error is the one of perf's
 * grammar. */
static int try_pfm(struct parser *parser, size_t start, int result)
{
	struct tally_error *error = parser->error, perf = *error;
	size_t first = parser->items.count;
	int other;

	parser->at = start;
	other = tally_parse_pfm_event(parser, start, false);
	if (!other || other == -ENOMEM || (other != -ENOENT && !parser->absent))
		return other;
	drop_items(parser, first);
	*error = perf;
	return result;
}

/* The vendor's events in libpfm4's language first. */
static int prefer_pfm(struct parser *parser, size_t start, size_t first)
{
	struct parser strict = {.text = parser->text,
				.at = start,
				.options = parser->options,
				.context = parser->context};
	struct tally_error ignored;
	int result;

	for (size_t i = first; i < parser->items.count; i++)
		if (parser->items.items[i].event.origin != TALLY_ORIGIN_TABLE)
			return 0;
	strict.error = &ignored;
	result = tally_parse_pfm_event(&strict, start, false);
	if (!result && strict.at >= parser->at) {
		drop_items(parser, first);
		parser->at = strict.at;
		result = tally_items_put(&parser->items, &strict.items.items[0].event);
		strict.items.count -= !result;
	}
	tally_items_done(&strict.items);
	return result == -ENOMEM ? tally_parser_fail_memory(parser) : 0;
}

static bool take_prefix(struct parser *parser, const char *prefix)
{
	const char *at = parser->text + parser->at;
	size_t length = strlen(prefix);

	if (strncmp(at, prefix, length) || at[length] == ':')
		return false;
	parser->at += length;
	return true;
}

/* In one of the two languages; only libpfm4's has "pmu::". */
static int parse_event(struct parser *parser)
{
	size_t start, first = parser->items.count;
	struct parser ahead;
	bool perf;
	int result;

	skip_blanks(parser);
	start = parser->at;
	if (take_prefix(parser, "pfm:"))
		return tally_parse_pfm_event(parser, start, true);
	perf = take_prefix(parser, "perf:");
	ahead = *parser;
	if (!perf && take_word(&ahead).length && peek(&ahead) == ':' &&
	    ahead.text[ahead.at + 1] == ':')
		return tally_parse_pfm_event(parser, start, true);
	parser->unknown = parser->absent = false;
	result = parse_perf_event(parser);
	if (result && result != -ENOMEM && !perf && parser->unknown)
		return try_pfm(parser, start, result);
	if (!result && !perf && parser->options->pfm_strict)
		return prefer_pfm(parser, start, first);
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
				  "a group cannot be inside another group");
	if (!take(parser, '}'))
		return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
				  "expected , or the group's }");
	result = take_modifiers(parser, false, &modifiers);
	if (result)
		return result;
	return tally_parser_group(parser, first, &modifiers);
}

/* A group may have a name before its brace, which is not kept. */
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
				  "expected , or the end: this event takes no terms in slashes");
	if (peek(parser))
		return tally_fail(
		    parser->error, -EINVAL, (int64_t)parser->at, "expected , or the end%s",
		    peek(parser) == ':' ? ": write all modifiers behind one colon" : "");
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
				  "the event options ask for what this version does not support");
	parser.context = use.context;
	result = parse_list(&parser);
	tally_event_context_free(parser.own);
	if (!result && parser.items.count > UINT32_MAX - list->count)
		result = tally_fail(error, -E2BIG, -1, "too many events");
	if (!result) {
		events =
		    reallocarray(list->events, list->count + parser.items.count, sizeof(*events));
		if (events)
			list->events = events;
		else
			result = tally_parser_fail_memory(&parser);
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
	free(parser.items.items); /* the names are the list's now */
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
		tally_event_done(&list->events[i]);
	free(list->events);
	*list = (struct tally_event_list){0};
}
