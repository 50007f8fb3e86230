/* Tracepoints: "system:name", their ids read from tracefs; both sides may be globs.
 *
 * attr.config is the number in events/SYSTEM/NAME/id; source: perf_event_open(2),
 * PERF_TYPE_TRACEPOINT. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/table.h"
#include "base/text.h"
#include "event/family.h"

#define NAME_MOST 255

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}

/* A folder's names, sorted. */
struct names {
	char **names;
	size_t count, room;
	struct tally_arena arena;
};

static void names_done(struct names *names)
{
	free(names->names);
	tally_arena_done(&names->arena);
}

static int names_add(struct names *names, const char *name)
{
	if (!array_next(&names->names, &names->room, names->count, 64, sizeof(*names->names)))
		return -ENOMEM;
	names->names[names->count] = tally_arena_strndup(&names->arena, name, strlen(name));
	return names->names[names->count++] ? 0 : -ENOMEM;
}

static int in_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in `path` that `pattern` matches; NULL: all. */
static int names_read(struct names *names, const char *path, const char *pattern)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int result = 0;

	if (!folder)
		return -errno;
	while (!result && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (!pattern || !fnmatch(pattern, entry->d_name, 0))
			result = names_add(names, entry->d_name);
	}
	closedir(folder);
	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), in_order);
	return result;
}

int tally_tracefs_find(const struct tally_event_options *options, char *to, size_t room)
{
	static const char *const usual[] = {"kernel/tracing", "kernel/debug/tracing"};
	const char *sysfs = options && options->sysfs ? options->sysfs : "/sys";
	char closed[PATH_MAX];
	int result = -ENOENT;

	for (size_t i = 0; i < 2; i++) {
		char events[PATH_MAX];
		int length;

		if (options && options->tracefs)
			length = snprintf(to, room, "%s", options->tracefs);
		else
			length = snprintf(to, room, "%s/%s", sysfs, usual[i]);
		if (length < 0 || (size_t)length >= room ||
		    snprintf(events, sizeof(events), "%s/events", to) >= (int)sizeof(events))
			return -ENAMETOOLONG;
		/* with capabilities of the file (setcap), which access(2) ignores */
		if (!faccessat(AT_FDCWD, events, R_OK | X_OK, AT_EACCESS))
			return 0;
		if ((errno == EACCES || errno == EPERM) && result == -ENOENT) {
			snprintf(closed, sizeof(closed), "%s", to);
			result = -EACCES;
		}
	}
	if (result == -EACCES)
		snprintf(to, room, "%s", closed);
	return result;
}

static int fail_tracefs(int result, const struct event_word *word, const char *tracefs,
			struct tally_error *error)
{
	int64_t at = (int64_t)word->position;

	if (result == -EACCES)
		return tally_fail(error, -EACCES, at,
				  "tracepoints are listed in %s, which only root may read, even "
				  "with CAP_PERFMON: open it to your group with `sudo mount -o "
				  "remount,mode=750,gid=$(id -g) /sys/kernel/tracing`, or use sudo",
				  tracefs);
	return tally_fail(error, -EACCES, at,
			  "tracepoints are listed in tracefs, which is not mounted: `sudo mount -t "
			  "tracefs nodev /sys/kernel/tracing`");
}

/* Copies a word that names a file; false when no file of tracefs can have that name. */
static bool copy_name(const struct event_word *word, char to[NAME_MOST + 1])
{
	if (!word->length || word->length > NAME_MOST || word->text[0] == '.' ||
	    memchr(word->text, '/', word->length) || memchr(word->text, 0, word->length))
		return false;
	memcpy(to, word->text, word->length);
	to[word->length] = 0;
	return true;
}

static int read_id(const char *tracefs, const char *system, const char *name, int64_t *ret)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs, system, name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	return tally_fs_read_number(path, ret);
}

static int add_one(const char *tracefs, const char *system, const char *name,
		   struct event_items *items)
{
	struct tally_attr attr = {.type = PERF_TYPE_TRACEPOINT, .exclude_guest = 1};
	char full[2 * NAME_MOST + 4];
	int64_t id;
	int length, result = read_id(tracefs, system, name, &id);

	if (result)
		return result;
	if (id < 0)
		return -ENOENT;
	attr.config = (uint64_t)id;
	length = snprintf(full, sizeof(full), "%s:%s", system, name);
	result = tally_items_add(items, &attr, full, (size_t)length);
	if (!result)
		items->items[items->count - 1].event.origin = TALLY_ORIGIN_TRACEFS;
	return result;
}

/* All events of one system that the pattern matches; returns how many, or -errno. */
static int add_matching(const char *tracefs, const char *system, const char *pattern,
			struct event_items *items)
{
	struct names names = {0};
	char path[PATH_MAX];
	int count = 0, result;

