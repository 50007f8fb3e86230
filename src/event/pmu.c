/* PMU/TERMS/ -> ATTR: aliases are replaced by their terms, general terms are applied in order, and
 * the value of each field is spread over its bits.
 *
 * Order, as in perf: config=, config1=, ... set the whole word, at any position; fields are then
 * ORed into it. A field given twice is ORed, too, with a warning; for PMUs with a default config it
 * is replaced. Source: perf 6.1's answers. */
#include "event/pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "base/fail.h"
#include "vendor/vendor_table.h"

static int shown_length(const struct event_word *word)
{
	return word->length > 80 ? 80 : (int)word->length;
}

static int64_t column(const struct event_term *term)
{
	return (int64_t)term->name.position;
}

static int fail_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "out of memory");
}

/* The name of a term that may be an alias: alone, "name=1", or "event=name". */
static const struct event_word *alias_name(const struct event_pmu *pmu,
					   const struct event_term *term)
{
	if (term->kind != TERM_FORMAT)
		return NULL;
	if (term->value == VALUE_TEXT)
		return term->name.length == 5 && !strncasecmp(term->name.text, "event", 5)
			   ? &term->text
			   : NULL;
	if (term->number != 1 || tally_pmu_format_find(pmu, &term->name))
		return NULL;
	return &term->name;
}

static int take_info(const struct pmu_alias *alias, const struct event_term *term,
		     struct tally_event *event, struct tally_error *error)
{
	/* Each has a scale, and one event cannot have two; perf refuses it, too. */
	if (event->scale != 0)
		return tally_fail(error, -EINVAL, column(term),
				  "%.*s is a second named event: one counter has one name",
				  shown_length(&term->name), term->name.text);
	if (alias->unit) {
		event->unit = strdup(alias->unit);
		if (!event->unit)
			return fail_memory(error);
	}
	event->scale = alias->scale != 0 ? alias->scale : 1;
	event->origin = alias->of_table ? TALLY_ORIGIN_TABLE : TALLY_ORIGIN_SYSFS;
	event->snapshot |= alias->snapshot;
	event->per_pkg |= alias->per_pkg;
	return 0;
}

/* Replaces the name of an alias by its terms. */
static int expand_one(struct tally_event_context *context, const struct event_pmu *pmu,
		      struct pmu_alias *alias, const struct event_term *term,
		      struct event_terms *to, struct tally_event *event, struct tally_error *error)
{
	struct event_terms own;
	struct tally_error inner;
	size_t at = 0;
	int result = tally_pmu_alias_load(context, pmu, alias);

	if (result == -ENOMEM)
		return fail_memory(error);
	if (result)
		return tally_fail(error, result, column(term), "event %s of %s cannot be read: %s",
				  alias->name, pmu->name, strerror(-result));
	result = take_info(alias, term, event, error);
	if (!result && alias->of_table) {
		event->source = strdup(tally_table_folder(context->table));
		result = event->source ? 0 : fail_memory(error);
	}
	if (result)
		return result;
	if (tally_terms_parse(alias->text, &at, &own, &inner) || alias->text[at])
		return tally_fail(error, -EINVAL, column(term),
				  "event %s of %s is \"%s\" in %s, which is invalid", alias->name,
				  pmu->name, alias->text,
				  alias->of_table ? event->source : "sysfs");
	for (size_t i = 0; i < own.count; i++) {
		if (to->count == TERMS_MOST)
			return tally_fail(error, -EINVAL, column(term),
					  "an event has at most %d terms", TERMS_MOST);
		own.terms[i].of_alias = true;
		own.terms[i].name.position = own.terms[i].text.position = term->name.position;
		to->terms[to->count++] = own.terms[i];
	}
	return 0;
}

static int expand(struct tally_event_context *context, struct event_pmu *pmu,
		  const struct event_terms *terms, struct event_terms *to,
		  struct tally_event *event, struct tally_error *error)
{
	int result = 0;

	to->count = 0;
	for (size_t i = 0; i < terms->count && !result; i++) {
		const struct event_word *name = alias_name(pmu, &terms->terms[i]);
		struct pmu_alias *alias = name ? tally_pmu_alias_find(pmu, name) : NULL, of_table;

		if (name && !alias && tally_pmu_table_find(context, pmu, name, &of_table))
			alias = &of_table;
		if (alias)
			result =
			    expand_one(context, pmu, alias, &terms->terms[i], to, event, error);
		else if (to->count == TERMS_MOST)
			result = tally_fail(error, -EINVAL, column(&terms->terms[i]),
					    "an event has at most %d terms", TERMS_MOST);
		else
			to->terms[to->count++] = terms->terms[i];
	}
	return result;
}

