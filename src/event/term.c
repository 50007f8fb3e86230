/* Terms: their syntax, and those that are for any event.
 *
 *   terms = term { "," term }
 *   term  = name [ "=" value ] | "r" hex | "@" driver [ "=" setting ]
 *   value = decimal | 0xhex | name | 'text'
 *
 * Blanks are allowed anywhere. A term without value is 1. Source: perf-record(1) and perf-list(1),
 * section "EVENT PARAMETERS"; which words and letters names have: perf 6.1's answers. */
#include "event/term.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "abi/branch_words.h"
#include "base/buf.h"
#include "base/fail.h"
#include "event/aux_action.h"

static const struct {
	const char *name;
	enum event_term_kind kind;
	unsigned which;
	enum event_term_value value; /* VALUE_NONE: any */
} names[] = {
    {"config", TERM_CONFIG, 0, VALUE_NUMBER},
    {"config1", TERM_CONFIG, 1, VALUE_NUMBER},
    {"config2", TERM_CONFIG, 2, VALUE_NUMBER},
    {"config3", TERM_CONFIG, 3, VALUE_NUMBER},
    {"config4", TERM_CONFIG, 4, VALUE_NUMBER},
    {"name", TERM_NAME, 0, VALUE_TEXT},
    {"period", TERM_PERIOD, 0, VALUE_NUMBER},
    {"freq", TERM_FREQ, 0, VALUE_NUMBER},
    {"branch_type", TERM_BRANCH_TYPE, 0, VALUE_TEXT},
    {"time", TERM_TIME, 0, VALUE_NUMBER},
    {"call-graph", TERM_CALL_GRAPH, 0, VALUE_TEXT},
    {"stack-size", TERM_STACK_SIZE, 0, VALUE_NUMBER},
    {"max-stack", TERM_MAX_STACK, 0, VALUE_NUMBER},
    {"nr", TERM_MAX_EVENTS, 0, VALUE_NUMBER},
    {"inherit", TERM_INHERIT, 0, VALUE_NUMBER},
    {"no-inherit", TERM_NO_INHERIT, 0, VALUE_NUMBER},
    {"overwrite", TERM_OVERWRITE, 0, VALUE_NUMBER},
    {"no-overwrite", TERM_NO_OVERWRITE, 0, VALUE_NUMBER},
    {"percore", TERM_PERCORE, 0, VALUE_NUMBER},
    {"aux-output", TERM_AUX_OUTPUT, 0, VALUE_NUMBER},
    {"aux-sample-size", TERM_AUX_SAMPLE_SIZE, 0, VALUE_NUMBER},
    {"aux-action", TERM_AUX_ACTION, 0, VALUE_TEXT},
    {"metric-id", TERM_METRIC_ID, 0, VALUE_TEXT},
    {"uprobe_path", TERM_UPROBE_PATH, 0, VALUE_TEXT},
    {"kprobe_func", TERM_KPROBE_FUNC, 0, VALUE_TEXT},
    {"kprobe_addr", TERM_KPROBE_ADDR, 0, VALUE_NUMBER},
    {"probe_offset", TERM_PROBE_OFFSET, 0, VALUE_NUMBER},
};

static void skip_blanks(const char *text, size_t *at)
{
	while (isspace((unsigned char)text[*at]))
		++*at;
}

static bool begins_name(char byte)
{
	return isalpha((unsigned char)byte) || byte == '_' || byte == '*' || byte == '?';
}

static bool in_name(char byte)
{
	return isalnum((unsigned char)byte) || (byte && strchr("_*?-.:", byte));
}

static struct event_word take_name(const char *text, size_t *at)
{
	struct event_word word = {.text = text + *at, .position = *at};

	if (begins_name(text[*at]))
		while (in_name(text[*at]))
			++*at;
	word.length = *at - word.position;
	return word;
}

static int take_quoted(const char *text, size_t *at, struct event_term *term,
		       struct tally_error *error)
{
	const char *end = strchr(text + *at + 1, '\'');

	if (!end)
		return tally_fail(error, -EINVAL, (int64_t)*at,
				  "expected a second ' that ends the text");
	term->value = VALUE_TEXT;
	term->text = (struct event_word){text + *at + 1, (size_t)(end - text) - *at - 1, *at + 1};
	*at = (size_t)(end - text) + 1;
	return 0;
}

