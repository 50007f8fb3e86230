/* All events that have a name, in one sorted list. */
#include <tally/catalog.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "metric/catalog_inner.h"
#include "event/family.h"

int tally_catalog_add(struct tally_catalog *catalog, const struct tally_catalog_entry *entry)
{
	if (!array_next(&catalog->entries, &catalog->room, catalog->count, 512,
			sizeof(*catalog->entries)))
		return -ENOMEM;
	catalog->entries[catalog->count++] = *entry;
	return 0;
}

static char *keep_list(struct tally_catalog *catalog, const char *format, va_list list)
{
	char text[1024];
	int length = vsnprintf(text, sizeof(text), format, list);

	if (length < 0)
		return NULL;
	if ((size_t)length >= sizeof(text)) /* no event has such a name */
		length = sizeof(text) - 1;
	return tally_arena_strndup(&catalog->arena, text, (size_t)length);
}

char *tally_catalog_keep(struct tally_catalog *catalog, const char *format, ...)
{
	va_list list;
	char *kept;

	va_start(list, format);
	kept = keep_list(catalog, format, list);
	va_end(list);
	return kept;
}

void tally_catalog_note_add(struct tally_catalog *catalog, const char *format, ...)
{
	va_list list;
	char *kept;

	if (catalog->note_count == sizeof(catalog->notes) / sizeof(catalog->notes[0]))
		return;
	va_start(list, format);
	kept = keep_list(catalog, format, list);
	va_end(list);
	if (kept)
		catalog->notes[catalog->note_count++] = kept;
}

static enum tally_catalog_kind kind_of(uint32_t type)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		return TALLY_CATALOG_HARDWARE;
	case PERF_TYPE_SOFTWARE:
		return TALLY_CATALOG_SOFTWARE;
	case PERF_TYPE_HW_CACHE:
		return TALLY_CATALOG_CACHE;
	default:
		return TALLY_CATALOG_PMU;
	}
}

/* The entry from `first` on that has this name. */
static struct tally_catalog_entry *entry_named(const struct tally_catalog *catalog, size_t first,
					       const char *name)
{
	for (size_t i = first; i < catalog->count; i++)
		if (!strcmp(catalog->entries[i].name, name))
			return &catalog->entries[i];
	return NULL;
}

/* A name that means the same as an earlier one, from entry `first` on, is its alias. */
static int add_name(struct tally_catalog *catalog, const struct event_family *family,
		    const char *name, size_t first, unsigned kinds)
{
	struct event_word word = {.text = name, .length = strlen(name)};
	struct tally_event_options options = {.size = sizeof(options), .sysfs = catalog->sysfs};
	struct tally_catalog_entry entry = {.scale = 1}, *same = NULL;
	char canonical[EVENT_NAME_ROOM];
	struct tally_attr attr;

	if (family->find(&word, &attr, NULL) != 1)
		return 0;
	entry.kind = kind_of(attr.type);
	if (!(kinds & 1u << entry.kind))
		return 0;
	entry.supported = catalog->core || (entry.kind != TALLY_CATALOG_HARDWARE &&
					    entry.kind != TALLY_CATALOG_CACHE);
	entry.name = tally_catalog_keep(catalog, "%s", name);
	if (!entry.name)
		return -ENOMEM;
	if (family->format && family->format(&attr, &options, canonical, sizeof(canonical)) >= 0)
		same = entry_named(catalog, first, canonical);
	if (same)
		same->also = entry.name;
	return same ? 0 : tally_catalog_add(catalog, &entry);
}

/* The names and the forms of names of all families. */
static int add_families(struct tally_catalog *catalog, unsigned kinds)
{
	static const struct event_family *const families[] = {EVENT_FAMILIES(EVENT_FAMILY_AT)};
	const struct event_form *form;
	char name[EVENT_NAME_ROOM];
	int result = 0;

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		size_t first = catalog->count;

		for (size_t k = 0; !result && families[i]->name && families[i]->name(k, name); k++)
			result = add_name(catalog, families[i], name, first, kinds);
		if (!(kinds & 1u << TALLY_CATALOG_RAW))
			continue;
		for (form = families[i]->forms; !result && form && form->text; form++) {
			struct tally_catalog_entry entry = {
			    .kind = TALLY_CATALOG_RAW,
			    .supported = catalog->core || !form->of_core,
			    .name = form->text,
			    .brief = form->help,
			    .scale = 1,
			};

			result = tally_catalog_add(catalog, &entry);
		}
	}
	return result;
}

