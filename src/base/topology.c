/* Source of the files' names: Documentation/ABI/stable/sysfs-devices-system-cpu. */
#include <tally/topology.h>

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fs.h"
#include "base/option_struct.h"

#define INDEXES_MOST 16 /* of a CPU's caches */

static int32_t read_id(const char *root, uint32_t cpu, const char *name, int32_t otherwise)
{
	char path[PATH_MAX];
	int64_t number;

	if (snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/topology/%s", root, cpu,
		     name) >= (int)sizeof(path) ||
	    tally_fs_read_number(path, &number) || number < 0 || number > INT32_MAX)
		return otherwise;
	return (int32_t)number;
}

static int32_t read_cache(const char *root, uint32_t cpu)
{
	int64_t level, largest = 0;
	int32_t first = -1;

	for (unsigned i = 0; i < INDEXES_MOST; i++) {
		char path[PATH_MAX], *text;

		if (snprintf(path, sizeof(path),
			     "%s/sys/devices/system/cpu/cpu%u/cache/index%u/level", root, cpu,
			     i) >= (int)sizeof(path) ||
		    tally_fs_read_number(path, &level))
			break;
		if (level < largest ||
		    tally_fs_readf(65536, &text, NULL,
				   "%s/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list",
				   root, cpu, i))
			continue;
		largest = level;
		/* The list is ascending: its first number is the lowest. */
		first = *text >= '0' && *text <= '9' ? (int32_t)strtol(text, NULL, 10) : -1;
		free(text);
	}
	return first;
}

/* The CPU's folder has a link to its node. */
static int32_t read_node(const char *root, uint32_t cpu)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int32_t node = 0;
	DIR *folder;

	if (snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u", root, cpu) >=
	    (int)sizeof(path))
		return node;
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, "node", 4) && entry->d_name[4] >= '0' &&
		    entry->d_name[4] <= '9') {
			node = (int32_t)strtol(entry->d_name + 4, NULL, 10);
			break;
		}
	if (folder)
		closedir(folder);
	return node;
}

int tally_topology_read(const char *root, uint32_t cpu, struct tally_topology_cpu *ret)
{
	struct tally_topology_cpu own;

	if (!root)
		root = "";
	own = (struct tally_topology_cpu){
	    .socket = read_id(root, cpu, "physical_package_id", -1),
	    .die = read_id(root, cpu, "die_id", 0),
	    .cluster = read_id(root, cpu, "cluster_id", 0),
	    .core = read_id(root, cpu, "core_id", -1),
	    .cache = read_cache(root, cpu),
	    .node = read_node(root, cpu),
	};
	return tally_result_copy(ret, sizeof(own), &own);
}
