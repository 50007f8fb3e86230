/* Places in code, by name.
 *
 *   uprobe:PROGRAM:FUNCTION[+OFFSET]      a function of a program or library
 *   uprobe:PROGRAM:ADDRESS                as nm and objdump show it
 *   uretprobe:PROGRAM:FUNCTION            where it returns; also uprobe:PROGRAM:FUNCTION%return
 *   usdt:PROGRAM:PROVIDER:NAME            a marker (SDT)
 *   sdt_PROVIDER:NAME                     the same; the program is searched for
 *   kprobe:FUNCTION[+OFFSET]              a function of the kernel; kretprobe:, %return
 *
 * PROGRAM is a path when it has a slash, else a name that is searched for. A part with a colon or a
 * comma in it is quoted: uprobe:./a.out:'ns::f(int, char)'. The notation is bpftrace's; sdt_ is
 * perf's.
 *
 * The PMUs' own words are those of struct perf_event_attr (include/uapi/linux/perf_event.h):
 * uprobe/uprobe_path='/bin/ls',probe_offset=0x4a0/, kprobe/kprobe_func=NAME,probe_offset=N/,
 * kprobe/kprobe_addr=N/; the offset is one of the file. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "event/parse.h"

enum form { UPROBE, URETPROBE, USDT, KPROBE, KRETPROBE, FORMS };

static const struct {
	const char *word, *pmu;
	bool returns;
} forms[FORMS] = {
    [UPROBE] = {"uprobe", "uprobe", false},      [URETPROBE] = {"uretprobe", "uprobe", true},
    [USDT] = {"usdt", "uprobe", false},          [KPROBE] = {"kprobe", "kprobe", false},
    [KRETPROBE] = {"kretprobe", "kprobe", true},
};

bool tally_probe_begins(const struct event_word *word)
{
	for (size_t i = 0; i < FORMS; i++)
		if (tally_word_is(word, forms[i].word))
			return true;
	return false;
}

/* --- parts of the text --- */

struct place {
	struct event_word program, provider, symbol;
	uint64_t offset;
	bool has_symbol, returns;
};

/* Up to one of `ends`, or a quoted text. */
static int take_part(struct parser *parser, const char *ends, const char *what,
		     struct event_word *ret)
{
	const char *text = parser->text + parser->at, *end;
	size_t length = 0;

	if (*text == '\'') {
		end = strchr(text + 1, '\'');
		if (!end)
			return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
					  "expected a second ' that ends the text");
		*ret = (struct event_word){text + 1, (size_t)(end - text) - 1, parser->at + 1};
		parser->at += (size_t)(end - text) + 1;
	} else {
		while (text[length] && !strchr(ends, text[length]) &&
		       !isspace((unsigned char)text[length]))
			length++;
		*ret = (struct event_word){text, length, parser->at};
		parser->at += length;
	}
	if (ret->length)
		return 0;
	return tally_fail(parser->error, -EINVAL, (int64_t)ret->position, "expected %s", what);
}

static int take_colon(struct parser *parser, const char *what)
{
	if (parser->text[parser->at] != ':')
		return tally_fail(parser->error, -EINVAL, (int64_t)parser->at, "expected : and %s",
				  what);
	parser->at++;
	return 0;
}

static int take_number(struct parser *parser, uint64_t *ret)
{
	struct event_word word = {.text = parser->text + parser->at, .position = parser->at};

	while (isalnum((unsigned char)word.text[word.length]))
		word.length++;
	if (tally_raw_number(&word, ret) != 1)
		return tally_fail(parser->error, -EINVAL, (int64_t)word.position,
				  "expected an offset, decimal or 0x, of at most 64 bits");
	parser->at += word.length;
	return 0;
}

/* FUNCTION[+OFFSET][%return], or an address. */
static int take_function(struct parser *parser, struct place *place)
{
	char first = parser->text[parser->at];
	int result;

	place->has_symbol = !isdigit((unsigned char)first);
	if (!place->has_symbol) {
		result = take_number(parser, &place->offset);
	} else {
		result = take_part(parser, ":/,{}+%", "a function's name, or an address",
				   &place->symbol);
		if (!result && parser->text[parser->at] == '+') {
			parser->at++;
			result = take_number(parser, &place->offset);
		}
	}
	if (!result && parser->text[parser->at] == '%') {
		if (strncmp(parser->text + parser->at, "%return", 7) != 0)
			return tally_fail(parser->error, -EINVAL, (int64_t)parser->at,
					  "expected %%return, where the function returns");
		place->returns = true;
		parser->at += 7;
	}
	return result;
}