static int take_value(const char *text, size_t *at, struct event_term *term,
		      struct tally_error *error)
{
	skip_blanks(text, at);
	if (text[*at] == '\'')
		return take_quoted(text, at, term, error);
	if (text[*at] == '/' && term->kind == TERM_UPROBE_PATH)
		return tally_fail(error, -EINVAL, (int64_t)*at,
				  "expected the path in quotes: uprobe_path='/bin/ls'");
	if (!isdigit((unsigned char)text[*at])) {
		term->text = take_name(text, at);
		term->value = VALUE_TEXT;
		if (term->text.length)
			return 0;
		return tally_fail(error, -EINVAL, (int64_t)*at,
				  "expected the value of %.*s: a number, decimal or 0x, or a word",
				  (int)(term->name.length > 80 ? 80 : term->name.length),
				  term->name.text);
	}
	term->text = (struct event_word){.text = text + *at, .position = *at};
	while (isalnum((unsigned char)text[*at]))
		++*at;
	term->text.length = *at - term->text.position;
	term->value = VALUE_NUMBER;
	switch (tally_raw_number(&term->text, &term->number)) {
	case 1:
		return 0;
	case 0:
		return tally_fail(error, -EINVAL, (int64_t)term->text.position,
				  "expected a number, decimal or 0x and hex digits");
	default:
		return tally_fail(error, -EINVAL, (int64_t)term->text.position,
				  "a value has at most 64 bits");
	}
}

static void find_kind(struct event_term *term)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tally_word_is(&term->name, names[i].name)) {
			term->kind = names[i].kind;
			term->which = names[i].which;
		}
}

/* "rHEX" and "r0xHEX", which stand for config=0xHEX. */
static int find_raw(struct event_term *term)
{
	struct event_word word = term->name;
	char digits[20] = "r";
	int result;

	if (word.length > 3 && word.text[0] == 'r' && word.text[1] == '0' && word.text[2] == 'x' &&
	    word.length - 2 < sizeof(digits)) {
		memcpy(digits + 1, word.text + 3, word.length - 3);
		word = (struct event_word){digits, word.length - 2, word.position};
	}
	struct tally_attr attr;

	result = tally_raw_find(&word, &attr);
	if (result == 1) {
		term->kind = TERM_CONFIG;
		term->value = VALUE_NUMBER;
		term->number = attr.config;
	}
	return result;
}

static void skip_letters(const char *text, size_t *at, const char *others)
{
	while (isalnum((unsigned char)text[*at]) || (text[*at] && strchr(others, text[*at])))
		++*at;
}

/* "@key" or "@key=setting", for the driver of a trace unit. */
static int take_driver(const char *text, size_t *at, struct event_term *term,
		       struct tally_error *error)
{
	size_t start = ++*at, key;

	skip_letters(text, at, "_.");
	key = *at;
	if (key > start && text[key] == '=') {
		++*at;
		skip_letters(text, at, "_.*?:");
		if (*at == key + 1)
			return tally_fail(error, -EINVAL, (int64_t)*at,
					  "expected the driver's setting after =");
	}
	term->kind = TERM_DRIVER;
	term->value = VALUE_TEXT;
	term->name = term->text = (struct event_word){text + start, *at - start, start};
	if (key == start)
		return tally_fail(error, -EINVAL, (int64_t)start,
				  "expected key or key=value for the driver after @");
	return 0;
}

static int take_term(const char *text, size_t *at, struct event_term *term,
		     struct tally_error *error)
{
	int result;

	*term = (struct event_term){.kind = TERM_FORMAT, .number = 1};
	skip_blanks(text, at);
	if (text[*at] == '@')
		return take_driver(text, at, term, error);
	term->name = take_name(text, at);
	if (!term->name.length)
		return tally_fail(error, -EINVAL, (int64_t)*at,
				  "expected a term: name=value, or a name alone");
	skip_blanks(text, at);
	find_kind(term);
	if (text[*at] == '=') {
		++*at;
		return take_value(text, at, term, error);
	}
	if (term->kind != TERM_FORMAT)
		return 0;
	result = find_raw(term);
	if (result == -ERANGE)
		return tally_fail(error, -EINVAL, (int64_t)term->name.position,
				  "a raw code has at most 16 hex digits");
	return 0;
}

int tally_terms_parse(const char *text, size_t *at, struct event_terms *ret,
		      struct tally_error *error)
{
	size_t start = *at;
	int result;

	ret->count = 0;
	for (;;) {
		if (ret->count == TERMS_MOST)
			return tally_fail(error, -EINVAL, (int64_t)*at,
					  "an event has at most %d terms", TERMS_MOST);
		result = take_term(text, at, &ret->terms[ret->count], error);
		if (result)
			return result;
		ret->count++;
		skip_blanks(text, at);
		if (text[*at] != ',')
			break;
		++*at;
	}
	if (text[*at] && text[*at] != '/')
		return tally_fail(error, -EINVAL, (int64_t)*at,
				  "expected , or the / that ends the terms");
	(void)start;
	return 0;
}

static int shown_length(const struct event_word *word)
{
	return word->length > 80 ? 80 : (int)word->length;
}

