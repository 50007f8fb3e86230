/* How the machine's processors, caches and memory are connected.
 * Sources: Documentation/admin-guide/cputopology.rst, Documentation/ABI/stable/sysfs-devices-node,
 * Documentation/ABI/testing/sysfs-devices-system-cpu (cache), sysfs-devices-memory; the sections'
 * layouts: the perf.data format. */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>
#include "base/bits.h"
#include "base/fs.h"
#include "base/table.h"
#include "base/text.h"
#include "write/sysfs.h"

#define CPU_DIR       "%s/sys/devices/system/cpu/cpu%u"
#define CACHE_INDEXES 16 /* of one CPU; the newest have 4 or 5 */
#define MEMORY_BLOCKS 1048576U

/* --- a set of lines, each once, in order of arrival --- */

struct lines {
	char **text;
	size_t count, room;
};

/* Takes over `line`. */
static void lines_add(struct lines *lines, char *line)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (!strcmp(lines->text[i], line)) {
			free(line);
			return;
		}
	}
	if (array_next(&lines->text, &lines->room, lines->count, 16, sizeof(*lines->text)))
		lines->text[lines->count++] = line;
	else
		free(line);
}

static void lines_done(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->text[i]);
	free(lines->text);
}

static void lines_write(const struct lines *lines, struct tally_buf *to)
{
	tally_buf_u32(to, (uint32_t)lines->count);
	for (size_t i = 0; i < lines->count; i++)
		tally_file_add_string(to, lines->text[i]);
}

/* The distinct lists of CPUs that share something; `older` is the file's name before Linux 5.3. */
static void collect_lists(const char *root, uint32_t cpus, const char *file, const char *older,
			  struct lines *to)
{
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		char *line = tally_file_line(CPU_DIR "/topology/%s", root, cpu, file);

		if (!line && older)
			line = tally_file_line(CPU_DIR "/topology/%s", root, cpu, older);
		if (line && *line)
			lines_add(to, line);
		else
			free(line);
	}
}

static uint32_t topology_id(const char *root, uint32_t cpu, const char *file)
{
	int64_t id;

	/* -1 stands for a CPU that is offline, whose files are missing */
	return tally_file_number(&id, CPU_DIR "/topology/%s", root, cpu, file) ? (uint32_t)id
									       : UINT32_MAX;
}

/* {u32 n, sockets[]}, {u32 n, threads[]}, per CPU {u32 core, u32 socket}; if the machine has dies:
 * {u32 n, dies[]}, per CPU u32 die. */
void tally_file_write_cpu_topology(const struct file_facts *facts, struct tally_buf *to)
{
	struct lines sockets = {0}, threads = {0}, dies = {0};
	uint32_t cpus, online;

	tally_file_cpus(facts->root, &cpus, &online);
	collect_lists(facts->root, cpus, "package_cpus_list", "core_siblings_list", &sockets);
	collect_lists(facts->root, cpus, "core_cpus_list", "thread_siblings_list", &threads);
	collect_lists(facts->root, cpus, "die_cpus_list", NULL, &dies);
	if (sockets.count && threads.count) {
		lines_write(&sockets, to);
		lines_write(&threads, to);
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			tally_buf_u32(to, topology_id(facts->root, cpu, "core_id"));
			tally_buf_u32(to, topology_id(facts->root, cpu, "physical_package_id"));
		}
		if (dies.count) {
			lines_write(&dies, to);
			for (uint32_t cpu = 0; cpu < cpus; cpu++)
				tally_buf_u32(to, topology_id(facts->root, cpu, "die_id"));
		}
	}
	lines_done(&sockets);
	lines_done(&threads);
	lines_done(&dies);
}

/* --- memory nodes --- */

static bool online_nodes(const char *root, uint32_t **ret, size_t *ret_count)
{
	char *list = tally_file_line("%s/sys/devices/system/node/online", root);
	bool good = list && !tally_text_cpu_list(list, ret, ret_count);

	free(list);
	return good;
}

/* "Node 0 MemTotal:  16384 kB": the number behind `key`. */
static uint64_t node_memory(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* {u32 n, n x {u32 node, u64 total kB, u64 free kB, str cpus}} */
void tally_file_write_numa_topology(const struct file_facts *facts, struct tally_buf *to)
{
	uint32_t *nodes;
	size_t count;

	if (!online_nodes(facts->root, &nodes, &count))
		return;
	if (count)
		tally_buf_u32(to, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		char *cpus = tally_file_line("%s/sys/devices/system/node/node%u/cpulist",
					     facts->root, nodes[i]);
		struct tally_buf path = {0};
		char *text = NULL;

		tally_buf_printf(&path, "%s/sys/devices/system/node/node%u/meminfo", facts->root,
				 nodes[i]);
		if (path.failed || tally_fs_read(tally_buf_str(&path), 65536, &text, NULL))
			text = NULL;
		tally_buf_u32(to, nodes[i]);
		tally_buf_u64(to, text ? node_memory(text, "MemTotal:") : 0);
		tally_buf_u64(to, text ? node_memory(text, "MemFree:") : 0);
		tally_file_add_string(to, cpus ? cpus : "");
		tally_buf_done(&path);
		free(text);
		free(cpus);
	}
	free(nodes);
}

/* The numbers of a node's "memoryN" entries as a bitmap: {u64 bits, u64 words[]}. */
static void write_blocks(const char *root, uint32_t node, struct tally_buf *to)
{
	size_t count = 0;
	char **names = tally_file_names(&count, "%s/sys/devices/system/node/node%u", root, node);
	uint64_t bits = 0, *words = NULL;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < count; i++) {
			uint64_t number;

			if (strncmp(names[i], "memory", 6) ||
			    tally_text_u64(names[i] + 6, &number) || number >= MEMORY_BLOCKS)
				continue;
			if (pass && words)
				bits_add(words, number);
			else if (number >= bits)
				bits = number + 1;
		}
		if (!pass)
			words = calloc(bits / 64 + 1, sizeof(*words));
	}
	tally_file_names_free(names);
	if (!words)
		bits = 0;
	tally_buf_u64(to, bits);
	tally_buf_u64(to, bits);
	tally_buf_add(to, words, (bits + 63) / 64 * 8);
	free(words);
}

