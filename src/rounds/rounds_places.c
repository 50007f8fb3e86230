#include "rounds/rounds_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>

#define THREADS_MOST  4000000
#define CPUS_MOST     ((size_t)UINT16_MAX * 64 + 2) /* a mask of UINT16_MAX words of 64 bits */
#define ANY_CPU       UINT16_MAX                    /* in a list */
#define CPU_MAP_LIST  0
#define CPU_MAP_MASK  1
#define CPU_MAP_RANGE 2

void tally_rounds_places_done(struct rounds_places *places)
{
	free(places->threads);
	free(places->cpus);
	free(places->places);
}

int tally_rounds_take_threads(struct rounds_places *places,
			      const struct tally_record_thread_map *map)
{
	if (places->threads || map->nr > THREADS_MOST)
		return 0;
	places->threads = calloc(map->nr + 1, sizeof(*places->threads));
	if (!places->threads)
		return -ENOMEM;
	for (size_t i = 0; i < map->nr; i++) {
		places->threads[i] = map->entries[i];
		places->threads[i].comm[sizeof(places->threads[i].comm) - 1] = 0;
	}
	places->thread_count = map->nr;
	return 0;
}

static void add_cpu(struct rounds_places *places, int32_t cpu)
{
	places->cpus[places->cpu_count++] = cpu;
}

static uint64_t word_of(const struct tally_record_cpu_map *map, size_t index)
{
	uint64_t wide = 0;
	uint32_t narrow;

	if (map->long_size == 8) {
		memcpy(&wide, map->data + index * 8, 8);
		return wide;
	}
	memcpy(&narrow, map->data + index * 4, 4);
	return narrow;
}

static void take_list(struct rounds_places *places, const struct tally_record_cpu_map *map)
{
	for (size_t i = 0; i < map->nr; i++) {
		uint16_t cpu;

		memcpy(&cpu, map->data + i * 2, 2);
		add_cpu(places, cpu == ANY_CPU ? -1 : cpu);
	}
}

static void take_mask(struct rounds_places *places, const struct tally_record_cpu_map *map)
{
	size_t bits = map->long_size == 8 ? 64 : 32;

	for (size_t i = 0; i < map->nr * bits; i++)
		if (word_of(map, i / bits) >> i % bits & 1)
			add_cpu(places, (int32_t)i);
}

int tally_rounds_take_cpus(struct rounds_places *places, const struct tally_record_cpu_map *map)
{
	if (places->cpus)
		return 0;
	places->cpus = calloc(CPUS_MOST, sizeof(*places->cpus));
	if (!places->cpus)
		return -ENOMEM;
	if (map->type == CPU_MAP_LIST)
		take_list(places, map);
	else if (map->type == CPU_MAP_MASK)
		take_mask(places, map);
	else if (map->type == CPU_MAP_RANGE)
		for (uint32_t cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
			add_cpu(places, (int32_t)cpu);
	if (map->any_cpu && !places->cpu_count)
		add_cpu(places, -1);
	return 0;
}

static int32_t node_of(const struct tally_data_info *info, int32_t cpu)
{
	for (size_t i = 0; i < info->numa_node_count; i++) {
		uint32_t *cpus;
		size_t count;
		bool there = false;

		if (!info->numa_nodes[i].cpus ||
		    tally_text_cpu_list(info->numa_nodes[i].cpus, &cpus, &count))
			continue;
		for (size_t j = 0; j < count; j++)
			there |= (int32_t)cpus[j] == cpu;
		free(cpus);
		if (there)
			return (int32_t)info->numa_nodes[i].node;
	}
	return 0;
}

static struct tally_stat_place place_of(const struct tally_data_info *info,
					const struct tally_thread_map_entry *thread, int32_t cpu)
{
	const struct tally_data_topology *topology = &info->topology;
	struct tally_stat_place place = {
	    .cpu = cpu,
	    .tid = (int32_t)thread->pid,
	    .socket = -1,
	    .die = -1,
	    .cluster = -1,
	    .cache = -1,
	    .core = -1,
	    .node = -1,
	    .comm = thread->comm,
	};

	if (cpu < 0)
		return place;
	if ((size_t)cpu < topology->cpu_count) {
		place.socket = (int32_t)topology->cpus[cpu].socket;
		place.die = (int32_t)topology->cpus[cpu].die;
		place.core = (int32_t)topology->cpus[cpu].core;
	}
	place.node = node_of(info, cpu);
	return place;
}

int tally_rounds_make_places(struct rounds_places *places, const struct tally_data_info *info,
			     size_t most)
{
	size_t count = places->thread_count * places->cpu_count;

	if (!count)
		return -ENODATA;
	if (count > most)
		return -E2BIG;
	places->places = calloc(count, sizeof(*places->places));
	if (!places->places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		places->places[i] = place_of(info, &places->threads[i / places->cpu_count],
					     places->cpus[i % places->cpu_count]);
	return 0;
}

size_t tally_rounds_find_place(const struct rounds_places *places, uint32_t thread, int32_t cpu)
{
	size_t at = 0;

	while (at < places->cpu_count && places->cpus[at] != cpu)
		at++;
	if (at == places->cpu_count || thread >= places->thread_count)
		return SIZE_MAX;
	return thread * places->cpu_count + at;
}
