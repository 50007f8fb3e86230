/* A vendor table: its events by name. */
#include "vendor/vendor_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "vendor/table_inner.h"

#define MOST_EVENTS 1000000 /* the largest known table has 8,000 */

static uint64_t hash_name(const char *name, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a over lower case */

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)name[i];

		if (byte >= 'A' && byte <= 'Z')
			byte |= 32;
		hash = (hash ^ byte) * 0x100000001b3;
	}
	return hash ^ hash >> 32;
}

static const char *key_of(const struct tally_table_event *event, bool metric)
{
	return metric ? event->metric : event->name;
}

static bool has_name(const struct tally_table_event *event, bool metric, const char *name,
		     size_t length)
{
	const char *key = key_of(event, metric);

	return !strncasecmp(key, name, length) && !key[length];
}

/* The slot of the name, or the free slot for it. The index has free slots. */
static struct table_slot *slot_of(const struct table_index *index, bool metric, const char *name,
				  size_t length)
{
	size_t at = hash_name(name, length) & (index->room - 1);

	while (index->slots[at].first && !has_name(index->slots[at].first, metric, name, length))
		at = (at + 1) & (index->room - 1);
	return &index->slots[at];
}

static int index_grow(struct table_index *index, bool metric)
{
	struct table_index wider = {.room = index->room ? index->room * 2 : 1024,
				    .count = index->count};

	wider.slots = table_new(wider.room, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->room; i++) {
		const char *key;

		if (!index->slots[i].first)
			continue;
		key = key_of(index->slots[i].first, metric);
		*slot_of(&wider, metric, key, strlen(key)) = index->slots[i];
	}
	free(index->slots);
	*index = wider;
	return 0;
}

/* Events of one name are a list behind the first; of metrics the first is used. */
static int index_add(struct table_index *index, bool metric, struct tally_table_event *event)
{
	const char *key = key_of(event, metric);
	struct table_slot *slot;

	if (index->count * 2 >= index->room && index_grow(index, metric))
		return -ENOMEM;
	slot = slot_of(index, metric, key, strlen(key));
	if (!slot->first) {
		*slot = (struct table_slot){event, event};
		index->count++;
	} else if (!metric) {
		slot->last->same_name = event;
		slot->last = event;
	}
	return 0;
}

static int make_room(struct tally_table *table)
{
	size_t room = table->room ? table->room * 2 : 1024;
	struct tally_table_event **events;

	if (table->count < table->room)
		return 0;
	if (table->count >= MOST_EVENTS)
		return -E2BIG;
	events = realloc(table->events, room * sizeof(*events));
	if (!events)
		return -ENOMEM;
	table->events = events;
	table->room = room;
	return 0;
}

