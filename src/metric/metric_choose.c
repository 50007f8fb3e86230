/* Metrics by name and by group.
 *
 * The rules are perf's (metricgroup.c of Linux 6.1), in any case: a whole name, or a whole one of
 * the groups between semicolons; "all" is all, "No_group" those in no group. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/table.h"
#include "metric/metric_inner.h"

struct wanted {
	const char *name; /* not NUL-terminated */
	size_t length;
	const char *modifiers; /* "" */
};

static bool is_wanted(const struct wanted *wanted, const char *text, size_t length)
{
	return length == wanted->length && !strncasecmp(text, wanted->name, length);
}

/* Whether it is an entry of a list with semicolons. */
static bool is_among(const struct wanted *wanted, const char *groups)
{
	while (groups && *groups) {
		size_t length;

		groups += strspn(groups, "; ");
		length = strcspn(groups, ";");
		if (length && is_wanted(wanted, groups, length))
			return true;
		groups += length;
	}
	return false;
}

static bool group_is_wanted(const struct wanted *wanted, const char *groups)
{
	if (is_wanted(wanted, "all", 3))
		return true;
	if (!groups || !*groups)
		return is_wanted(wanted, "No_group", 8);
	return is_among(wanted, groups);
}

/* --- a system's own PMUs: only where one of them is the model --- */

static bool is_one_of(const char *globs, const char *identifier)
{
	while (*globs) {
		size_t length = strcspn(globs, ",;");
		char glob[128];

		if (length < sizeof(glob)) {
			memcpy(glob, globs, length);
			glob[length] = '\0';
			if (!fnmatch(glob, identifier, 0))
				return true;
		}
		globs += length + (globs[length] != '\0');
	}
	return false;
}

static bool on_this_machine(const struct tally_metrics *set, const char *compat)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", set->machine.sysfs);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder))) {
		char *text;
		size_t size;

		if (tally_fs_readf(4096, &text, &size, "%s/bus/event_source/devices/%s/identifier",
				   set->machine.sysfs, entry->d_name))
			continue;
		text[strcspn(text, "\n")] = '\0';
		found = is_one_of(compat, text);
		free(text);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* --- adding --- */

static bool is_there(const struct tally_metrics *set, const struct tally_table_event *entry,
		     const char *modifiers)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->metrics[i].entry == entry && !strcmp(set->metrics[i].modifiers, modifiers))
			return true;
	return false;
}

static char *keep_name(struct tally_metrics *set, const char *name, const char *modifiers)
{
	size_t room = strlen(name) + strlen(modifiers) + 2;
	char *text = tally_arena_alloc(&set->arena, room);

	if (text)
		snprintf(text, room, "%s%s%s", name, *modifiers ? ":" : "", modifiers);
	return text;
}

static int add(struct tally_metrics *set, const struct tally_table_event *entry,
	       const struct wanted *wanted, bool by_name)
{
	struct metric *metric;

	if (is_there(set, entry, wanted->modifiers))
		return 0;
	if (!array_next(&set->metrics, &set->room, set->count, 16, sizeof(*set->metrics)))
		return -ENOMEM;
	metric = &set->metrics[set->count];
	*metric = (struct metric){
	    .info = {.name = keep_name(set, entry->metric, wanted->modifiers),
		     .pmu = entry->pmu,
		     .brief = entry->brief,
		     .groups = entry->groups,
		     .expression = entry->expression,
		     .threshold = entry->threshold,
		     .unit = entry->unit,
		     .scale = entry->scale},
	    .entry = entry,
	    .modifiers = wanted->modifiers,
	    .by_name = by_name,
	    .alone = is_among(wanted, entry->alone_in),
	};
	if (!metric->info.name)
		return -ENOMEM;
	set->count++;
	return 0;
}

static int add_wanted(struct tally_metrics *set, const struct wanted *wanted, bool *ret_found)
{
	const struct tally_table_event *entry;
	int result = 0;

	for (size_t i = 0; !result && (entry = tally_table_at(set->table, i)); i++) {
		bool by_name;

		if (!entry->metric || !entry->expression)
			continue;
		by_name = is_wanted(wanted, entry->metric, strlen(entry->metric));
		if (!by_name && !group_is_wanted(wanted, entry->groups))
			continue;
		if (entry->compat && !on_this_machine(set, entry->compat))
			continue;
		*ret_found = true;
		result = add(set, entry, wanted, by_name);
	}
	return result;
}