static int take_place(struct parser *parser, enum form form, struct place *place)
{
	static const char program[] = "a program: a path with a slash in it, or a name";
	int result = 0;

	place->returns = forms[form].returns;
	if (form == KPROBE || form == KRETPROBE)
		return take_function(parser, place);
	result = take_part(parser, ":,{}", program, &place->program);
	if (!result)
		result =
		    take_colon(parser, form == USDT ? "a marker's provider" : "a function's name");
	if (form != USDT || result)
		return result ? result : take_function(parser, place);
	place->has_symbol = true;
	result = take_part(parser, ":/,{}", "a marker's provider", &place->provider);
	if (!result)
		result = take_colon(parser, "the marker's name");
	return result ? result : take_part(parser, ":/,{}", "a marker's name", &place->symbol);
}

/* --- the event --- */

static int copy_word(const struct event_word *word, char **to)
{
	*to = word->length ? strndup(word->text, word->length) : NULL;
	return word->length && !*to ? -ENOMEM : 0;
}

static int make_probe(const struct place *place, enum form form, struct tally_event *event)
{
	struct tally_event_probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return -ENOMEM;
	event->probe = probe;
	probe->kind = form == USDT                          ? TALLY_PROBE_MARKER
		      : form == KPROBE || form == KRETPROBE ? TALLY_PROBE_KERNEL
							    : TALLY_PROBE_PROGRAM;
	probe->offset = place->offset;
	probe->address = !place->has_symbol;
	if (copy_word(&place->program, &probe->path) || copy_word(&place->symbol, &probe->symbol) ||
	    copy_word(&place->provider, &probe->provider))
		return -ENOMEM;
	return 0;
}

static const struct pmu_format *find_format(const struct event_pmu *pmu, const char *name)
{
	struct event_word word = {.text = name, .length = strlen(name)};
	const struct pmu_format *format = tally_pmu_format_find(pmu, &word);

	return format && !format->which ? format : NULL;
}

/* The PMU of the name, loaded. -ENOENT: the kernel does not have it. */
static int find_pmu(struct parser *parser, const char *name, size_t position,
		    struct event_pmu **ret)
{
	struct event_word word = {.text = name, .length = strlen(name)};
	int result = tally_parser_need_pmus(parser);

	if (result)
		return result;
	*ret = tally_pmu_find(parser->context, &word);
	result = *ret ? tally_pmu_load(parser->context, *ret) : -ENOENT;
	if (result == -ENOMEM)
		return tally_parser_fail_memory(parser);
	if (result)
		return tally_fail(parser->error, -ENOENT, (int64_t)position,
				  "this kernel does not have the PMU %s in "
				  "%s/bus/event_source/devices: it was built without %s",
				  name, parser->context->sysfs,
				  *name == 'k' ? "CONFIG_KPROBE_EVENTS" : "CONFIG_UPROBE_EVENTS");
	return 0;
}

static int fill_attr(struct parser *parser, const struct event_pmu *pmu, const struct place *place,
		     enum form form, size_t position, struct tally_event *event)
{
	const struct pmu_format *returns = find_format(pmu, "retprobe"),
				*counter = find_format(pmu, "ref_ctr_offset");

	event->pmu = strdup(pmu->name);
	if (!event->pmu || make_probe(place, form, event))
		return tally_parser_fail_memory(parser);
	event->attr.type = pmu->type;
	event->origin = TALLY_ORIGIN_SYSFS;
	if (counter)
		event->probe->counter_mask = counter->mask;
	if (place->returns && !returns)
		return tally_fail(parser->error, -EINVAL, (int64_t)position,
				  "this kernel's %s does not support function returns", pmu->name);
	if (place->returns)
		event->attr.config |= tally_pmu_spread(1, returns->mask);
	return 0;
}

