/* The events of this machine's kernel: PMUs in sysfs, tracepoints in tracefs.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-events; tracefs: the folders of
 * Documentation/trace/events.rst. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/table.h"
#include "metric/catalog_inner.h"
#include "event/family.h"

static int keep_pmu(struct tally_catalog *catalog, const char *name)
{
	if (!array_next(&catalog->pmus, &catalog->pmu_room, catalog->pmu_count, 32,
			sizeof(*catalog->pmus)))
		return -ENOMEM;
	catalog->pmus[catalog->pmu_count] = tally_catalog_keep(catalog, "%s", name);
	return catalog->pmus[catalog->pmu_count++] ? 0 : -ENOMEM;
}

/* ".scale" and the like describe an event, and are not events. */
static bool is_event(const char *name)
{
	static const char *const endings[] = {".scale", ".unit", ".per-pkg", ".snapshot"};

	if (name[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t length = strlen(endings[i]), all = strlen(name);

		if (all > length && !strcmp(name + all - length, endings[i]))
			return false;
	}
	return true;
}

/* The first line of a small file, in the arena; NULL: there is none. */
static char *first_line(struct tally_catalog *catalog, const char *folder, const char *name,
			const char *ending)
{
	char *text, *kept;
	size_t size;

	if (tally_fs_readf(4096, &text, &size, "%s/%s%s", folder, name, ending))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	kept = *text ? tally_catalog_keep(catalog, "%s", text) : NULL;
	free(text);
	return kept;
}

static int add_pmu_event(struct tally_catalog *catalog, const char *folder, const char *pmu,
			 const char *name)
{
	struct tally_catalog_entry entry = {
	    .kind = TALLY_CATALOG_PMU, .supported = true, .pmu = pmu, .scale = 1};
	const char *scale = first_line(catalog, folder, name, ".scale");

	entry.name = tally_catalog_keep(catalog, "%s/%s/", pmu, name);
	if (!entry.name)
		return -ENOMEM;
	entry.terms = first_line(catalog, folder, name, "");
	entry.unit = first_line(catalog, folder, name, ".unit");
	if (scale)
		entry.scale = strtod(scale, NULL);
	return tally_catalog_add(catalog, &entry);
}

static int add_pmu_events(struct tally_catalog *catalog, const char *sysfs, const char *pmu)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	int result = 0;
	DIR *dir;

	if (snprintf(folder, sizeof(folder), "%s/bus/event_source/devices/%s/events", sysfs, pmu) >=
	    (int)sizeof(folder))
		return 0;
	dir = opendir(folder);
	while (dir && !result && (entry = readdir(dir)))
		if (is_event(entry->d_name))
			result = add_pmu_event(catalog, folder, pmu, entry->d_name);
	if (dir)
		closedir(dir);
	return result;
}

/* PMUs of the CPU itself: "cpu", or those with a list of their CPUs (hybrid x86, Arm).  Source:
 * Documentation/ABI/testing/sysfs-devices-system-cpu and perf's is_arm_pmu_core(). */
static bool is_core(const char *sysfs, const char *pmu)
{
	char path[PATH_MAX];

	if (!strcmp(pmu, "cpu") || !strcmp(pmu, "cpum_cf"))
		return true;
	return snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/cpus", sysfs, pmu) <
		   (int)sizeof(path) &&
	       !access(path, F_OK);
}

int tally_catalog_read_pmus(struct tally_catalog *catalog, const char *sysfs, bool list)
{
	char folder[PATH_MAX];
	struct dirent **entries;
	int count, result = 0;

	if (snprintf(folder, sizeof(folder), "%s/bus/event_source/devices", sysfs) >=
	    (int)sizeof(folder))
		return 0;
	count = scandir(folder, &entries, NULL, alphasort);
	if (count < 0) {
		tally_catalog_note_add(catalog, "%s: %s", folder, strerror(errno));
		return 0;
	}
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (!result && name[0] != '.') {
			result = keep_pmu(catalog, name);
			catalog->core |= is_core(sysfs, name);
			if (!result && list)
				result = add_pmu_events(catalog, sysfs,
							catalog->pmus[catalog->pmu_count - 1]);
		}
		free(entries[i]);
	}
	free(entries);
	return result;
}

static int add_tracepoints_of(struct tally_catalog *catalog, const char *events, const char *system)
{
	char folder[PATH_MAX], id[NAME_MAX + 4];
	/* Most records of the kernel's own tracers have only a format, and cannot be opened. */
	const bool check_id = !strcmp(system, "ftrace");
	struct dirent *entry;
	char *kept = NULL;
	int result = 0;
	DIR *dir;

	if (snprintf(folder, sizeof(folder), "%s/%s", events, system) >= (int)sizeof(folder))
		return 0;
	dir = opendir(folder);
	while (dir && !result && (entry = readdir(dir))) {
		struct tally_catalog_entry made = {
		    .kind = TALLY_CATALOG_TRACEPOINT, .supported = true, .scale = 1};

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		if (check_id &&
		    (snprintf(id, sizeof(id), "%s/id", entry->d_name) >= (int)sizeof(id) ||
		     faccessat(dirfd(dir), id, F_OK, 0)))
			continue;
		if (!kept)
			kept = tally_catalog_keep(catalog, "%s", system);
		made.topic = kept;
		made.name = tally_catalog_keep(catalog, "%s:%s", system, entry->d_name);
		result = made.name && kept ? tally_catalog_add(catalog, &made) : -ENOMEM;
	}
	if (dir)
		closedir(dir);
	return result;
}

int tally_catalog_read_tracepoints(struct tally_catalog *catalog, const char *tracefs)
{
	struct tally_event_options options = {.size = sizeof(options), .tracefs = tracefs};
	char folder[PATH_MAX], events[PATH_MAX + 8];
	struct dirent *entry;
	int result = tally_tracefs_find(&options, folder, sizeof(folder));
	DIR *dir;

	if (result) {
		tally_catalog_note_add(catalog, "tracepoints are not listed: %s",
				       result == -EACCES ? "only root may read tracefs"
							 : "tracefs is not mounted");
		return 0;
	}
	snprintf(events, sizeof(events), "%s/events", folder);
	dir = opendir(events);
	if (!dir)
		tally_catalog_note_add(catalog, "tracepoints are not listed: %s: %s", events,
				       strerror(errno));
	while (dir && !result && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
			result = add_tracepoints_of(catalog, events, entry->d_name);
	if (dir)
		closedir(dir);
	return result;
}
