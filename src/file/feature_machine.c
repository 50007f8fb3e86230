/* How the recording's machine is built: processors, caches, memory, PMUs.
 * Source of the layouts: the perf.data format as perf 2.6.32 to 7.0 writes it. */
#include "file/feature_read.h"

#include <stdlib.h>
#include <string.h>

/* Names of a scheduling domain are written from this version of schedstat on. */
#define SCHEDSTAT_WITH_NAMES 17

/* Revision 3 adds dies behind all of revision 2: strings, and the die of each CPU. */
static int read_dies(struct tally_data *data, struct file_cursor *cursor,
		     struct tally_data_cpu *cpus, size_t count)
{
	struct tally_data_topology *topology = &data->info.topology;
	int code = tally_feature_strings(data, cursor, &topology->dies);

	if (code)
		return code;
	for (size_t i = 0; i < count; i++)
		cpus[i].die = cursor_u32(cursor);
	topology->has_dies = !cursor->failed && topology->dies.count;
	return 0;
}

/* The size of the section says which revision it is. */
int tally_feature_cpu_topology(struct tally_data *data, struct file_cursor *cursor)
{
	struct tally_data_topology *topology = &data->info.topology;
	size_t count = data->info.cpus_available;
	struct tally_data_cpu *cpus;
	int code = tally_feature_strings(data, cursor, &topology->sockets);

	if (!code)
		code = tally_feature_strings(data, cursor, &topology->threads);
	if (code || cursor->failed)
		return code;
	/* In a stream 4 bytes of padding may follow. */
	if (!count || cursor_left(cursor) < 8)
		return 0;
	if (count > cursor_left(cursor) / 8) {
		cursor->failed = true;
		return 0;
	}
	cpus = feature_list(data, struct tally_data_cpu, count);
	if (!cpus)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		cpus[i].core = cursor_u32(cursor);
		cpus[i].socket = cursor_u32(cursor);
	}
	topology->cpus = cpus;
	topology->cpu_count = count;
	if (cursor_left(cursor) < 4 + count * 4)
		return 0;
	return read_dies(data, cursor, cpus, count);
}

int tally_feature_numa_topology(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 24);
	struct tally_data_numa_node *nodes = feature_list(data, struct tally_data_numa_node, count);

	if (!nodes)
		return -ENOMEM;
	data->info.numa_nodes = nodes;
	for (uint32_t i = 0; i < count; i++) {
		nodes[i].node = cursor_u32(cursor);
		nodes[i].total_kb = cursor_u64(cursor);
		nodes[i].free_kb = cursor_u64(cursor);
		nodes[i].cpus = tally_feature_string(data, cursor);
		if (!nodes[i].cpus)
			return feature_no_string(cursor);
		data->info.numa_node_count = i + 1;
	}
	return 0;
}

int tally_feature_pmu_mappings(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 8);
	struct tally_data_pmu *pmus = feature_list(data, struct tally_data_pmu, count);

	if (!pmus)
		return -ENOMEM;
	data->info.pmus = pmus;
	for (uint32_t i = 0; i < count; i++) {
		pmus[i].type = cursor_u32(cursor);
		pmus[i].name = tally_feature_string(data, cursor);
		if (!pmus[i].name)
			return feature_no_string(cursor);
		data->info.pmu_count = i + 1;
	}
	return 0;
}

int tally_feature_cache(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t version = cursor_u32(cursor), count;
	struct tally_data_cache *caches;

	if (version != 1) /* none is known to exist */
		return 0;
	count = cursor_count(cursor, 28);
	caches = feature_list(data, struct tally_data_cache, count);
	if (!caches)
		return -ENOMEM;
	data->info.caches = caches;
	for (uint32_t i = 0; i < count; i++) {
		struct tally_data_cache *cache = &caches[i];

		cache->level = cursor_u32(cursor);
		cache->line_size = cursor_u32(cursor);
		cache->sets = cursor_u32(cursor);
		cache->ways = cursor_u32(cursor);
		cache->type = tally_feature_string(data, cursor);
		cache->size = cache->type ? tally_feature_string(data, cursor) : NULL;
		cache->cpus = cache->size ? tally_feature_string(data, cursor) : NULL;
		if (!cache->cpus)
			return feature_no_string(cursor);
		data->info.cache_count = i + 1;
	}
	return 0;
}

/* {u64 node, u64 bits, u64 bits again, u64 words[]} */
static int read_memory_node(struct tally_data *data, struct file_cursor *cursor,
			    struct tally_data_memory_node *ret)
{
	uint64_t bits, words, *blocks;

	ret->node = cursor_u64(cursor);
	cursor_u64(cursor);
	bits = cursor_u64(cursor);
	words = bits / 64 + (bits % 64 != 0);
	if (cursor->failed || words > cursor_left(cursor) / 8) {
		cursor->failed = true;
		return 0;
	}
	blocks = feature_list(data, uint64_t, words);
	if (!blocks)
		return -ENOMEM;
	for (uint64_t i = 0; i < words; i++)
		blocks[i] = cursor_u64(cursor);
	ret->block_count = bits;
	ret->blocks = blocks;
	return 0;
}

