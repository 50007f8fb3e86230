/* Where a recording's events were counted: its threads and CPUs. */
#ifndef TALLY_ROUNDS_PLACES_H
#define TALLY_ROUNDS_PLACES_H

#include <tally/data.h>
#include <tally/record.h>
#include <tally/stat.h>

struct rounds_places {
	struct tally_thread_map_entry *threads; /* NULL: unknown yet */
	size_t thread_count;
	int32_t *cpus; /* NULL: unknown yet; -1: any, of counts of tasks */
	size_t cpu_count;
	struct tally_stat_place *places; /* [thread][cpu]; NULL: not made yet */
};

void tally_rounds_places_done(struct rounds_places *places);

/* Takes the first of these records; others are ignored.  0 or -ENOMEM. */
int tally_rounds_take_threads(struct rounds_places *places,
			      const struct tally_record_thread_map *map);
int tally_rounds_take_cpus(struct rounds_places *places, const struct tally_record_cpu_map *map);

/* Makes places->places, once both are known.  0; -ENODATA: they are not; -E2BIG: there are more
 * than `most`; -ENOMEM. */
int tally_rounds_make_places(struct rounds_places *places, const struct tally_data_info *info,
			     size_t most);

/* The index of a place; SIZE_MAX: there is none. */
size_t tally_rounds_find_place(const struct rounds_places *places, uint32_t thread, int32_t cpu);

#endif