int tally_term_unknown(const struct event_term *term, struct tally_error *error)
{
	return tally_fail(error, -EINVAL, (int64_t)term->name.position,
			  "unknown term %.*s: expected config, config1 to config4, name, period, "
			  "freq, time, call-graph, stack-size, max-stack, nr, inherit, overwrite, "
			  "percore, aux-output, aux-sample-size, aux-action, branch_type or "
			  "metric-id",
			  shown_length(&term->name), term->name.text);
}

static bool is_stat(const char *command)
{
	return command && !strcmp(command, "stat");
}

/* Terms that perf stat accepts: those that are not about samples. */
static bool is_for_counting(enum event_term_kind kind)
{
	return kind == TERM_CONFIG || kind >= TERM_UPROBE_PATH || kind == TERM_NAME ||
	       kind == TERM_PERIOD || kind == TERM_PERCORE || kind == TERM_METRIC_ID ||
	       kind == TERM_DRIVER;
}

static int check(const struct event_term *term, const char *command, struct tally_error *error)
{
	uint64_t most = UINT64_MAX;
	bool text = term->kind == TERM_NAME || term->kind == TERM_BRANCH_TYPE ||
		    term->kind == TERM_CALL_GRAPH || term->kind == TERM_METRIC_ID ||
		    term->kind == TERM_AUX_ACTION || term->kind == TERM_UPROBE_PATH ||
		    term->kind == TERM_KPROBE_FUNC;

	if (term->kind == TERM_DRIVER)
		return 0;
	if (text != (term->value == VALUE_TEXT))
		return tally_fail(
		    error, -EINVAL,
		    (int64_t)(term->text.length ? term->text.position : term->name.position),
		    "%.*s takes a %s", shown_length(&term->name), term->name.text,
		    text ? "word" : "number, decimal or 0x");
	if (term->kind == TERM_TIME || term->kind == TERM_PERCORE)
		most = 1;
	if (term->kind == TERM_STACK_SIZE || term->kind == TERM_AUX_SAMPLE_SIZE ||
	    term->kind == TERM_MAX_STACK)
		most = UINT32_MAX;
	if (!text && term->number > most)
		return tally_fail(error, -EINVAL, (int64_t)term->text.position,
				  "%.*s must be at most %llu", shown_length(&term->name),
				  term->name.text, (unsigned long long)most);
	if (is_stat(command) && !is_for_counting(term->kind))
		return tally_fail(error, -EINVAL, (int64_t)term->name.position,
				  "%.*s is for samples, and a counter has none",
				  shown_length(&term->name), term->name.text);
	return 0;
}

static int copy_text(const struct event_word *word, char **to)
{
	char *text = strndup(word->text, word->length);

	if (!text)
		return -ENOMEM;
	free(*to);
	*to = text;
	return 0;
}

static int add_driver(const struct event_word *word, char **to)
{
	struct tally_buf text = {0};
	char *made = NULL;

	if (*to) {
		tally_buf_text(&text, *to);
		tally_buf_byte(&text, ',');
	}
	tally_buf_add(&text, word->text, word->length);
	if (!text.failed)
		made = strdup(tally_buf_str(&text));
	tally_buf_done(&text);
	if (!made)
		return -ENOMEM;
	free(*to);
	*to = made;
	return 0;
}

static int branch_type(const struct event_term *term, struct tally_attr *attr,
		       struct tally_error *error)
{
	const struct tally_branch_word *word =
	    tally_branch_word_find(term->text.text, term->text.length);

	if (!word)
		return tally_fail(
		    error, -EINVAL, (int64_t)term->text.position,
		    "unknown kind of branch %.*s: expected any, any_call, any_ret, ind_call, "
		    "ind_jmp, cond, call, u, k or no",
		    shown_length(&term->text), term->text.text);
	attr->branch_sample_type |= word->bits;
	/* Levels alone mean any branch. */
	if (word->bits && !(attr->branch_sample_type & ~7ull))
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/* Actions of several terms add up, but for two that exclude each other. */
static int aux_action(const struct event_term *term, struct tally_attr *attr,
		      struct tally_error *error)
{
	struct tally_attr with = *attr;
	bool known = false;