/* --- suggestions --- */

/* All names and groups; fewer when memory ends. */
static void list_names(const struct tally_metrics *set, struct tally_strings *names)
{
	const struct tally_table_event *entry;

	for (size_t i = 0; (entry = tally_table_at(set->table, i)); i++) {
		const char *groups = entry->metric && entry->groups ? entry->groups : "";

		if (entry->metric)
			tally_strings_intern(names, entry->metric, strlen(entry->metric));
		while (*groups) {
			size_t length;

			groups += strspn(groups, "; ");
			length = strcspn(groups, ";");
			if (length)
				tally_strings_intern(names, groups, length);
			groups += length;
		}
	}
}

static int fail_unknown(const struct tally_metrics *set, const struct wanted *wanted, size_t column,
			struct tally_error *error)
{
	struct tally_strings names = {0};
	int shown = wanted->length > 80 ? 80 : (int)wanted->length;
	char *name = strndup(wanted->name, wanted->length);
	const char *similar = NULL;
	int result;

	list_names(set, &names);
	if (name && names.count)
		similar = tally_text_nearest(name, names.text, names.count);
	if (!names.count)
		result = tally_fail(error, -ENOENT, (int64_t)column,
				    "unknown metric %.*s: the tables for %s have no metrics", shown,
				    wanted->name, tally_table_cpuid(set->table));
	else if (similar)
		result = tally_fail(error, -ENOENT, (int64_t)column,
				    "unknown metric or group %.*s; did you mean %s?", shown,
				    wanted->name, similar);
	else
		result = tally_fail(error, -ENOENT, (int64_t)column,
				    "unknown metric or group %.*s of %s", shown, wanted->name,
				    tally_table_cpuid(set->table));
	tally_strings_done(&names);
	free(name);
	return result;
}

/* Takes "NAME:MODIFIERS" from the list; false: a part of it is empty or not a modifier. */
static int split_modifiers(struct tally_metrics *set, const char *text, size_t length,
			   size_t column, struct wanted *ret, struct tally_error *error)
{
	const char *colon = memchr(text, ':', length);
	size_t name = colon ? (size_t)(colon - text) : length;
	char *modifiers = NULL;

	if (colon) {
		struct event_word word = {.text = colon + 1, .length = length - name - 1};

		if (!word.length || !tally_modifier_looks_like(&word))
			return tally_fail(error, -EINVAL, (int64_t)(column + name + 1),
					  "expected modifiers of events, such as u or k");
		modifiers = tally_arena_strndup(&set->arena, word.text, word.length);
		if (!modifiers)
			return tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	if (!name)
		return tally_fail(error, -EINVAL, (int64_t)column,
				  "expected a metric's name or group");
	*ret =
	    (struct wanted){.name = text, .length = name, .modifiers = modifiers ? modifiers : ""};
	return 0;
}

int tally_metrics_choose(struct tally_metrics *set, const char *names, struct tally_error *error)
{
	const char *at = names;
	int result = 0;

	while (!result) {
		size_t length = strcspn(at, ","), end = length, blanks = 0;
		struct wanted wanted = {0};
		bool found = false;

		while (blanks < end && isspace((unsigned char)at[blanks]))
			blanks++;
		while (end > blanks && isspace((unsigned char)at[end - 1]))
			end--;
		result = split_modifiers(set, at + blanks, end - blanks,
					 (size_t)(at - names) + blanks, &wanted, error);
		if (!result && add_wanted(set, &wanted, &found))
			result = tally_fail(error, -ENOMEM, -1, "out of memory");
		if (!result && !found)
			result = fail_unknown(set, &wanted, (size_t)(at - names) + blanks, error);
		at += length;
		if (!*at)
			break;
		at++;
	}
	return result;
}

static bool fits_core(const struct tally_table_event *entry, const char *pmu)
{
	return entry->expression && (!pmu || !entry->pmu || !strcmp(entry->pmu, pmu));
}

const struct tally_table_event *tally_metrics_find(const struct tally_metrics *set, const char *pmu,
						   const char *id)
{
	const struct tally_table_event *entry = tally_table_metric(set->table, id, strlen(id));

	if (!entry || fits_core(entry, pmu))
		return entry;
	for (size_t i = 0; (entry = tally_table_at(set->table, i));
	     i++) /* of another kind of core */
		if (entry->metric && !strcasecmp(entry->metric, id) && fits_core(entry, pmu))
			return entry;
	return NULL;
}