/* Source of the names: perf-list(1). */
static int add_tools(struct tally_catalog *catalog)
{
	static const struct {
		const char *name, *help;
	} tools[] = {
	    {"duration_time", "time that passed, in ns"},
	    {"user_time", "time in user space, in ns"},
	    {"system_time", "time in the kernel, in ns"},
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools) && !result; i++) {
		struct tally_catalog_entry entry = {
		    .kind = TALLY_CATALOG_TOOL,
		    .supported = true,
		    .name = tools[i].name,
		    .brief = tools[i].help,
		    .scale = 1,
		};

		result = tally_catalog_add(catalog, &entry);
	}
	return result;
}

static bool is_model(const struct tally_catalog *catalog, const char *pmu, const char *compat)
{
	char *text = NULL;
	size_t size;
	bool yes;

	if (compat &&
	    !tally_fs_readf(4096, &text, &size, "%s/bus/event_source/devices/%s/identifier",
			    catalog->sysfs, pmu))
		text[strcspn(text, "\n")] = 0;
	yes = tally_table_is_model(compat, text);
	free(text);
	return yes;
}

static bool on_this_machine(const struct tally_catalog *catalog,
			    const struct tally_table_event *event)
{
	if (catalog->other_cpu)
		return false;
	if (!event->pmu)
		return catalog->core;
	for (size_t i = 0; i < catalog->pmu_count; i++)
		if (tally_table_event_fits(event, catalog->pmus[i]) &&
		    is_model(catalog, catalog->pmus[i], event->compat))
			return true;
	return false;
}