int tally_feature_mem_topology(struct tally_data *data, struct file_cursor *cursor)
{
	uint64_t version = cursor_u64(cursor), block_size, count;
	struct tally_data_memory_node *nodes;

	if (version != 1)
		return 0;
	block_size = cursor_u64(cursor);
	count = cursor_u64(cursor);
	if (count > cursor_left(cursor) / 24) {
		cursor->failed = true;
		return 0;
	}
	nodes = feature_list(data, struct tally_data_memory_node, count);
	if (!nodes)
		return -ENOMEM;
	data->info.memory_block_size = block_size;
	data->info.memory_nodes = nodes;
	for (uint64_t i = 0; i < count; i++) {
		int code = read_memory_node(data, cursor, &nodes[i]);

		if (code || cursor->failed)
			return code;
		data->info.memory_node_count = i + 1;
	}
	return 0;
}

int tally_feature_cpu_pmu_caps(struct tally_data *data, struct file_cursor *cursor)
{
	data->info.cpu_pmu_caps.pmu = "cpu";
	return tally_feature_pairs(data, cursor, &data->info.cpu_pmu_caps.caps);
}

/* {u32 PMUs, each {u32 n, n x {name, value}, PMU's name}} */
int tally_feature_pmu_caps(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 8);
	struct tally_data_pmu_caps *caps = feature_list(data, struct tally_data_pmu_caps, count);

	if (!caps)
		return -ENOMEM;
	data->info.pmu_caps = caps;
	for (uint32_t i = 0; i < count; i++) {
		int code = tally_feature_pairs(data, cursor, &caps[i].caps);

		if (code || cursor->failed)
			return code;
		caps[i].pmu = tally_feature_string(data, cursor);
		if (!caps[i].pmu)
			return feature_no_string(cursor);
		data->info.pmu_caps_count = i + 1;
	}
	return 0;
}

int tally_feature_hybrid_topology(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t count = cursor_count(cursor, 8);
	struct tally_data_hybrid *hybrids = feature_list(data, struct tally_data_hybrid, count);

	if (!hybrids)
		return -ENOMEM;
	data->info.hybrids = hybrids;
	for (uint32_t i = 0; i < count; i++) {
		hybrids[i].pmu = tally_feature_string(data, cursor);
		hybrids[i].cpus = hybrids[i].pmu ? tally_feature_string(data, cursor) : NULL;
		if (!hybrids[i].cpus)
			return feature_no_string(cursor);
		data->info.hybrid_count = i + 1;
	}
	return 0;
}

static int read_domain(struct tally_data *data, struct file_cursor *cursor, bool named,
		       struct tally_data_cpu_domain *ret)
{
	ret->domain = cursor_u32(cursor);
	if (named) {
		ret->name = tally_feature_string(data, cursor);
		if (!ret->name)
			return feature_no_string(cursor);
	}
	ret->cpu_mask = tally_feature_string(data, cursor);
	ret->cpus = ret->cpu_mask ? tally_feature_string(data, cursor) : NULL;
	return ret->cpus ? 0 : feature_no_string(cursor);
}

/* {u32 version of schedstat, u32 most domains, per CPU {u32 cpu, u32 n, n x {u32 domain, [name],
 * mask, list}}}.  The size of the section says how many CPUs there are. */
int tally_feature_cpu_domain_info(struct tally_data *data, struct file_cursor *cursor)
{
	struct tally_data_info *info = &data->info;
	struct tally_data_cpu_domain *domains;
	size_t most;

	info->schedstat_version = cursor_u32(cursor);
	info->domain_levels = cursor_u32(cursor);
	most = cursor_left(cursor) / 12;
	domains = feature_list(data, struct tally_data_cpu_domain, most);
	if (!domains)
		return -ENOMEM;
	info->cpu_domains = domains;
	while (cursor_left(cursor) >= 8 && !cursor->failed) {
		uint32_t cpu = cursor_u32(cursor), count = cursor_count(cursor, 12);

		for (uint32_t i = 0; i < count && info->cpu_domain_count < most; i++) {
			struct tally_data_cpu_domain *domain = &domains[info->cpu_domain_count];
			int code = read_domain(
			    data, cursor, info->schedstat_version >= SCHEDSTAT_WITH_NAMES, domain);

			if (code || cursor->failed)
				return code;
			domain->cpu = cpu;
			info->cpu_domain_count++;
		}
	}
	return 0;
}

static uint64_t branches_of(const struct tally_data_pmu_caps *pmu)
{
	for (size_t i = 0; i < pmu->caps.count; i++)
		if (!strcmp(pmu->caps.pair[i].key, "branches"))
			return strtoull(pmu->caps.pair[i].value, NULL, 10);
	return 0;
}

uint32_t tally_data_lbr_registers(const struct tally_data_info *info)
{
	uint64_t found = branches_of(&info->cpu_pmu_caps);

	for (size_t i = 0; i < info->pmu_caps_count && !found; i++)
		found = branches_of(&info->pmu_caps[i]);
	return found <= UINT16_MAX ? (uint32_t)found : 0;
}
