#include "base/buf.h"
#include "info/info_json.h"

static void add_strings(struct json *json, const char *key,
			const struct tally_data_strings *strings)
{
	json_key(json, key);
	json_array(json);
	for (size_t i = 0; i < strings->count; i++)
		json_text(json, strings->text[i]);
	json_array_end(json);
}

static void add_topology(struct json *json, const struct tally_data_topology *topology)
{
	add_strings(json, "sockets", &topology->sockets);
	add_strings(json, "dies", &topology->dies);
	add_strings(json, "threads", &topology->threads);
	json_key(json, "cpus");
	json_array(json);
	for (size_t i = 0; i < topology->cpu_count; i++) {
		json_object(json);
		json_key_u64(json, "core", topology->cpus[i].core);
		json_key_u64(json, "socket", topology->cpus[i].socket);
		if (topology->has_dies)
			json_key_u64(json, "die", topology->cpus[i].die);
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_caches(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "caches");
	json_array(json);
	for (size_t i = 0; i < info->cache_count; i++) {
		const struct tally_data_cache *cache = &info->caches[i];

		json_object(json);
		json_key_u64(json, "level", cache->level);
		json_key_string(json, "type", cache->type);
		json_key_string(json, "size", cache->size);
		json_key_u64(json, "line", cache->line_size);
		json_key_u64(json, "sets", cache->sets);
		json_key_u64(json, "ways", cache->ways);
		json_key_string(json, "cpus", cache->cpus);
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_memory(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "numa_nodes");
	json_array(json);
	for (size_t i = 0; i < info->numa_node_count; i++) {
		const struct tally_data_numa_node *node = &info->numa_nodes[i];

		json_object(json);
		json_key_u64(json, "node", node->node);
		json_key_u64(json, "total_kb", node->total_kb);
		json_key_u64(json, "free_kb", node->free_kb);
		json_key_string(json, "cpus", node->cpus);
		json_object_end(json);
	}
	json_array_end(json);
}

void tally_info_pairs_json(struct json *json, const struct tally_data_pairs *pairs)
{
	json_object(json);
	for (size_t i = 0; i < pairs->count; i++) {
		json_key_text(json, pairs->pair[i].key);
		json_text(json, pairs->pair[i].value);
	}
	json_object_end(json);
}

static void add_caps(struct json *json, const struct tally_data_pmu_caps *caps)
{
	json_object(json);
	json_key_string(json, "pmu", caps->pmu);
	json_key(json, "caps");
	tally_info_pairs_json(json, &caps->caps);
	json_object_end(json);
}

static void add_pmus(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "pmus");
	json_array(json);
	for (size_t i = 0; i < info->pmu_count; i++) {
		json_object(json);
		json_key_u64(json, "type", info->pmus[i].type);
		json_key_string(json, "name", info->pmus[i].name);
		json_object_end(json);
	}
	json_array_end(json);
	json_key(json, "pmu_caps");
	json_array(json);
	if (info->cpu_pmu_caps.caps.count)
		add_caps(json, &info->cpu_pmu_caps);
	for (size_t i = 0; i < info->pmu_caps_count; i++)
		add_caps(json, &info->pmu_caps[i]);
	json_array_end(json);
	json_key(json, "hybrid_pmus");
	json_array(json);
	for (size_t i = 0; i < info->hybrid_count; i++) {
		json_object(json);
		json_key_string(json, "pmu", info->hybrids[i].pmu);
		json_key_string(json, "cpus", info->hybrids[i].cpus);
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_domains(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "scheduler_domains");
	json_array(json);
	for (size_t i = 0; i < info->cpu_domain_count; i++) {
		const struct tally_data_cpu_domain *domain = &info->cpu_domains[i];

		json_object(json);
		json_key_u64(json, "cpu", domain->cpu);
		json_key_u64(json, "domain", domain->domain);
		json_key_string(json, "name", domain->name);
		json_key_string(json, "cpus", domain->cpus);
		json_object_end(json);
	}
	json_array_end(json);
}

void tally_info_machine_json(struct json *json, const struct tally_data_info *info)
{
	json_key_string(json, "hostname", info->hostname);
	json_key_string(json, "os_release", info->os_release);
	json_key_string(json, "arch", info->arch);
	json_key_string(json, "cpu", info->cpu_desc);
	json_key_string(json, "cpuid", info->cpuid);
	json_key_u64(json, "cpus_available", info->cpus_available);
	json_key_u64(json, "cpus_online", info->cpus_online);
	json_key_u64(json, "memory_kb", info->total_mem_kb);
	if (info->has_e_machine) {
		json_key_u64(json, "e_machine", info->e_machine);
		json_key_u64(json, "e_flags", info->e_flags);
	}
	if (info->cache_line_size)
		json_key_u64(json, "cache_line", info->cache_line_size);
	json_key(json, "topology");
	json_object(json);
	add_topology(json, &info->topology);
	json_object_end(json);
	add_caches(json, info);
	add_memory(json, info);
	add_pmus(json, info);
	add_domains(json, info);
}

static void add_build_ids(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "build_ids");
	json_array(json);
	for (size_t i = 0; i < info->build_id_count; i++) {
		const struct tally_data_build_id *build_id = &info->build_ids[i];
		char hex[2 * sizeof(build_id->id)];

		for (size_t k = 0; k < build_id->size; k++)
			put_hex_fixed(hex + 2 * k, build_id->id[k], 2);
		json_object(json);
		json_key(json, "id");
		json_string(json, hex, 2 * (size_t)build_id->size);
		json_key_string(json, "file", build_id->filename);
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_bpf(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "bpf_programs");
	json_array(json);
	for (size_t i = 0; i < info->bpf_program_count; i++) {
		const struct tally_data_bpf_program *program = &info->bpf_programs[i];

		json_object(json);
		json_key_u64(json, "id", program->id);
		json_key_string(json, "name", program->name);
		json_key_u64(json, "btf", program->btf_id);
		json_key(json, "functions");
		json_array(json);
		for (size_t k = 0; k < program->function_count; k++) {
			json_object(json);
			json_key_string(json, "name", program->functions[k].name);
			json_key(json, "address");
			json_hex(json, program->functions[k].address);
			json_key_u64(json, "size", program->functions[k].size);
			json_object_end(json);
		}
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
}

void tally_info_programs_json(struct json *json, const struct tally_data_info *info)
{
	add_build_ids(json, info);
	add_bpf(json, info);
	json_key(json, "files");
	json_array(json);
	for (size_t i = 0; i < info->file_count; i++) {
		json_object(json);
		json_key_string(json, "path", info->files[i].path);
		json_key_u64(json, "symbols", info->files[i].symbol_count);
		json_object_end(json);
	}
	json_array_end(json);
}