	for (size_t i = 0; i < EVENT_AUX_ACTIONS; i++)
		if (tally_word_is(&term->text, event_aux_actions[i].word)) {
			with.aux_action |= event_aux_actions[i].bit;
			known = true;
		}
	if (with.aux_pause && with.aux_resume)
		return tally_fail(error, -EINVAL, (int64_t)term->text.position,
				  "aux-action=pause and aux-action=resume exclude each other");
	if (!known)
		return tally_fail(
		    error, -EINVAL, (int64_t)term->text.position,
		    "unknown aux-action %.*s: expected start-paused, for the event that "
		    "writes a trace, or pause or resume, for events of its group",
		    shown_length(&term->text), term->text.text);
	attr->aux_action = with.aux_action;
	return 0;
}

static void set_config(struct tally_attr *attr, unsigned which, uint64_t value)
{
	switch (which) {
	case 0:
		attr->config = value;
		break;
	case 1:
		attr->config1 = value;
		break;
	case 2:
		attr->config2 = value;
		break;
	case 3:
		attr->config3 = value;
		break;
	default:
		attr->config4 = value;
		break;
	}
}

/* Terms whose value is a word; 1: it is not one of them. */
static int apply_text(const struct event_term *term, struct tally_event *event,
		      struct tally_error *error)
{
	switch (term->kind) {
	case TERM_NAME:
		event->terms.given |= TALLY_TERM_NAME;
		return copy_text(&term->text, &event->name);
	case TERM_BRANCH_TYPE:
		event->terms.given |= TALLY_TERM_BRANCH_TYPE;
		return branch_type(term, &event->attr, error);
	case TERM_AUX_ACTION:
		event->terms.given |= TALLY_TERM_AUX_ACTION;
		return aux_action(term, &event->attr, error);
	case TERM_CALL_GRAPH:
		event->terms.given |= TALLY_TERM_CALL_GRAPH;
		return copy_text(&term->text, &event->terms.call_graph);
	case TERM_METRIC_ID:
		event->terms.given |= TALLY_TERM_METRIC_ID;
		return copy_text(&term->text, &event->terms.metric_id);
	case TERM_DRIVER:
		event->terms.given |= TALLY_TERM_DRIVER;
		return add_driver(&term->text, &event->terms.driver);
	default:
		return 1;
	}
}

static void apply_number(const struct event_term *term, const char *command,
			 struct tally_event *event)
{
	struct tally_event_terms *terms = &event->terms;

	switch (term->kind) {
	case TERM_CONFIG:
		set_config(&event->attr, term->which, term->number);
		break;
	case TERM_PERIOD:
	case TERM_FREQ:               /* the last one is valid */
		if (is_stat(command)) /* counts, without a period, as perf stat */
			break;
		event->attr.sample_period = term->number;
		event->attr.freq = term->kind == TERM_FREQ;
		terms->given &= ~(TALLY_TERM_PERIOD | TALLY_TERM_FREQ | TALLY_TERM_WEAK);
		terms->given |= term->kind == TERM_FREQ ? TALLY_TERM_FREQ : TALLY_TERM_PERIOD;
		if (term->of_alias)
			terms->given |= TALLY_TERM_WEAK;
		break;
	case TERM_TIME:
		terms->given |= TALLY_TERM_TIME;
		terms->time = term->number;
		break;
	case TERM_STACK_SIZE:
		terms->given |= TALLY_TERM_STACK_SIZE;
		terms->stack_size = (uint32_t)term->number;
		break;
	case TERM_MAX_STACK:
		terms->given |= TALLY_TERM_MAX_STACK;
		terms->max_stack = (uint32_t)term->number;
		break;
	case TERM_MAX_EVENTS:
		terms->given |= TALLY_TERM_MAX_EVENTS;
		terms->max_events = term->number;
		break;
	case TERM_INHERIT:
	case TERM_NO_INHERIT:
		terms->given |= TALLY_TERM_INHERIT;
		terms->inherit = (term->kind == TERM_INHERIT) == !!term->number;
		break;
	case TERM_OVERWRITE:
	case TERM_NO_OVERWRITE:
		terms->given |= TALLY_TERM_OVERWRITE;
		terms->overwrite = (term->kind == TERM_OVERWRITE) == !!term->number;
		break;
	case TERM_PERCORE:
		terms->given |= TALLY_TERM_PERCORE;
		terms->percore = term->number;
		break;
	case TERM_AUX_OUTPUT:
		terms->given |= TALLY_TERM_AUX_OUTPUT;
		terms->aux_output = term->number;
		break;
	default:
		terms->given |= TALLY_TERM_AUX_SAMPLE_SIZE;
		event->attr.aux_sample_size = (uint32_t)term->number;
		break;
	}
}

int tally_term_apply(const struct event_term *term, const char *command, struct tally_event *event,
		     struct tally_error *error)
{
	int result;

	if (term->kind == TERM_FORMAT)
		return tally_term_unknown(term, error);
	result = check(term, command, error);
	if (result)
		return result;
	if (term->kind >= TERM_UPROBE_PATH)
		return tally_probe_term(term, event, error);
	result = apply_text(term, event, error);
	if (result == -ENOMEM)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (result == 1) {
		apply_number(term, command, event);
		result = 0;
	}
	return result;
}