/* {u64 version 1, u64 block size, u64 n, n x {u64 node, u64 bits, u64 bits, u64 words[]}} */
void tally_file_write_mem_topology(const struct file_facts *facts, struct tally_buf *to)
{
	char *size = tally_file_line("%s/sys/devices/system/memory/block_size_bytes", facts->root);
	uint32_t *nodes;
	size_t count;

	if (size && online_nodes(facts->root, &nodes, &count)) {
		tally_buf_u64(to, 1);
		tally_buf_u64(to, strtoull(size, NULL, 16)); /* hex without 0x */
		tally_buf_u64(to, count);
		for (size_t i = 0; i < count; i++) {
			tally_buf_u64(to, nodes[i]);
			write_blocks(facts->root, nodes[i], to);
		}
		free(nodes);
	}
	free(size);
}

/* --- caches --- */

struct cache {
	uint32_t numbers[4]; /* level, line size, sets, ways */
	char *text[3];       /* type, size, map of its CPUs */
};

static void cache_done(struct cache *cache)
{
	for (int i = 0; i < 3; i++)
		free(cache->text[i]);
}

static bool cache_read(const char *root, uint32_t cpu, unsigned index, struct cache *ret)
{
	static const char *const numbers[] = {"level", "coherency_line_size", "number_of_sets",
					      "ways_of_associativity"};
	static const char *const texts[] = {"type", "size", "shared_cpu_list"};
	struct cache cache = {0};

	for (int i = 0; i < 4; i++) {
		int64_t number;

		if (!tally_file_number(&number, CPU_DIR "/cache/index%u/%s", root, cpu, index,
				       numbers[i]))
			return false;
		cache.numbers[i] = (uint32_t)number;
	}
	for (int i = 0; i < 3; i++) {
		cache.text[i] =
		    tally_file_line(CPU_DIR "/cache/index%u/%s", root, cpu, index, texts[i]);
		if (!cache.text[i]) {
			cache_done(&cache);
			return false;
		}
	}
	*ret = cache;
	return true;
}

static bool cache_equal(const struct cache *a, const struct cache *b)
{
	return !memcmp(a->numbers, b->numbers, sizeof(a->numbers)) &&
	       !strcmp(a->text[0], b->text[0]) && !strcmp(a->text[1], b->text[1]) &&
	       !strcmp(a->text[2], b->text[2]);
}

static int cache_order(const void *a, const void *b)
{
	const struct cache *left = a, *right = b;

	return (left->numbers[0] > right->numbers[0]) - (left->numbers[0] < right->numbers[0]);
}

/* Each CPU shows the caches it shares: a cache is written once. */
static void collect_caches(const char *root, uint32_t cpus, struct cache **ret, size_t *ret_count)
{
	size_t room = 0;

	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		for (unsigned index = 0; index < CACHE_INDEXES; index++) {
			struct cache cache;
			bool known = false;

			if (!cache_read(root, cpu, index, &cache))
				break;
			for (size_t i = 0; i < *ret_count && !known; i++)
				known = cache_equal(&(*ret)[i], &cache);
			if (!known && array_next(ret, &room, *ret_count, 16, sizeof(**ret)))
				(*ret)[(*ret_count)++] = cache;
			else
				cache_done(&cache);
		}
	}
}

/* {u32 version 1, u32 n, n x {u32 level, line, sets, ways; str type, size, map}} */
void tally_file_write_cache(const struct file_facts *facts, struct tally_buf *to)
{
	struct cache *caches = NULL;
	uint32_t cpus, online;
	size_t count = 0;

	tally_file_cpus(facts->root, &cpus, &online);
	collect_caches(facts->root, cpus, &caches, &count);
	if (!count)
		return;
	qsort(caches, count, sizeof(*caches), cache_order);
	tally_buf_u32(to, 1);
	tally_buf_u32(to, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		for (int k = 0; k < 4; k++)
			tally_buf_u32(to, caches[i].numbers[k]);
		for (int k = 0; k < 3; k++)
			tally_file_add_string(to, caches[i].text[k]);
		cache_done(&caches[i]);
	}
	free(caches);
}
