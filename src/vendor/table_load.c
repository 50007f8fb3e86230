/* Finds the files of a CPU in a folder of vendor tables, and reads them.
 *
 * What a folder may contain, in the order of trying:
 *
 *   mapfile.csv and folders or files that its rows name: the kernel's pmu-events/arch/x86, or
 * Intel's perfmon; folders by architecture with a mapfile.csv each: the kernel's pmu-events/arch;
 *   CPUID-KIND.json: what pmu-tools' event_download.py keeps. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/fail.h"
#include "base/fs.h"
#include "vendor/table_inner.h"

#define MOST_BYTES (64u << 20) /* of one file; the largest known has 2 MB */

struct loading {
	struct table_source source; /* the reader sets `native` before the first object */
};

static int add_object(void *to, const struct table_field *fields, size_t count)
{
	struct loading *loading = to;
	struct tally_table_event event;
	int result = tally_table_entry_make(&loading->source, fields, count, &event);

	if (result > 0)
		return tally_table_add(loading->source.table, &event);
	loading->source.table->refused += !result;
	return result;
}

int tally_table_load_file(const struct table_source *source, const char *path,
			  struct tally_error *error)
{
	struct loading loading = {.source = *source};
	struct tally_error inner = {.text = "out of memory", .position = -1};
	struct tally_mapped mapped;
	int result = tally_fs_map_path(path, &mapped);

	if (result)
		return tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	if (mapped.size > MOST_BYTES)
		result = tally_fail(&inner, -EFBIG, -1, "over %u bytes", MOST_BYTES);
	else
		result = tally_table_json_read((const char *)mapped.data, mapped.size, add_object,
					       &loading, &loading.source.native, &inner);
	tally_fs_unmap(&mapped);
	if (result)
		return tally_fail(error, result, inner.position, "%s: %s", path, inner.text);
	return 0;
}

/* "uncore-memory.json" is "uncore memory"; all names that end in metrics.json are "metrics". */
static const char *topic_of(struct tally_table *table, const char *file)
{
	size_t length = strlen(file) - strlen(".json");
	char *topic;

	if (length >= 7 && !memcmp(file + length - 7, "metrics", 7))
		return "metrics";
	topic = tally_arena_strndup(&table->arena, file, length);
	for (char *at = topic; at && *at; at++)
		if (*at == '-')
			*at = ' ';
	return topic;
}

static bool is_json(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && !memcmp(name + length - 5, ".json", 5);
}

static int only_json(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && is_json(entry->d_name);
}

/* All files of a folder, sorted by name, so that the order of events never changes. */
static int load_files(struct tally_table *table, const char *folder, bool topics,
		      struct tally_error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, only_json, alphasort), result = 0;

	if (count < 0)
		return errno == ENOMEM
			   ? -ENOMEM
			   : tally_fail(error, -errno, -1, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		struct table_source source = {.table = table};
		char path[PATH_MAX];

		if (topics)
			source.topic = topic_of(table, entries[i]->d_name);
		if (!result && snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) <
				   (int)sizeof(path))
			result = tally_table_load_file(&source, path, error);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static int only_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Folders "sys" are for PMUs of a system on chip, with any CPU: their events have a Compat. */
static int load_systems(struct tally_table *table, const char *folder, int depth,
			struct tally_error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, only_visible, alphasort), result = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char path[PATH_MAX];
		bool maybe =
		    !is_json(name) &&
		    (entries[i]->d_type == DT_DIR || entries[i]->d_type == DT_UNKNOWN) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path);

		if (maybe && !result && !strcmp(name, "sys"))
			result = load_files(table, path, true, error);
		else if (maybe && !result && depth < 3)
			result = load_systems(table, path, depth + 1, error);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return result;
}

/* The kernel's layout: a folder of the CPU beside files of its architecture. */
static int load_cpu_folder(struct tally_table *table, const char *root, const char *folder,
			   struct tally_error *error)
{
	int result;

	if (!table->standard)
		table->standard = calloc(1, sizeof(*table->standard));
	if (!table->standard)
		return -ENOMEM;
	result = load_files(table->standard, root, false, error);
	if (!result)
		result = load_files(table, folder, true, error);
	if (!result && memmem(table->cpuid, strlen(table->cpuid), "0x", 2)) /* arm64 only */
		result = load_systems(table, root, 0, error);
	return result;
}

/* A row of mapfile.csv, split at its commas. */
struct row {
	char *columns[8];
	size_t count;
};

static void split_row(char *line, struct row *ret)
{
	ret->count = 0;
	while (line && ret->count < 8)
		ret->columns[ret->count++] = strsep(&line, ",");
}