	if (!is_glob(pattern)) {
		result = add_one(tracefs, system, pattern, items);
		return result ? result : 1;
	}
	if (snprintf(path, sizeof(path), "%s/events/%s", tracefs, system) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	result = names_read(&names, path, pattern);
	for (size_t i = 0; i < names.count && !result; i++) {
		result = add_one(tracefs, system, names.names[i], items);
		count += !result;
		if (result == -ENOENT) /* a folder that is not an event */
			result = 0;
	}
	names_done(&names);
	return result ? result : count;
}

/* Which half of the name is unknown, and a similar name. */
static int fail_absent(const char *tracefs, const char *system, const char *name,
		       const struct event_word *system_word, const struct event_word *name_word,
		       struct tally_error *error)
{
	struct names systems = {0}, events = {0};
	const char *similar = NULL;
	char path[PATH_MAX];

	if (is_glob(system) || is_glob(name))
		return tally_fail(error, -ENOENT, (int64_t)system_word->position,
				  "no tracepoint matches %s:%s; `ls %s/events` shows the systems",
				  system, name, tracefs);
	if (snprintf(path, sizeof(path), "%s/events", tracefs) < (int)sizeof(path))
		(void)names_read(&systems, path, NULL);
	if (snprintf(path, sizeof(path), "%s/events/%s", tracefs, system) < (int)sizeof(path))
		(void)names_read(&events, path, NULL);
	if (!events.count) {
		similar =
		    tally_text_nearest(system, (const char *const *)systems.names, systems.count);
		tally_fail(error, -ENOENT, (int64_t)system_word->position,
			   "unknown event or system of tracepoints %s%s%s%s; `ls %s/events` shows "
			   "the systems",
			   system, similar ? " (did you mean " : "", similar ? similar : "",
			   similar ? ":...?)" : "", tracefs);
	} else {
		similar = tally_text_nearest(name, (const char *const *)events.names, events.count);
		tally_fail(error, -ENOENT, (int64_t)name_word->position,
			   "system %s has no tracepoint %s%s%s%s%s%s; `ls %s/events/%s` shows its "
			   "tracepoints",
			   system, name, similar ? " (did you mean " : "", similar ? system : "",
			   similar ? ":" : "", similar ? similar : "", similar ? "?)" : "", tracefs,
			   system);
	}
	names_done(&systems);
	names_done(&events);
	return -ENOENT;
}

int tally_tracepoint_add(const struct event_word *system_word, const struct event_word *name_word,
			 const struct tally_event_options *options, struct event_items *items,
			 struct tally_error *error)
{
	char tracefs[PATH_MAX], path[PATH_MAX], system[NAME_MOST + 1], name[NAME_MOST + 1];
	struct names systems = {0};
	int count = 0, result;

	if (!copy_name(system_word, system) || !copy_name(name_word, name))
		return tally_fail(error, -EINVAL, (int64_t)system_word->position,
				  "expected a tracepoint, system:name");
	result = tally_tracefs_find(options, tracefs, sizeof(tracefs));
	if (result)
		return fail_tracefs(result, system_word, tracefs, error);
	if (is_glob(system)) {
		if (snprintf(path, sizeof(path), "%s/events", tracefs) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		result = names_read(&systems, path, system);
		for (size_t i = 0; i < systems.count && result >= 0; i++) {
			result = add_matching(tracefs, systems.names[i], name, items);
			if (result == -ENOENT)
				result = 0;
			if (result > 0)
				count += result;
		}
		names_done(&systems);
	} else {
		result = add_matching(tracefs, system, name, items);
		count = result > 0 ? result : 0;
	}
	if (result == -EACCES || result == -EPERM)
		return fail_tracefs(-EACCES, system_word, tracefs, error);
	if (result == -ENOMEM)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (count && result >= 0)
		return 0;
	return fail_absent(tracefs, system, name, system_word, name_word, error);
}

int tally_tracepoint_format(uint64_t id, const struct tally_event_options *options, char *to,
			    size_t room)
{
	struct names systems = {0};
	char tracefs[PATH_MAX], path[PATH_MAX];
	int length = -1;

	if (id > INT64_MAX || tally_tracefs_find(options, tracefs, sizeof(tracefs)) ||
	    snprintf(path, sizeof(path), "%s/events", tracefs) >= (int)sizeof(path) ||
	    names_read(&systems, path, NULL))
		goto done;
	for (size_t i = 0; i < systems.count && length < 0; i++) {
		struct names events = {0};
		int64_t found;

		if (snprintf(path, sizeof(path), "%s/events/%s", tracefs, systems.names[i]) <
		    (int)sizeof(path))
			(void)names_read(&events, path, NULL);
		for (size_t j = 0; j < events.count && length < 0; j++)
			if (!read_id(tracefs, systems.names[i], events.names[j], &found) &&
			    (uint64_t)found == id)
				length =
				    snprintf(to, room, "%s:%s", systems.names[i], events.names[j]);
		names_done(&events);
	}
done:
	names_done(&systems);
	return length;
}

static int format(const struct tally_attr *attr, const struct tally_event_options *options,
		  char *to, size_t room)
{
	return attr->type == PERF_TYPE_TRACEPOINT
		   ? tally_tracepoint_format(attr->config, options, to, room)
		   : -1;
}

const struct event_family tally_event_family_tracepoint = {.format = format};
