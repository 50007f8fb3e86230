/* A counter set with its counts. */
#ifndef TALLY_TESTS_COUNTER_SCENE_H
#define TALLY_TESTS_COUNTER_SCENE_H

#include "counting.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct scene {
	struct tally_event_list events;
	struct tally_counters *set;
	struct tally_count *counts;
	size_t places;
};

static inline void open_scene(struct scene *scene, const char *events,
			      struct tally_counters_options options)
{
	struct tally_error error = {0};

	*scene = (struct scene){.events = events_of(events)};
	options.size = sizeof(options);
	options.events = &scene->events;
	need_events(tally_counters_open(&options, &scene->set, &error), &error);
	scene->places = tally_counters_place_count(scene->set);
	assert_int_equal(tally_counters_event_count(scene->set), scene->events.count);
	scene->counts = calloc(scene->events.count * scene->places, sizeof(*scene->counts));
	assert_non_null(scene->counts);
}

static inline struct tally_count *count_at(const struct scene *scene, size_t event, size_t place)
{
	return &scene->counts[event * scene->places + place];
}

static inline uint64_t exact(const struct scene *scene, size_t event, size_t place)
{
	uint64_t value = 0;

	assert_int_equal(tally_count_exact(count_at(scene, event, place), &value), 0);
	return value;
}

static inline void read_scene(const struct scene *scene)
{
	assert_int_equal(tally_counters_read(scene->set, scene->counts), 0);
}

static inline void close_scene(struct scene *scene)
{
	tally_counters_close(scene->set);
	tally_event_list_done(&scene->events);
	free(scene->counts);
}

static const struct tally_counters_options self = {.no_inherit = true};

static inline struct tally_counters_place place_at(const struct tally_counters *set, size_t index)
{
	struct tally_counters_place place = {.size = sizeof(place)};

	assert_int_equal(tally_counters_place(set, index, &place), 0);
	return place;
}

static inline struct tally_counters_event event_at(const struct tally_counters *set, size_t index)
{
	struct tally_counters_event event = {.size = sizeof(event)};

	assert_int_equal(tally_counters_event(set, index, &event), 0);
	return event;
}

#endif
