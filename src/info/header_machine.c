/* The machine that recorded, in perf's words.  Source of the lines: the output of perf 6.1. */
#include "info/header_lines.h"

#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/bits.h"
#include "base/digits.h"

#define NODES_MOST                                                                                \
	1024             /* NUMA nodes of the largest kernels; lists of more are not put in order \
			  */
#define MAP_TEXT_MOST 99 /* characters that perf shows of the list of a node's memory blocks */

static void add_strings(struct tally_buf *to, const char *what,
			const struct tally_data_strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		tally_header_line(to, what, strings->text[i]);
}

static void add_topology(struct tally_buf *to, const struct tally_data_topology *topology)
{
	bool dies = topology->dies.count;

	add_strings(to, "sibling sockets", &topology->sockets);
	add_strings(to, "sibling dies   ", &topology->dies);
	add_strings(to, "sibling threads", &topology->threads);
	if (!topology->cpus)
		tally_buf_text(to, dies ? "# Core ID, Die ID and Socket ID information is not "
					  "available\n"
					: "# Core ID and Socket ID information is not available\n");
	for (size_t i = 0; i < topology->cpu_count; i++) {
		const struct tally_data_cpu *cpu = &topology->cpus[i];

		tally_buf_printf(to, "# CPU %zu: Core ID %d, ", i, (int)cpu->core);
		if (dies)
			tally_buf_printf(to, "Die ID %d, ", (int)cpu->die);
		tally_buf_printf(to, "Socket ID %d\n", (int)cpu->socket);
	}
}

static void add_range(struct tally_buf *to, uint64_t first, uint64_t last)
{
	buf_dec(to, first);
	if (last > first) {
		tally_buf_byte(to, '-');
		buf_dec(to, last);
	}
}

/* A list of CPUs as perf writes it again: ascending, in ranges; none are "-1". */
static void add_cpu_list(struct tally_buf *to, const char *text)
{
	uint32_t *cpus = NULL;
	size_t count = 0;

	if (tally_text_cpu_list(text, &cpus, &count)) {
		tally_buf_text(to, text);
		return;
	}
	if (!count)
		tally_buf_text(to, "-1");
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && cpus[next] == cpus[next - 1] + 1; next++)
			;
		if (i)
			tally_buf_byte(to, ',');
		add_range(to, cpus[i], cpus[next - 1]);
	}
	free(cpus);
}

static void add_numa(struct tally_buf *to, const struct tally_data_info *info)
{
	for (size_t i = 0; i < info->numa_node_count; i++) {
		const struct tally_data_numa_node *node = &info->numa_nodes[i];

		tally_buf_printf(to,
				 "# node%u meminfo  : total = %llu kB, free = %llu kB\n"
				 "# node%u cpu list : ",
				 node->node, (unsigned long long)node->total_kb,
				 (unsigned long long)node->free_kb, node->node);
		if (i < NODES_MOST)
			add_cpu_list(to, node->cpus);
		else
			tally_buf_text(to, node->cpus);
		tally_buf_byte(to, '\n');
	}
}

static void add_caches(struct tally_buf *to, const struct tally_data_info *info)
{
	tally_buf_text(to, "# CPU cache info:\n");
	for (size_t i = 0; i < info->cache_count; i++) {
		const struct tally_data_cache *cache = &info->caches[i];

		tally_buf_printf(to, "#  L%d ", (int)cache->level);
		tally_buf_text(to, cache->type);
		for (size_t length = strlen(cache->type); length < 15; length++)
			tally_buf_byte(to, ' ');
		tally_buf_byte(to, ' ');
		for (size_t length = strlen(cache->size); length < 8; length++)
			tally_buf_byte(to, ' ');
		tally_buf_text(to, cache->size);
		tally_buf_text(to, " [");
		tally_buf_text(to, cache->cpus);
		tally_buf_text(to, "]\n");
	}
}

static bool is_set(const struct tally_data_memory_node *node, uint64_t bit)
{
	return bit < node->block_count && bits_has(node->blocks, bit);
}

static void add_blocks(struct tally_buf *to, const struct tally_data_memory_node *node)
{
	size_t start = to->size;
	uint64_t bit = 0;

	while (bit < node->block_count && to->size - start <= MAP_TEXT_MOST && !to->failed) {
		uint64_t first = bit;

		if (bit % 64 == 0 && !node->blocks[bit / 64]) {
			bit += 64;
			continue;
		}
		while (is_set(node, bit))
			bit++;
		if (bit == first) {
			bit++;
			continue;
		}
		if (to->size != start)
			tally_buf_byte(to, ',');
		add_range(to, first, bit - 1);
	}
	if (to->size - start > MAP_TEXT_MOST)
		to->size = start + MAP_TEXT_MOST;
}

/* As in perf: a unit is used from two of it on. */
static void add_size(struct tally_buf *to, uint64_t size)
{
	const char *unit = "BKMG";

	for (; size / 1024 > 1 && unit[1]; unit++)
		size /= 1024;
	buf_dec(to, size);
	tally_buf_byte(to, (uint8_t)*unit);
}

