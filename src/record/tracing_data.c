#include "record/tracing_data.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/fail.h"
#include "base/fs.h"

#define FORMAT_MOST (1u << 20)
#define TEXT_MOST   (64u << 20) /* of printk_formats and saved_cmdlines */

struct tracepoint {
	uint64_t id;
	char *system, *name;
};

struct tracepoints {
	struct tracepoint *list;
	size_t count;
};

static void tracepoints_done(struct tracepoints *points)
{
	for (size_t i = 0; i < points->count; i++) {
		free(points->list[i].system);
		free(points->list[i].name);
	}
	free(points->list);
}

static int find_tracefs(const char *root, char *to, size_t room)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s%s/events/header_page", root, places[i]);
		if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS))
			continue;
		snprintf(to, room, "%s%s", root, places[i]);
		return 0;
	}
	return -ENOENT;
}

static bool has_id(const char *tracefs, const char *system, const char *name, uint64_t id)
{
	char path[PATH_MAX];
	int64_t found;

	if (snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs, system, name) >=
	    (int)sizeof(path))
		return false;
	return !tally_fs_read_number(path, &found) && (uint64_t)found == id;
}

static int keep(struct tracepoint *point, const char *system, const char *name)
{
	point->system = strdup(system);
	point->name = strdup(name);
	return point->system && point->name ? 1 : -ENOMEM;
}

/* Searches all tracepoints for an id. 1: found, 0: not found, or -ENOMEM. */
static int search(const char *tracefs, struct tracepoint *point)
{
	char path[PATH_MAX];
	struct dirent *system, *event;
	int result = 0;
	DIR *events, *folder;

	if (snprintf(path, sizeof(path), "%s/events", tracefs) >= (int)sizeof(path))
		return 0;
	events = opendir(path);
	if (!events)
		return 0;
	while (!result && (system = readdir(events))) {
		if (system->d_name[0] == '.' || system->d_type == DT_REG)
			continue;
		if (snprintf(path, sizeof(path), "%s/events/%s", tracefs, system->d_name) >=
		    (int)sizeof(path))
			continue;
		folder = opendir(path);
		while (folder && !result && (event = readdir(folder)))
			if (event->d_name[0] != '.' && event->d_type != DT_REG &&
			    has_id(tracefs, system->d_name, event->d_name, point->id))
				result = keep(point, system->d_name, event->d_name);
		if (folder)
			closedir(folder);
	}
	closedir(events);
	return result;
}

/* First the place that the name "system:event[:modifiers]" leads to. */
static int locate(const char *tracefs, const char *name, struct tracepoint *point)
{
	const char *colon = strchr(name, ':');
	char system[128], event[256];

	if (colon && colon - name < (int)sizeof(system)) {
		const char *end = strchrnul(colon + 1, ':');

		snprintf(system, sizeof(system), "%.*s", (int)(colon - name), name);
		snprintf(event, sizeof(event), "%.*s", (int)(end - colon - 1), colon + 1);
		if (!strchr(system, '/') && !strchr(event, '/') &&
		    has_id(tracefs, system, event, point->id))
			return keep(point, system, event);
	}
	return search(tracefs, point);
}

static bool is_known(const struct tracepoints *points, uint64_t id)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->list[i].id == id)
			return true;
	return false;
}

static int by_system(const void *a, const void *b)
{
	const struct tracepoint *left = a, *right = b;
	int order = strcmp(left->system, right->system);

	return order ? order : strcmp(left->name, right->name);
}

static int collect(const struct tally_plan *plan, const char *tracefs, struct tracepoints *points,
		   struct tally_error *error)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct tally_planned *event = &plan->events[i];
		struct tracepoint *point = &points->list[points->count];
		int result;

		if (event->attr.type != PERF_TYPE_TRACEPOINT ||
		    is_known(points, event->attr.config))
			continue;
		point->id = event->attr.config;
		result = locate(tracefs, event->name, point);
		if (result != 0)
			points->count++;
		if (result < 0)
			return tally_fail(error, result, -1, "out of memory");
		if (!result)
			return tally_fail(
			    error, -ENOENT, -1, "%s: no tracepoint under %s/events has its id %llu",
			    event->name, tracefs, (unsigned long long)event->attr.config);
	}
	qsort(points->list, points->count, sizeof(*points->list), by_system);
	return 0;
}