int tally_table_add(struct tally_table *table, const struct tally_table_event *event)
{
	struct tally_table_event *copy;
	int result = make_room(table);

	if (result)
		return result;
	copy = tally_arena_alloc(&table->arena, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *event;
	if (copy->name && index_add(&table->names, false, copy))
		return -ENOMEM;
	if (copy->metric && index_add(&table->metrics, true, copy))
		return -ENOMEM;
	table->events[table->count++] = copy;
	return 0;
}

void tally_table_done(struct tally_table *table)
{
	tally_table_close(table->standard); /* last: the table may use its text */
	tally_arena_done(&table->arena);
	free(table->events);
	free(table->names.slots);
	free(table->metrics.slots);
}

void tally_table_close(struct tally_table *table)
{
	if (!table)
		return;
	tally_table_done(table);
	free(table);
}

static const struct tally_table_event *find(const struct table_index *index, bool metric,
					    const char *name, size_t length)
{
	return index->room ? slot_of(index, metric, name, length)->first : NULL;
}

const struct tally_table_event *tally_table_find(const struct tally_table *table, const char *name,
						 size_t length)
{
	return find(&table->names, false, name, length);
}

const struct tally_table_event *tally_table_metric(const struct tally_table *table,
						   const char *name, size_t length)
{
	return find(&table->metrics, true, name, length);
}

const struct tally_table_event *tally_table_find_of(const struct tally_table *table,
						    const char *pmu, const char *name,
						    size_t length)
{
	const struct tally_table_event *event = tally_table_find(table, name, length);

	while (event && pmu && !tally_table_event_fits(event, pmu))
		event = event->same_name;
	return event;
}

/* Whether the rest of a PMU's name is only a number: "", "_3", "3", "_3_1". */
static bool is_only_number(const char *rest)
{
	for (; *rest; rest++)
		if (*rest != '_' && (*rest < '0' || *rest > '9'))
			return false;
	return true;
}

bool tally_table_event_fits(const struct tally_table_event *event, const char *pmu)
{
	const char *part = event->pmu;

	if (!part)
		return !strcmp(pmu, "cpu");
	if (!strcmp(part, pmu))
		return true;
	for (bool first = true;; first = false) {
		size_t length = strcspn(part, ",");
		const char *found = memmem(pmu, strlen(pmu), part, length);

		if (!found || !length || (first && found != pmu))
			return false;
		pmu = found + length;
		if (!part[length])
			return is_only_number(pmu);
		part += length + 1;
	}
}

const struct tally_table_event *tally_table_at(const struct tally_table *table, size_t at)
{
	return at < table->count ? table->events[at] : NULL;
}

const char *tally_table_folder(const struct tally_table *table)
{
	return table->folder;
}

const char *tally_table_cpuid(const struct tally_table *table)
{
	return table->cpuid;
}

size_t tally_table_refused(const struct tally_table *table)
{
	return table->refused;
}

static int find_cpuid(struct tally_table *table, const struct tally_table_options *options)
{
	const char *cpuid = options->cpuid ? options->cpuid : getenv("PERF_CPUID");
	char here[256];

	if (!cpuid) {
		int result = tally_table_cpuid_here(options->sysfs, here, sizeof(here));

		if (result)
			return result;
		cpuid = here;
	}
	table->cpuid = tally_arena_strndup(&table->arena, cpuid, strlen(cpuid));
	return table->cpuid ? 0 : -ENOMEM;
}

/* The first folder of the path that has tables for this CPU. */
static int load_path(struct tally_table *table, const char *path, struct tally_error *error)
{
	const char *at = path;

	while (*at) {
		size_t length = strcspn(at, ":");
		char folder[PATH_MAX];
		int result;

		if (length && length < sizeof(folder)) {
			memcpy(folder, at, length);
			folder[length] = '\0';
			result = tally_table_load_folder(table, folder, error);
			if (result != -ENOENT)
				return result;
		}
		at += length + (at[length] == ':');
	}
	return tally_fail(error, -ENOENT, -1,
			  "no event tables for %s in %s: `tally list --get-tables` prints "
			  "the commands that fetch them",
			  table->cpuid, *path ? path : "an empty path");
}

static int open_table(struct tally_table *table, const struct tally_table_options *options,
		      struct tally_error *error)
{
	char path[PATH_MAX];
	int result = find_cpuid(table, options);

	if (result)
		return tally_fail(error, result, -1, "the CPU of this machine is unknown");
	if (options->folders)
		return load_path(table, options->folders, error);
	result = tally_table_path(path, sizeof(path));
	if (result)
		return tally_fail(error, result, -1, "the path of event tables is too long");
	return load_path(table, path, error);
}

int tally_table_open(const struct tally_table_options *options, struct tally_table **ret,
		     struct tally_error *error)
{
	struct tally_table_options known = {.size = sizeof(known)};
	struct tally_table *table;
	int result = tally_options_take(&known, sizeof(known), options);

	if (result)
		return tally_fail(error, result, -1, "unknown options");
	table = calloc(1, sizeof(*table));
	if (!table)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	result = open_table(table, &known, error);
	if (result) {
		tally_table_close(table);
		return result;
	}
	*ret = table;
	return 0;
}