static void add_memory(struct tally_buf *to, const struct tally_data_info *info)
{
	tally_buf_printf(to, "# memory nodes (nr %d, block size 0x%llx):\n",
			 (int)info->memory_node_count, (unsigned long long)info->memory_block_size);
	for (size_t i = 0; i < info->memory_node_count; i++) {
		const struct tally_data_memory_node *node = &info->memory_nodes[i];
		uint64_t blocks = 0;

		for (uint64_t k = 0; k < node->block_count / 64; k++)
			blocks += (uint64_t)__builtin_popcountll(node->blocks[k]);
		for (uint64_t bit = node->block_count / 64 * 64; bit < node->block_count; bit++)
			blocks += is_set(node, bit);
		tally_buf_printf(to, "#  %3llu [", (unsigned long long)node->node);
		add_size(to, info->memory_block_size * blocks);
		tally_buf_text(to, "]: ");
		add_blocks(to, node);
		tally_buf_byte(to, '\n');
	}
}

static void add_pmus(struct tally_buf *to, const struct tally_data_info *info)
{
	if (!info->pmu_count)
		tally_buf_text(to, "# pmu mappings: not available");
	for (size_t i = 0; i < info->pmu_count; i++) {
		tally_buf_text(to, i ? ", " : "# pmu mappings: ");
		tally_buf_text(to, info->pmus[i].name);
		tally_buf_printf(to, " = %u", info->pmus[i].type);
	}
	tally_buf_byte(to, '\n');
}

static void add_caps(struct tally_buf *to, const struct tally_data_pmu_caps *caps)
{
	tally_buf_text(to, "# ");
	tally_buf_text(to, caps->pmu);
	tally_buf_text(to, " pmu capabilities: ");
	if (!caps->caps.count)
		tally_buf_text(to, "not available");
	for (size_t i = 0; i < caps->caps.count; i++) {
		if (i)
			tally_buf_text(to, ", ");
		tally_buf_text(to, caps->caps.pair[i].key);
		tally_buf_byte(to, '=');
		tally_buf_text(to, caps->caps.pair[i].value);
	}
	tally_buf_byte(to, '\n');
}

static void add_hybrids(struct tally_buf *to, const struct tally_data_info *info)
{
	tally_buf_text(to, "# hybrid cpu system:\n");
	for (size_t i = 0; i < info->hybrid_count; i++) {
		tally_buf_text(to, "# ");
		tally_buf_text(to, info->hybrids[i].pmu);
		tally_buf_text(to, " cpu list : ");
		tally_buf_text(to, info->hybrids[i].cpus);
		tally_buf_byte(to, '\n');
	}
}

/* Source: the lines of perf 7.0.  A CPU's domains stand together in the section. */
static void add_domains(struct tally_buf *to, const struct tally_data_info *info)
{
	const struct tally_data_cpu_domain *list = info->cpu_domains;

	tally_buf_printf(to, "# schedstat version\t: %u\n# Maximum sched domains\t: %u\n",
			 info->schedstat_version, info->domain_levels);
	for (size_t i = 0; i < info->cpu_domain_count; i++) {
		if (!i || list[i].cpu != list[i - 1].cpu) {
			size_t end = i;

			while (end < info->cpu_domain_count && list[end].cpu == list[i].cpu)
				end++;
			tally_buf_printf(to, "# cpu\t\t: %u\n# nr_domains\t: %zu\n", list[i].cpu,
					 end - i);
		}
		tally_buf_printf(to, "# Domain\t\t: %u\n", list[i].domain);
		if (list[i].name)
			tally_buf_printf(to, "# Domain name      : %s\n", list[i].name);
		tally_buf_printf(to, "# Domain cpu map   : %s\n# Domain cpu list  : %s\n",
				 list[i].cpu_mask, list[i].cpus);
	}
}

void tally_header_machine_lines(struct tally_buf *to, const struct tally_data_info *info,
				unsigned feature)
{
	switch (feature) {
	case TALLY_FEATURE_CPU_TOPOLOGY:
		add_topology(to, &info->topology);
		break;
	case TALLY_FEATURE_NUMA_TOPOLOGY:
		add_numa(to, info);
		break;
	case TALLY_FEATURE_CACHE:
		add_caches(to, info);
		break;
	case TALLY_FEATURE_MEM_TOPOLOGY:
		add_memory(to, info);
		break;
	case TALLY_FEATURE_PMU_MAPPINGS:
		add_pmus(to, info);
		break;
	case TALLY_FEATURE_CPU_PMU_CAPS:
		add_caps(to, &info->cpu_pmu_caps);
		break;
	case TALLY_FEATURE_PMU_CAPS:
		for (size_t i = 0; i < info->pmu_caps_count; i++)
			add_caps(to, &info->pmu_caps[i]);
		break;
	case TALLY_FEATURE_HYBRID_TOPOLOGY:
		add_hybrids(to, info);
		break;
	case TALLY_FEATURE_CPU_DOMAIN_INFO:
		add_domains(to, info);
		break;
	/* Our own text: perf 6.1 does not print these two. */
	case TALLY_FEATURE_E_MACHINE:
		tally_buf_printf(to, "# e_machine : %u, e_flags : %u\n", info->e_machine,
				 info->e_flags);
		break;
	case TALLY_FEATURE_CLN_SIZE:
		tally_buf_printf(to, "# cache line size : %u\n", info->cache_line_size);
		break;
	default:
		break;
	}
}