/* A file of tracefs behind its length, of 8 bytes or 4. A missing file is empty. */
static int add_file(struct tally_buf *to, size_t most, int length_bytes, const char *tracefs,
		    const char *name)
{
	char *text = NULL;
	size_t size = 0;
	int result = tally_fs_readf(most, &text, &size, "%s/%s", tracefs, name);

	if (result == -ENOMEM)
		return result;
	if (result)
		size = 0;
	if (length_bytes == 8)
		tally_buf_u64(to, size);
	else
		tally_buf_u32(to, (uint32_t)size);
	if (size)
		tally_buf_add(to, text, size);
	free(text);
	return 0;
}

static void add_name(struct tally_buf *to, const char *name)
{
	tally_buf_add(to, name, strlen(name) + 1);
}

/* u32 systems, each {name, u32 events, each {u64 length, format}}. */
static int add_formats(struct tally_buf *to, const char *tracefs, const struct tracepoints *points)
{
	uint32_t systems = 0;
	char name[PATH_MAX];

	for (size_t i = 0; i < points->count; i++)
		systems += !i || strcmp(points->list[i].system, points->list[i - 1].system) != 0;
	tally_buf_u32(to, systems);
	for (size_t i = 0, end; i < points->count; i = end) {
		for (end = i; end < points->count &&
			      !strcmp(points->list[end].system, points->list[i].system);)
			end++;
		add_name(to, points->list[i].system);
		tally_buf_u32(to, (uint32_t)(end - i));
		for (size_t j = i; j < end; j++) {
			if (snprintf(name, sizeof(name), "events/%s/%s/format",
				     points->list[j].system,
				     points->list[j].name) >= (int)sizeof(name) ||
			    add_file(to, FORMAT_MOST, 8, tracefs, name))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Source: the layout of trace-cmd's file version 0.6, which the feature holds. */
static int build(struct tally_buf *to, const char *tracefs, const struct tracepoints *points)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	static const char *const headers[] = {"events/header_page", "events/header_event"};

	tally_buf_add(to, magic, sizeof(magic));
	add_name(to, "0.6");
	tally_buf_byte(to, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	tally_buf_byte(to, sizeof(long));
	tally_buf_u32(to, (uint32_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < 2; i++) {
		add_name(to, strchr(headers[i], '/') + 1);
		if (add_file(to, FORMAT_MOST, 8, tracefs, headers[i]))
			return -ENOMEM;
	}
	tally_buf_u32(to, 0); /* formats of ftrace's own events, which are not recorded */
	if (add_formats(to, tracefs, points))
		return -ENOMEM;
	/* Kernel symbols are left out: 10 MB that a reader finds elsewhere. */
	tally_buf_u32(to, 0);
	if (add_file(to, TEXT_MOST, 4, tracefs, "printk_formats"))
		return -ENOMEM;
	if (add_file(to, TEXT_MOST, 8, tracefs, "saved_cmdlines"))
		return -ENOMEM;
	return to->failed;
}

int tally_tracing_data_make(const struct tally_plan *plan, const char *tracefs, const char *root,
			    struct tally_buf *ret, struct tally_error *error)
{
	struct tracepoints points = {0};
	struct tally_buf made = {0};
	char found[PATH_MAX];
	size_t count = 0;
	int result;

	for (size_t i = 0; i < plan->count; i++)
		count += plan->events[i].attr.type == PERF_TYPE_TRACEPOINT;
	if (!count)
		return 0;
	if (!tracefs) {
		if (find_tracefs(root, found, sizeof(found)))
			return tally_fail(error, -ENOENT, -1,
					  "tracepoints need tracefs, which is not mounted or not "
					  "readable: `sudo mount -t tracefs nodev "
					  "/sys/kernel/tracing`");
		tracefs = found;
	}
	points.list = calloc(count, sizeof(*points.list));
	if (!points.list)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	result = collect(plan, tracefs, &points, error);
	if (!result) {
		result = build(&made, tracefs, &points);
		if (result)
			tally_fail(error, result, -1, "out of memory");
	}
	tracepoints_done(&points);
	if (result)
		tally_buf_done(&made);
	else
		*ret = made;
	return result;
}