/* Adds the event, with the terms and modifiers behind it. */
static int put(struct parser *parser, const struct place *place, enum form form, size_t begin)
{
	struct tally_event event = {.attr = {.exclude_guest = 1}, .scale = 1};
	size_t first = parser->items.count;
	struct event_word modifiers;
	struct event_terms terms;
	struct event_pmu *pmu;
	bool slashes = false;
	int result = find_pmu(parser, forms[form].pmu, begin, &pmu);

	if (!result)
		result = fill_attr(parser, pmu, place, form, begin, &event);
	if (!result)
		result = tally_parser_slashes(parser, &slashes, &terms);
	for (size_t i = 0; !result && i < terms.count; i++)
		result = terms.terms[i].kind >= TERM_UPROBE_PATH
			     ? tally_term_unknown(&terms.terms[i], parser->error)
			     : tally_term_apply(&terms.terms[i], parser->options->command, &event,
						parser->error);
	result = tally_parser_put(parser, &event, result);
	if (!result)
		result = tally_parser_modifiers(parser, slashes, true, true, &modifiers);
	return result ? result : tally_parser_finish(parser, first, &modifiers, parser->at, begin);
}

int tally_parse_probe(struct parser *parser, const struct event_word *kind)
{
	struct place place = {0};
	enum form form = UPROBE;
	int result;

	while (!tally_word_is(kind, forms[form].word))
		form++;
	result = take_place(parser, form, &place);
	if (!result && place.returns && place.has_symbol && place.offset)
		result = tally_fail(parser->error, -EINVAL, (int64_t)kind->position,
				    "a return probe is for a whole function: leave the offset out");
	return result ? result : put(parser, &place, form, kind->position);
}

int tally_parse_marker(struct parser *parser, const struct event_word *system,
		       const struct event_word *name)
{
	struct place place = {.has_symbol = true, .symbol = *name};

	if (system->length <= 4 || memcmp(system->text, "sdt_", 4) != 0 ||
	    memchr(name->text, '*', name->length) || memchr(name->text, '?', name->length))
		return 1;
	place.provider =
	    (struct event_word){system->text + 4, system->length - 4, system->position + 4};
	return put(parser, &place, USDT, system->position);
}

/* --- the PMUs' own terms --- */

static int want_probe(enum tally_probe_kind kind, struct tally_event *event,
		      struct tally_error *error)
{
	if (!event->probe)
		event->probe = calloc(1, sizeof(*event->probe));
	if (!event->probe)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	event->probe->kind = kind;
	return 0;
}

static int set_text(const struct event_term *term, enum tally_probe_kind kind,
		    struct tally_event *event, struct tally_error *error)
{
	int result = want_probe(kind, event, error);
	char *text, **to;

	if (result)
		return result;
	text = strndup(term->text.text, term->text.length);
	if (!text)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	to = kind == TALLY_PROBE_KERNEL ? &event->probe->symbol : &event->probe->path;
	free(*to);
	*to = text;
	return 0;
}

int tally_probe_term(const struct event_term *term, struct tally_event *event,
		     struct tally_error *error)
{
	bool kernel = event->pmu && !strcmp(event->pmu, "kprobe");
	bool program = event->pmu && !strcmp(event->pmu, "uprobe");
	bool fits = term->kind == TERM_UPROBE_PATH    ? program
		    : term->kind == TERM_PROBE_OFFSET ? program || kernel
						      : kernel;

	if (!fits)
		return tally_fail(
		    error, -EINVAL, (int64_t)term->name.position,
		    "%.*s is a term of the PMU %s only", (int)term->name.length, term->name.text,
		    term->kind == TERM_UPROBE_PATH || term->kind == TERM_PROBE_OFFSET ? "uprobe"
										      : "kprobe");
	switch (term->kind) {
	case TERM_UPROBE_PATH:
		return set_text(term, TALLY_PROBE_PROGRAM, event, error);
	case TERM_KPROBE_FUNC:
		return set_text(term, TALLY_PROBE_KERNEL, event, error);
	default: /* offset and address share a field of the attr */
		event->attr.config2 = term->number;
		return want_probe(program ? TALLY_PROBE_PROGRAM : TALLY_PROBE_KERNEL, event, error);
	}
}

static const struct event_form listed_forms[] = {
    {"kprobe:FUNCTION[+OFFSET]", "a place in the kernel's code; kretprobe: a function's return",
     false},
    {"uprobe:PROGRAM:FUNCTION[+OFFSET]",
     "a place in a program's code; uretprobe: a function's return", false},
    {"usdt:PROGRAM:PROVIDER:NAME", "a marker for tracing in a program; `tally list sdt` shows them",
     false},
    {NULL, NULL, false},
};

const struct event_family tally_event_family_probe = {.forms = listed_forms};
