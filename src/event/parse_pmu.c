/* Events of PMUs in a string: "PMU/terms/" for one PMU or all that the word means, and names that
 * any PMU of the machine has. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/text.h"
#include "event/parse.h"
#include "vendor/vendor_table.h"

/* When no PMU takes the event, the last error is returned. */
static int add_of_pmu(struct parser *parser, struct event_pmu *pmu, const struct event_terms *terms)
{
	struct tally_event event = {.attr.exclude_guest = tally_pmu_knows_guests(pmu)};
	int result = tally_pmu_encode(parser->context, pmu, terms, parser->options->command, &event,
				      parser->error);

	return tally_parser_put(parser, &event, result);
}

/* A generic or cache name as an event of a core PMU, "cpu_core/cycles/"; other terms must be
 * general ones. 1: it is not such a name. */
static int add_legacy(struct parser *parser, struct event_pmu *pmu, const struct event_terms *terms)
{
	struct event_terms others = {.count = 0};
	struct tally_attr attr;
	bool found = false;
	int result;

	for (size_t i = 0; i < terms->count; i++) {
		const struct event_term *term = &terms->terms[i];
		bool is_name = term->kind == TERM_FORMAT && term->value == VALUE_NONE &&
			       !tally_pmu_alias_find(pmu, &term->name) &&
			       (tally_generic_find(&term->name, &attr) ||
				tally_cache_find(&term->name, &attr) == CACHE_YES);

		if (is_name && (found || attr.type == PERF_TYPE_SOFTWARE))
			return 1;
		if (!is_name && term->kind == TERM_FORMAT)
			return 1;
		if (!is_name)
			others.terms[others.count++] = *term;
		found |= is_name;
	}
	if (!found)
		return 1;
	for (size_t i = 0; i < terms->count; i++)
		if (terms->terms[i].kind == TERM_FORMAT &&
		    !tally_generic_find(&terms->terms[i].name, &attr))
			(void)tally_cache_find(&terms->terms[i].name, &attr);
	result = tally_parser_add(parser, &attr, &others, TALLY_TOOL_NONE);
	if (!result && pmu->hybrid)
		result = tally_parser_hybrid(parser, pmu);
	return result;
}

static int add_to(struct parser *parser, struct event_pmu *pmu, const struct event_terms *terms)
{
	int result = tally_pmu_load(parser->context, pmu);

	if (result == -ENOMEM)
		return tally_parser_fail_memory(parser);
	if (result)
		return tally_fail(parser->error, -EINVAL, -1, "%s has no type in sysfs", pmu->name);
	result = pmu->core ? add_legacy(parser, pmu, terms) : 1;
	return result == 1 ? add_of_pmu(parser, pmu, terms) : result;
}

int tally_parser_fail_absent(struct parser *parser, const struct event_word *word)
{
	const struct tally_table *table =
	    parser->context ? tally_context_table(parser->context) : NULL;
	const struct tally_table_event *event =
	    table ? tally_table_find(table, word->text, word->length) : NULL;

	while (event && !event->terms)
		event = event->same_name;
	if (!event)
		return 1;
	parser->absent = true;
	return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
			  "%s is an event of the PMU %s%s%s (table of %s), which "
			  "%s/bus/event_source/devices does not have",
			  event->name, event->pmu ? event->pmu : "cpu",
			  event->compat ? ", model " : "", event->compat ? event->compat : "",
			  tally_table_cpuid(table), parser->context->sysfs);
}

static int fail_no_pmu(struct parser *parser, const struct event_word *word)
{
	char *text = strndup(word->text, word->length);
	const char **names, *similar = NULL;
	size_t count = parser->context->count;
	int result = tally_parser_fail_absent(parser, word);

	if (result != 1) {
		free(text);
		return result;
	}
	names = reallocarray(NULL, count + 1, sizeof(*names));
	for (size_t i = 0; names && i < count; i++)
		names[i] = parser->context->pmus[i].name;
	if (names && text)
		similar = tally_text_nearest(text, names, count);
	free(names);
	free(text);
	return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
			  "unknown PMU %.*s%s%s%s; expected a folder of "
			  "%s/bus/event_source/devices, its name without number, or a glob",
			  tally_word_shown(word), word->text, similar ? " (did you mean " : "",
			  similar ? similar : "", similar ? "?)" : "", parser->context->sysfs);
}

