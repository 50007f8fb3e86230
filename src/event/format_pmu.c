/* ATTR -> NAME, for events of PMUs: the shortest string that gives the attr, with its name in sysfs
 * or in the vendor's table.
 *
 * Each candidate is parsed, and taken when it gives the attr: only the parser decides what a name
 * means. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/event_names.h"
#include "base/buf.h"
#include "event/format.h"
#include "event/pmu.h"
#include "vendor/vendor_table.h"

struct search {
	const struct tally_attr *attr;
	const struct tally_event_options *options;
	struct tally_event_context *context;
	struct event_pmu *pmu;
	char modifiers[24];
	struct tally_buf try;
	char *best; /* NULL: none so far */
};

static bool gives_attr(const struct search *search, const char *text)
{
	struct tally_event_list list;
	bool yes;

	if (tally_event_list_parse(text, search->options, &list, NULL))
		return false;
	yes = list.count == 1 && !memcmp(&list.events[0].attr, search->attr, sizeof(*search->attr));
	tally_event_list_done(&list);
	return yes;
}

/* Keeps search->try when it is shorter than the best and gives the attr. */
static void try_candidate(struct search *search)
{
	const char *text = tally_buf_str(&search->try);

	if (text && !search->try.failed && (!search->best || strlen(text) < strlen(search->best)) &&
	    gives_attr(search, text)) {
		char *kept = strdup(text);

		if (kept) {
			free(search->best);
			search->best = kept;
		}
	}
	tally_buf_done(&search->try);
}

static bool same_config(const struct tally_attr *a, const struct tally_attr *b)
{
	return a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
	       a->config3 == b->config3 && a->config4 == b->config4;
}

/* With the PMU's name, and without it where that gives the same. */
static void try_name(struct search *search, const char *name)
{
	struct event_terms terms = {.count = 1};
	struct tally_event event = {.attr = {.exclude_guest = 1}};
	struct tally_error ignored;
	char term[FORMAT_SAMPLING];
	bool same;

	terms.terms[0] =
	    (struct event_term){.kind = TERM_FORMAT, .name = {name, strlen(name), 0}, .number = 1};
	same = !tally_pmu_encode(search->context, search->pmu, &terms, search->options->command,
				 &event, &ignored) &&
	       same_config(&event.attr, search->attr);
	tally_format_sampling(search->attr, event.attr.sample_period, term);
	tally_event_done(&event);
	if (!same)
		return;
	tally_buf_printf(&search->try, "%s/%s%s%s/%s", search->pmu->name, name, *term ? "," : "",
			 term, search->modifiers);
	try_candidate(search);
	if (*term)
		tally_buf_printf(&search->try, "%s/%s/%s", name, term, search->modifiers);
	else
		tally_buf_printf(&search->try, "%s%s%s", name, *search->modifiers ? ":" : "",
				 search->modifiers);
	try_candidate(search);
}

static void try_table(struct search *search)
{
	const struct tally_table *table = tally_context_table(search->context);
	const struct tally_table_event *event;

	for (size_t i = 0; table && (event = tally_table_at(table, i)); i++)
		if (event->name && event->terms && tally_pmu_table_fits(search->pmu, event))
			try_name(search, event->name);
}

static void try_numbers(struct search *search)
{
	const struct tally_attr *attr = search->attr;
	const uint64_t configs[] = {attr->config, attr->config1, attr->config2, attr->config3,
				    attr->config4};
	char term[FORMAT_SAMPLING];
	bool first = true;

	tally_buf_printf(&search->try, "%s/", search->pmu->name);
	for (unsigned i = 0; i < 5; i++) {
		char which[2] = {i ? (char)('0' + i) : 0, 0};

		/* the first also disables a default */
		if (!configs[i] && (i || !search->pmu->has_default))
			continue;
		tally_buf_printf(&search->try, "%sconfig%s=0x%llx", first ? "" : ",", which,
				 (unsigned long long)configs[i]);
		first = false;
	}
	tally_format_sampling(attr, 0, term);
	if (*term)
		tally_buf_printf(&search->try, "%s%s", first ? "" : ",", term);
	tally_buf_printf(&search->try, "/%s", search->modifiers);
	try_candidate(search);
}

/* An event that each kind of core has: the PMU's type is the config's upper half. */
static void try_kind_of_core(struct search *search)
{
	struct tally_attr plain = *search->attr;
	char name[128], term[FORMAT_SAMPLING];
	const char *generic;

	plain.config &= UINT32_MAX;
	generic = tally_abi_event_name(plain.type, plain.config);
	if (generic)
		snprintf(name, sizeof(name), "%s", generic);
	else if (plain.type != PERF_TYPE_HW_CACHE ||
		 tally_cache_format(plain.config, name, sizeof(name)) < 0)
		return;
	tally_format_sampling(search->attr, 0, term);
	tally_buf_printf(&search->try, "%s/%s%s%s/%s", search->pmu->name, name, *term ? "," : "",
			 term, search->modifiers);
	try_candidate(search);
}

static bool is_of(const struct tally_attr *attr, const struct event_pmu *pmu)
{
	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		return pmu->hybrid && attr->config >> 32 == pmu->type;
	return pmu->type == attr->type && attr->type != PERF_TYPE_SOFTWARE &&
	       attr->type != PERF_TYPE_TRACEPOINT && attr->type != PERF_TYPE_BREAKPOINT;
}

char *tally_format_pmu(const struct tally_attr *attr, const struct tally_event_options *options)
{
	struct search search = {.attr = attr, .options = options, .context = options->context};

	for (size_t i = 0; i < search.context->count; i++) {
		struct event_pmu *pmu = &search.context->pmus[i];

		if (tally_pmu_type(search.context, pmu) || !is_of(attr, pmu) ||
		    tally_pmu_load(search.context, pmu))
			continue;
		search.pmu = pmu;
		tally_format_modifiers(attr, tally_pmu_knows_guests(pmu), search.modifiers);
		if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) {
			try_kind_of_core(&search);
			continue;
		}
		for (size_t j = 0; j < pmu->alias_count; j++)
			try_name(&search, pmu->aliases[j].name);
		try_table(&search);
		/* rHEX is shorter, where it means only one PMU */
		if (!search.best && (attr->type != PERF_TYPE_RAW || pmu->hybrid))
			try_numbers(&search);
	}
	return search.best;
}