static int add_table(struct tally_catalog *catalog, unsigned kinds)
{
	const struct tally_table_event *event;
	int result = 0;

	for (size_t i = 0; !result && (event = tally_table_at(catalog->table, i)); i++) {
		struct tally_catalog_entry entry = {
		    .kind = TALLY_CATALOG_VENDOR,
		    .supported = on_this_machine(catalog, event),
		    .deprecated = event->deprecated,
		    .per_package = event->per_package,
		    .name = event->name,
		    .pmu = event->pmu,
		    .topic = event->topic,
		    .brief = event->brief,
		    .details = event->details,
		    .terms = event->terms,
		    .unit = event->unit,
		    .scale = event->scale,
		};

		if (event->name && kinds & 1u << TALLY_CATALOG_VENDOR)
			result = tally_catalog_add(catalog, &entry);
		if (result || !event->metric || !(kinds & 1u << TALLY_CATALOG_METRIC))
			continue;
		entry.kind = TALLY_CATALOG_METRIC;
		entry.name = event->metric;
		entry.terms = NULL;
		entry.groups = event->groups;
		entry.expression = event->expression;
		result = tally_catalog_add(catalog, &entry);
	}
	return result;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int in_order(const void *a, const void *b)
{
	const struct tally_catalog_entry *left = a, *right = b;
	int order = (left->kind > right->kind) - (left->kind < right->kind);

	if (!order)
		order = compare_text(left->topic, right->topic);
	if (!order)
		order = compare_text(left->pmu, right->pmu);
	if (!order && left->kind != TALLY_CATALOG_RAW && left->kind != TALLY_CATALOG_TOOL)
		order = strcmp(left->name, right->name);
	return order; /* the order of the others is kept, as glibc's qsort() is a merge sort */
}

/* Tables that were not asked for may be missing. */
static int open_table(struct tally_catalog *catalog, const struct tally_catalog_options *options,
		      struct tally_error *error)
{
	struct tally_table_options asked = {
	    .size = sizeof(asked),
	    .folders = options->events,
	    .cpuid = options->cpuid,
	    .sysfs = options->sysfs,
	};
	struct tally_error own = {.text = "out of memory", .position = -1};
	char here[256];
	int result = tally_table_open(&asked, &catalog->table, &own);

	/* Without the machine's sysfs only its CPU is known: it is another one. */
	catalog->other_cpu = options->cpuid && !options->sysfs &&
			     (tally_table_cpuid_here(NULL, here, sizeof(here)) ||
			      strncmp(options->cpuid, here, strlen(options->cpuid)));
	if (!result || result == -ENOMEM)
		return result;
	if (options->events || options->cpuid)
		return tally_fail(error, result, own.position, "%s", own.text);
	tally_catalog_note_add(catalog, "the CPU's own events are not listed: %s", own.text);
	return 0;
}

static int collect(struct tally_catalog *catalog, const struct tally_catalog_options *options,
		   struct tally_error *error)
{
	unsigned kinds = options->kinds ? options->kinds : ~0u;
	int result;

	catalog->sysfs = options->sysfs ? options->sysfs : "/sys";
	result = tally_catalog_read_pmus(catalog, catalog->sysfs, kinds & 1u << TALLY_CATALOG_PMU);

	if (!result)
		result = add_families(catalog, kinds);
	if (!result && kinds & 1u << TALLY_CATALOG_TOOL)
		result = add_tools(catalog);
	if (!result && kinds & 1u << TALLY_CATALOG_TRACEPOINT)
		result = tally_catalog_read_tracepoints(catalog, options->tracefs);
	if (!result && kinds & (1u << TALLY_CATALOG_VENDOR | 1u << TALLY_CATALOG_METRIC)) {
		result = open_table(catalog, options, error);
		if (!result && catalog->table)
			result = add_table(catalog, kinds);
	}
	if (catalog->count)
		qsort(catalog->entries, catalog->count, sizeof(*catalog->entries), in_order);
	return result;
}

int tally_catalog_open(const struct tally_catalog_options *options, struct tally_catalog **ret,
		       struct tally_error *error)
{
	struct tally_catalog_options known = {.size = sizeof(known)};
	struct tally_catalog *catalog;
	int result = tally_options_take(&known, sizeof(known), options);

	if (result)
		return tally_fail(error, result, -1, "unknown options");
	catalog = calloc(1, sizeof(*catalog));
	if (error)
		error->code = 0;
	result = catalog ? collect(catalog, &known, error) : -ENOMEM;
	if (result) {
		tally_catalog_close(catalog);
		return error && error->code
			   ? result
			   : tally_fail(error, result, -1, "%s", strerror(-result));
	}
	*ret = catalog;
	return 0;
}

void tally_catalog_close(struct tally_catalog *catalog)
{
	if (!catalog)
		return;
	tally_table_close(catalog->table);
	tally_arena_done(&catalog->arena);
	free(catalog->entries);
	free(catalog->pmus);
	free(catalog);
}

const struct tally_catalog_entry *tally_catalog_at(const struct tally_catalog *catalog, size_t at)
{
	return at < catalog->count ? &catalog->entries[at] : NULL;
}

const char *tally_catalog_note(const struct tally_catalog *catalog, size_t at)
{
	return at < catalog->note_count ? catalog->notes[at] : NULL;
}

const char *tally_catalog_kind_name(enum tally_catalog_kind kind)
{
	static const char names[TALLY_CATALOG_KINDS][24] = {
	    [TALLY_CATALOG_HARDWARE] = "Hardware event",
	    [TALLY_CATALOG_SOFTWARE] = "Software event",
	    [TALLY_CATALOG_CACHE] = "Hardware cache event",
	    [TALLY_CATALOG_TOOL] = "Tool event",
	    [TALLY_CATALOG_PMU] = "Kernel PMU event",
	    [TALLY_CATALOG_VENDOR] = "Vendor event",
	    [TALLY_CATALOG_METRIC] = "Metric",
	    [TALLY_CATALOG_RAW] = "Form of name",
	    [TALLY_CATALOG_TRACEPOINT] = "Tracepoint event",
	    [TALLY_CATALOG_MARKER] = "SDT marker",
	};

	return kind < TALLY_CATALOG_KINDS ? names[kind] : NULL;
}