static bool row_is_for(const struct row *row, const char *cpuid)
{
	if (row->count < 3 || row->columns[0][0] == '#' || strlen(row->columns[0]) > 256)
		return false;
	if (strstr(row->columns[2], "..")) /* it must stay in its folder */
		return false;
	return tally_table_cpuid_matches(row->columns[0], cpuid);
}

/* Intel's rows name files of several kinds; two of them have no events. */
static int load_named_file(struct tally_table *table, const struct row *row, const char *path,
			   struct tally_error *error)
{
	const char *kind = row->count > 3 ? row->columns[3] : "core";
	const char *role = row->count > 6 ? row->columns[6] : "";
	struct table_source source = {.table = table};
	char *topic;

	if (!strcmp(kind, "metrics") || !strcmp(kind, "retire latency"))
		return 0;
	topic = tally_arena_strndup(&table->arena, kind, strlen(kind));
	source.topic = topic;
	if (!strcmp(kind, "hybridcore"))
		source.pmu = !strcmp(role, "Atom") ? "cpu_atom" : "cpu_core";
	return tally_table_load_file(&source, path, error);
}

/* 1: the row's events were added, and no other row has any; 0: other rows may; or -errno. */
static int load_row(struct tally_table *table, const char *root, const struct row *row,
		    size_t *loaded, struct tally_error *error)
{
	char path[PATH_MAX];
	struct stat is;
	int result;

	if (snprintf(path, sizeof(path), "%s/%s", root, row->columns[2]) >= (int)sizeof(path) ||
	    stat(path, &is))
		return 0; /* the row is for this CPU, but its file was not downloaded */
	*loaded += 1;
	if (S_ISDIR(is.st_mode)) {
		result = load_cpu_folder(table, root, path, error);
		return result ? result : 1;
	}
	return load_named_file(table, row, path, error);
}

/* -ENOENT: no map, or no row of it leads to a file. */
static int load_by_map(struct tally_table *table, const char *root, struct tally_error *error)
{
	char *text, *at, *line;
	size_t size, loaded = 0;
	int result = tally_fs_readf(1u << 20, &text, &size, "%s/mapfile.csv", root);

	if (result)
		return result == -ENOTDIR || result == -EACCES ? -ENOENT : result;
	at = text;
	while (!result && (line = strsep(&at, "\n"))) {
		struct row row;

		line[strcspn(line, "\r")] = '\0';
		split_row(line, &row);
		if (row_is_for(&row, table->cpuid))
			result = load_row(table, root, &row, &loaded, error);
	}
	free(text);
	if (result < 0)
		return result;
	return loaded ? 0 : -ENOENT;
}

static int load_architectures(struct tally_table *table, const char *folder,
			      struct tally_error *error)
{
	static const char *const names[] = {"x86", "arm64", "powerpc", "s390", "riscv"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];
		int result;

		if (snprintf(path, sizeof(path), "%s/%s", folder, names[i]) >= (int)sizeof(path))
			return -ENOENT;
		result = load_by_map(table, path, error);
		if (result != -ENOENT)
			return result;
	}
	return -ENOENT;
}

/* "GenuineIntel-6-4F-core.json" for GenuineIntel-6-4F-1, and with the stepping. */
static bool downloaded_for(const char *name, const char *cpuid)
{
	size_t whole = strlen(cpuid);
	const char *dash = strrchr(cpuid, '-');
	size_t model = dash ? (size_t)(dash - cpuid) : whole;

	if (strstr(name, "-metrics") || strstr(name, "latency"))
		return false;
	if (!strncmp(name, cpuid, whole) && name[whole] == '-')
		return true;
	/* behind the model's dash there is a kind, not another stepping */
	return !strncmp(name, cpuid, model) && name[model] == '-' && name[model + 1] >= 'a' &&
	       name[model + 1] <= 'z' && name[model + 2] != '-';
}

static int load_downloads(struct tally_table *table, const char *folder, struct tally_error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, only_json, alphasort), result = 0;
	size_t loaded = 0;

	for (int i = 0; i < count; i++) {
		struct table_source source = {.table = table};
		char path[PATH_MAX];

		if (!result && downloaded_for(entries[i]->d_name, table->cpuid) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) <
			(int)sizeof(path)) {
			result = tally_table_load_file(&source, path, error);
			loaded++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return result || loaded ? result : -ENOENT;
}

int tally_table_load_folder(struct tally_table *table, const char *folder,
			    struct tally_error *error)
{
	int result = load_by_map(table, folder, error);

	if (result == -ENOENT)
		result = load_architectures(table, folder, error);
	if (result == -ENOENT)
		result = load_downloads(table, folder, error);
	if (result)
		return result;
	table->folder = tally_arena_strndup(&table->arena, folder, strlen(folder));
	return table->folder ? 0 : -ENOMEM;
}