static int fail_unknown(struct tally_event_context *context, const struct event_pmu *pmu,
			const struct event_term *term, struct tally_error *error)
{
	char *text = strndup(term->name.text, term->name.length);
	const struct event_pmu *other = tally_pmu_that_has(context, &term->name);
	const char *similar = other || !text ? NULL : tally_suggest_term(context, pmu, text);
	struct tally_buf list = {0}, meant = {0};

	free(text);
	for (size_t i = 0; i < pmu->format_count; i++) {
		tally_buf_byte(&list, ' ');
		tally_buf_text(&list, pmu->formats[i].name);
	}
	if (similar)
		tally_buf_printf(&meant, " (did you mean %s?)", similar);
	else if (other)
		tally_buf_printf(&meant, " (%s has)", other->name);
	tally_fail(error, -EINVAL, column(term),
		   "%s has no field or event %.*s%s; its fields:%.300s", pmu->name,
		   shown_length(&term->name), term->name.text,
		   meant.size ? tally_buf_str(&meant) : "",
		   pmu->format_count ? tally_buf_str(&list) : " none");
	tally_buf_done(&meant);
	tally_buf_done(&list);
	return -EINVAL;
}

/* The given value for a parameter "field=?" of an alias. */
static struct event_term *find_parameter(struct event_terms *terms, const struct event_term *of)
{
	for (size_t i = 0; i < terms->count; i++) {
		struct event_term *term = &terms->terms[i];

		if (term->kind == TERM_FORMAT && term->value != VALUE_TEXT &&
		    term->name.length == of->name.length &&
		    !memcmp(term->name.text, of->name.text, of->name.length))
			return term;
	}
	return NULL;
}

static int warn_twice(struct tally_event *event, const struct event_term *term,
		      const struct pmu_format *format, uint64_t before, uint64_t value)
{
	struct tally_buf text = {0};

	if (event->warning)
		return 0;
	tally_buf_printf(
	    &text, "%.*s is given twice; the values are ORed, as in perf: %#llx | %#llx",
	    shown_length(&term->name), term->name.text,
	    (unsigned long long)tally_pmu_extract(before, format->mask), (unsigned long long)value);
	if (!text.failed)
		event->warning = strdup(tally_buf_str(&text));
	tally_buf_done(&text);
	return event->warning ? 0 : -ENOMEM;
}

struct fields { /* the values so far, by config */
	uint64_t seen[5];
};

static int apply_field(struct tally_event_context *context, const struct event_pmu *pmu,
		       struct event_terms *terms, const struct event_term *term,
		       struct fields *fields, struct tally_event *event, struct tally_error *error)
{
	const struct pmu_format *format = tally_pmu_format_find(pmu, &term->name);
	uint64_t *config, value = term->number, most;
	int64_t at = term->text.length ? (int64_t)term->text.position : column(term);

	if (!format)
		return fail_unknown(context, pmu, term, error);
	if (term->value == VALUE_TEXT) {
		struct event_term *given = NULL;

		if (!tally_word_is(&term->text, "?"))
			return tally_fail(error, -EINVAL, at,
					  "%.*s takes a number, decimal or 0x, and %s has no event "
					  "of that name",
					  shown_length(&term->name), term->name.text, pmu->name);
		given = find_parameter(terms, term);
		if (!given)
			return tally_fail(error, -EINVAL, at,
					  "this event needs a value: write %.*s=NUMBER behind it",
					  shown_length(&term->name), term->name.text);
		value = given->number;
		if (given > term)
			given->kind = TERM_DRIVER; /* used: must not be applied again */
	}
	most = tally_pmu_format_most(format->mask);
	if (value > most)
		return tally_fail(error, -EINVAL, at, "%.*s of %s is at most %llu (%#llx)",
				  shown_length(&term->name), term->name.text, pmu->name,
				  (unsigned long long)most, (unsigned long long)most);
	config = tally_attr_config(&event->attr, format->which);
	if (pmu->has_default) {
		*config &= ~format->mask;
	} else if (fields->seen[format->which] & format->mask) {
		uint64_t before = *config & format->mask,
			 now = tally_pmu_spread(value, format->mask);

		if ((before | now) != now && (before | now) != before &&
		    warn_twice(event, term, format, before, value))
			return fail_memory(error);
	}
	fields->seen[format->which] |= tally_pmu_spread(most, format->mask) & format->mask;
	*config |= tally_pmu_spread(value, format->mask);
	return 0;
}

static int copy_of(const char *text, char **to)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

int tally_pmu_encode(struct tally_event_context *context, struct event_pmu *pmu,
		     const struct event_terms *terms, const char *command,
		     struct tally_event *event, struct tally_error *error)
{
	struct event_terms all;
	struct fields fields = {{0}};
	int result;

	event->attr.type = pmu->type;
	event->attr.config = pmu->default_config;
	event->origin = TALLY_ORIGIN_SYSFS;
	if (copy_of(pmu->name, &event->pmu) || copy_of(pmu->cpus, &event->cpus))
		return fail_memory(error);
	result = expand(context, pmu, terms, &all, event, error);
	if (event->scale == 0)
		event->scale = 1;
	for (size_t i = 0; i < all.count && !result; i++)
		if (all.terms[i].kind != TERM_FORMAT)
			result = tally_term_apply(&all.terms[i], command, event, error);
	for (size_t i = 0; i < all.count && !result; i++)
		if (all.terms[i].kind == TERM_FORMAT)
			result =
			    apply_field(context, pmu, &all, &all.terms[i], &fields, event, error);
	return result;
}