/* "PMU/terms/": of the PMU of that name, or else of all that the word means. -ENOENT: none. */
static int add_matching(struct parser *parser, const struct event_word *word,
			const struct event_terms *terms)
{
	struct event_pmu *exact = tally_pmu_find(parser->context, word);
	int result = -ENOENT, failed = 0;
	bool added = false;

	if (exact)
		return add_to(parser, exact, terms);
	for (size_t i = 0; i < parser->context->count; i++) {
		struct event_pmu *pmu = &parser->context->pmus[i];

		(void)tally_pmu_load(parser->context, pmu);
		if (!pmu->usable || !tally_pmu_matches(pmu, word))
			continue;
		result = add_to(parser, pmu, terms);
		if (result == -ENOMEM)
			return result;
		if (result)
			failed = result;
		added |= !result;
	}
	if (added)
		return 0;
	return failed ? failed : -ENOENT;
}

/* Whether sysfs has the name for any PMU: then the vendor's table is not needed. */
static bool is_of_sysfs(struct tally_event_context *context, const struct event_word *word)
{
	for (size_t i = 0; i < context->count; i++)
		if (!tally_pmu_load(context, &context->pmus[i]) &&
		    tally_pmu_alias_find(&context->pmus[i], word))
			return true;
	return false;
}

static bool has_event(struct tally_event_context *context, struct event_pmu *pmu,
		      const struct event_word *word, bool of_sysfs)
{
	struct pmu_alias of_table;

	return of_sysfs ? tally_pmu_alias_find(pmu, word) != NULL
			: tally_pmu_table_find(context, pmu, word, &of_table);
}

/* An alias of any PMU, with further terms.  -ENOENT: none has it. */
static int add_alias(struct parser *parser, const struct event_word *word,
		     struct event_terms *terms)
{
	bool of_sysfs = is_of_sysfs(parser->context, word), added = false;
	int failed = -ENOENT;

	if (terms->count == TERMS_MOST)
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position,
				  "too many terms");
	terms->terms[terms->count++] =
	    (struct event_term){.kind = TERM_FORMAT, .name = *word, .number = 1};
	for (size_t i = 0; i < parser->context->count; i++) {
		struct event_pmu *pmu = &parser->context->pmus[i];
		int result = tally_pmu_load(parser->context, pmu);

		if (result == -ENOMEM)
			return tally_parser_fail_memory(parser);
		if (result || !has_event(parser->context, pmu, word, of_sysfs))
			continue;
		result = add_of_pmu(parser, pmu, terms);
		if (result == -ENOMEM)
			return result;
		if (result)
			failed = result;
		added |= !result;
	}
	return added ? 0 : failed;
}

/* Each kind of core of a hybrid machine counts all events of a group. */
static void mark_several(struct parser *parser, size_t first)
{
	for (size_t i = first; i < parser->items.count; i++) {
		struct event_item *item = &parser->items.items[i];
		struct event_word name = {.text = item->event.pmu,
					  .length = strlen(item->event.pmu)};
		const struct event_pmu *pmu = tally_pmu_find(parser->context, &name);

		item->several = !pmu || !pmu->core;
	}
}

/* An event of PMUs: "PMU/terms/", or the name of an alias. -ENOENT: it is not one. */
int tally_parse_pmu_event(struct parser *parser, const struct event_word *word)
{
	size_t first = parser->items.count;
	struct event_word modifiers;
	struct event_terms terms;
	bool slashes, alias;
	int result = tally_parser_need_pmus(parser);

	if (!result)
		result = tally_parser_slashes(parser, &slashes, &terms);
	if (result)
		return result;
	result = slashes ? add_matching(parser, word, &terms) : -ENOENT;
	alias = result == -ENOENT;
	if (alias)
		result = add_alias(parser, word, &terms);
	/* Tables that the person named and that cannot be read are an error, not a reason to guess.
	 */
	if (result == -ENOENT && parser->context->events && parser->context->table_result < 0)
		return tally_fail(parser->error, -EINVAL, (int64_t)word->position, "%s",
				  parser->context->table_error.text);
	if (result == -ENOENT && slashes)
		return fail_no_pmu(parser, word);
	if (!result)
		result = tally_parser_modifiers(parser, slashes, alias, true, &modifiers);
	if (!result && parser->items.count > first + 1)
		mark_several(parser, first);
	return result ? result
		      : tally_parser_finish(parser, first, &modifiers, parser->at, word->position);
}

/* Source: perf-list(1). */
static const struct event_form forms[] = {
    {"PMU/TERM=VALUE,.../MODIFIERS", "an event of a PMU by the fields of its format/ in sysfs",
     false},
    {NULL, NULL, false},
};

const struct event_family tally_event_family_pmu = {.forms = forms};
