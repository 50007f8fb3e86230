/* All events that have a name, in one sorted list. */
#include <tally/catalog.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/event_names.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/option_struct.h"
#include "metric/catalog_inner.h"
#include "event/family.h"

int tally_catalog_add(struct tally_catalog *catalog, const struct tally_catalog_entry *entry)
{
	if (catalog->count == catalog->room) {
		size_t room = catalog->room ? catalog->room * 2 : 512;
		struct tally_catalog_entry *entries =
		    reallocarray(catalog->entries, room, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		catalog->entries = entries;
		catalog->room = room;
	}
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

static bool known_config(const struct tally_catalog *catalog, uint32_t type, uint64_t config,
			 struct tally_catalog_entry **ret)
{
	const char *canonical = tally_abi_event_name(type, config);

	for (size_t i = catalog->count; i-- > 0;)
		if (canonical && !strcmp(catalog->entries[i].name, canonical)) {
			*ret = &catalog->entries[i];
			return true;
		}
	return false;
}

/* Names with the same config are one entry. */
static int add_generic(struct tally_catalog *catalog, unsigned kinds)
{
	const char *names[64];
	size_t count = tally_generic_names(names, 64);
	int result = 0;

	for (size_t i = 0; i < count && !result; i++) {
		struct event_word word = {.text = names[i], .length = strlen(names[i])};
		struct tally_catalog_entry entry = {.name = names[i], .scale = 1}, *first;
		struct tally_attr attr;

		if (!tally_generic_find(&word, &attr))
			continue;
		entry.kind = attr.type == PERF_TYPE_HARDWARE ? TALLY_CATALOG_HARDWARE
							     : TALLY_CATALOG_SOFTWARE;
		entry.supported = attr.type == PERF_TYPE_SOFTWARE || catalog->core;
		if (!(kinds & 1u << entry.kind))
			continue;
		if (known_config(catalog, attr.type, attr.config, &first))
			first->also = names[i];
		else
			result = tally_catalog_add(catalog, &entry);
	}
	return result;
}

static int add_cache(struct tally_catalog *catalog)
{
	int result = 0;

	for (uint64_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (uint64_t rest = 0; rest < 6 && !result; rest++) {
			struct tally_catalog_entry entry = {
			    .kind = TALLY_CATALOG_CACHE, .supported = catalog->core, .scale = 1};
			char name[64];
			struct event_word word = {.text = name};
			struct tally_attr attr;
			int length = tally_cache_format(cache | rest / 2 << 8 | rest % 2 << 16,
							name, sizeof(name));

			if (length <= 0)
				continue;
			word.length = (size_t)length;
			if (tally_cache_find(&word, &attr) != CACHE_YES)
				continue;
			entry.name = tally_catalog_keep(catalog, "%s", name);
			result = entry.name ? tally_catalog_add(catalog, &entry) : -ENOMEM;
		}
	return result;
}

/* Source of the names and forms: perf-list(1). */
static int add_fixed(struct tally_catalog *catalog, unsigned kinds)
{
	static const struct tally_catalog_entry fixed[] = {
	    {TALLY_CATALOG_TOOL, .name = "duration_time", .brief = "time that passed, in ns"},
	    {TALLY_CATALOG_TOOL, .name = "user_time", .brief = "time in user space, in ns"},
	    {TALLY_CATALOG_TOOL, .name = "system_time", .brief = "time in the kernel, in ns"},
	    {TALLY_CATALOG_RAW, .name = "rNNN",
	     .brief = "the CPU's own event with this config, in hexadecimal"},
	    {TALLY_CATALOG_RAW, .name = "TYPE:CONFIG",
	     .brief = "an event of a PMU by its numbers, decimal or 0x"},
	    {TALLY_CATALOG_RAW, .name = "PMU/TERM=VALUE,.../MODIFIERS",
	     .brief = "an event of a PMU by the fields of its format/ in sysfs"},
	    {TALLY_CATALOG_RAW, .name = "mem:ADDRESS[/LENGTH][:rwx]",
	     .brief = "a hardware breakpoint: reading, writing or executing an address"},
	    {TALLY_CATALOG_RAW, .name = "kprobe:FUNCTION[+OFFSET]",
	     .brief = "a place in the kernel's code; kretprobe: a function's return"},
	    {TALLY_CATALOG_RAW, .name = "uprobe:PROGRAM:FUNCTION[+OFFSET]",
	     .brief = "a place in a program's code; uretprobe: a function's return"},
	    {TALLY_CATALOG_RAW, .name = "usdt:PROGRAM:PROVIDER:NAME",
	     .brief = "a marker for tracing in a program; `tally list sdt` shows them"},
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]) && !result; i++) {
		struct tally_catalog_entry entry = fixed[i];

		entry.scale = 1;
		entry.supported = strcmp(entry.name, "rNNN") != 0 || catalog->core;
		if (kinds & 1u << entry.kind)
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
		result = add_generic(catalog, kinds);
	if (!result && kinds & 1u << TALLY_CATALOG_CACHE)
		result = add_cache(catalog);
	if (!result)
		result = add_fixed(catalog, kinds);
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
	static const char *const names[TALLY_CATALOG_KINDS] = {
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
