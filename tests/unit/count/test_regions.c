/* Regions: nested, inside themselves, in threads that end, left without an end. */
#include "counting.h"

#include <pthread.h>
#include <tally/region.h>

struct scene {
	struct tally_event_list events;
	struct tally_regions *regions;
	struct tally_count inclusive[8], exclusive[8];
	struct tally_region_result result;
};

static void open_scene(struct scene *scene, const char *events,
		       struct tally_regions_options options)
{
	struct tally_error error = {0};

	*scene = (struct scene){.events = events_of(events), .result.size = sizeof(scene->result)};
	options.size = sizeof(options);
	options.events = &scene->events;
	need_events(tally_regions_open(&options, &scene->regions, &error), &error);
}

static void close_scene(struct scene *scene)
{
	tally_regions_close(scene->regions);
	tally_event_list_done(&scene->events);
}

/* The exact counts of event 0, of a thread or of all. */
static void check(struct scene *scene, int region, size_t thread, uint64_t calls,
		  uint64_t inclusive, uint64_t exclusive)
{
	uint64_t value;

	assert_int_equal(tally_region_result(scene->regions, region, thread, &scene->result,
					     scene->inclusive, scene->exclusive),
			 0);
	assert_int_equal(scene->result.calls, calls);
	assert_int_equal(tally_count_exact(&scene->inclusive[0], &value), 0);
	assert_in_range(value, inclusive, inclusive + 60);
	assert_int_equal(tally_count_exact(&scene->exclusive[0], &value), 0);
	assert_in_range(value, exclusive, exclusive + 60);
}

static void one_inside_the_other(void **state)
{
	struct scene scene;
	int outer, inner;

	(void)state;
	open_scene(&scene, "{page-faults:u,task-clock:u},minor-faults:u",
		   (struct tally_regions_options){0});
	outer = tally_region(scene.regions, "outer");
	inner = tally_region(scene.regions, "inner");
	assert_int_equal(tally_region(scene.regions, "outer"), outer);
	assert_int_equal(tally_regions_count(scene.regions), 2);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tally_region_begin(scene.regions, outer), 0);
		touch_pages(100);
		for (int j = 0; j < 2; j++) {
			assert_int_equal(tally_region_begin(scene.regions, inner), 0);
			touch_pages(50);
			assert_int_equal(tally_region_end(scene.regions, inner), 0);
		}
		assert_int_equal(tally_region_end(scene.regions, outer), 0);
		touch_pages(30); /* nobody's */
	}
	check(&scene, outer, SIZE_MAX, 3, 600, 300);
	assert_string_equal(scene.result.name, "outer");
	assert_int_equal(scene.inclusive[0].quality, TALLY_COUNT_COUNTED);
	/* Another group, read by itself, saw the same. */
	assert_in_range(scene.inclusive[2].raw, 600, 660);
	assert_in_range(scene.exclusive[2].raw, 300, 360);
	assert_true(scene.inclusive[1].raw > scene.exclusive[1].raw);
	check(&scene, inner, SIZE_MAX, 6, 300, 300);
	assert_int_equal(tally_regions_thread_count(scene.regions), 1);
	check(&scene, inner, 0, 6, 300, 300);
	assert_int_equal(scene.result.tid, getpid());
	assert_int_equal(tally_region_result(scene.regions, inner, 1, &scene.result, NULL, NULL),
			 -EINVAL);
	assert_int_equal(tally_region_result(scene.regions, 2, 0, &scene.result, NULL, NULL),
			 -EINVAL);
	close_scene(&scene);
}

static void recurse(struct scene *scene, int region, int depth)
{
	assert_int_equal(tally_region_begin(scene->regions, region), 0);
	touch_pages(10);
	if (depth > 1)
		recurse(scene, region, depth - 1);
	assert_int_equal(tally_region_end(scene->regions, region), 0);
}

/* What is counted once by the outermost is not counted again by those inside. */
static void inside_itself(void **state)
{
	struct scene scene;
	int region;

	(void)state;
	open_scene(&scene, "page-faults:u", (struct tally_regions_options){0});
	region = tally_region(scene.regions, "recursive");
	recurse(&scene, region, 5);
	check(&scene, region, SIZE_MAX, 5, 50, 50);
	close_scene(&scene);
}

static void begins_without_ends(void **state)
{
	struct scene scene;
	int outer, inner, other;

	(void)state;
	open_scene(&scene, "page-faults:u",
		   (struct tally_regions_options){.depth = 3, .regions = 3});
	outer = tally_region(scene.regions, "outer");
	inner = tally_region(scene.regions, "inner");
	other = tally_region(scene.regions, "other");
	assert_int_equal(tally_region(scene.regions, "one more"), -ENOSPC);
	assert_int_equal(tally_region_end(scene.regions, outer), -ENOENT);
	assert_int_equal(tally_region_begin(scene.regions, 3), -EINVAL);
	assert_int_equal(tally_region_begin(scene.regions, -1), -EINVAL);
	assert_int_equal(tally_region_begin(scene.regions, outer), 0);
	assert_int_equal(tally_region_begin(scene.regions, inner), 0);
	touch_pages(20);
	assert_int_equal(tally_region_end(scene.regions, other), -ENOENT);
	assert_int_equal(tally_region_end(scene.regions, outer), 0);
	assert_int_equal(tally_region_end(scene.regions, inner), -ENOENT);
	check(&scene, outer, SIZE_MAX, 1, 20, 20);
	check(&scene, inner, SIZE_MAX, 0, 0, 0);
	assert_int_equal(scene.result.dropped, 1);
	/* Deeper than there is room: not counted, and the ends find their begins. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(tally_region_begin(scene.regions, other), 0);
	assert_int_equal(tally_region_begin(scene.regions, other), -EOVERFLOW);
	assert_int_equal(tally_region_end(scene.regions, other), -EOVERFLOW);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tally_region_end(scene.regions, other), 0);
	assert_int_equal(tally_region_end(scene.regions, other), -ENOENT);
	close_scene(&scene);
}

struct worker {
	struct tally_regions *regions;
	int region;
	size_t pages, times;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;

	for (size_t i = 0; i < worker->times; i++) {
		if (tally_region_begin(worker->regions, worker->region))
			return NULL;
		touch_pages(worker->pages);
		tally_region_end(worker->regions, worker->region);
	}
	return NULL;
}

/* Each thread counts its own, and what it counted stays when it ends. */
static void threads_that_end(void **state)
{
	struct worker workers[8];
	pthread_t threads[8];
	struct scene scene;
	int region, seen = 0;

	(void)state;
	open_scene(&scene, "page-faults:u", (struct tally_regions_options){.threads = 5});
	region = tally_region(scene.regions, "work");
	for (size_t i = 0; i < 8; i++) {
		workers[i] = (struct worker){scene.regions, region, 10 * (i + 1), 10};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
		pthread_join(threads[i], NULL);
	}
	assert_int_equal(tally_regions_thread_count(scene.regions), 5);
	/* The first five are kept apart, but for those that came later, in the first's place. */
	for (size_t i = 1; i < 5; i++) {
		check(&scene, region, i, 10, 100 * (i + 1), 100 * (i + 1));
		seen += scene.result.tid != 0;
	}
	assert_int_equal(seen, 4);
	check(&scene, region, 0, 40, 100 + 600 + 700 + 800, 100 + 600 + 700 + 800);
	assert_int_equal(scene.result.tid, 0);
	check(&scene, region, SIZE_MAX, 80, 3600, 3600);
	assert_int_equal(scene.inclusive[0].missing, 0);
	close_scene(&scene);
}

struct endless {
	struct tally_regions *regions;
	int region;
	bool stop;
};

static void *work_on(void *argument)
{
	struct endless *endless = argument;

	while (!__atomic_load_n(&endless->stop, __ATOMIC_RELAXED)) {
		tally_region_begin(endless->regions, endless->region);
		tally_region_end(endless->regions, endless->region);
	}
	return NULL;
}

/* Results are whole while their threads go on: two events that always count the same agree. */
static void results_meanwhile(void **state)
{
	struct endless endless = {0};
	pthread_t threads[2];
	struct scene scene;
	uint64_t before = 0;

	(void)state;
	open_scene(&scene, "{task-clock:u,task-clock:u}", (struct tally_regions_options){0});
	endless.regions = scene.regions;
	endless.region = tally_region(scene.regions, "spin");
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work_on, &endless), 0);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(tally_region_result(scene.regions, endless.region, SIZE_MAX,
						     &scene.result, scene.inclusive,
						     scene.exclusive),
				 0);
		assert_true(scene.result.calls >= before);
		before = scene.result.calls;
		/* Not nested: inside and outside are the same, in each moment. */
		assert_int_equal(scene.inclusive[0].raw, scene.exclusive[0].raw);
		assert_int_equal(scene.inclusive[1].raw, scene.exclusive[1].raw);
		assert_int_equal(scene.inclusive[0].time_enabled, scene.inclusive[1].time_enabled);
	}
	__atomic_store_n(&endless.stop, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	close_scene(&scene);
}

static void events_that_are_not_there(void **state)
{
	struct tally_regions_options options = {.size = sizeof(options)};
	struct tally_event_list events = events_of("page-faults:u,dummy:u");
	struct scene scene = {.result.size = sizeof(scene.result)};
	struct tally_error error;
	int region;

	(void)state;
	events.events[1].attr.type = 0x7ffffff0;
	options.events = &events;
	need_events(tally_regions_open(&options, &scene.regions, &error), &error);
	region = tally_region(scene.regions, "work");
	assert_int_equal(tally_region_begin(scene.regions, region), 0);
	touch_pages(10);
	assert_int_equal(tally_region_end(scene.regions, region), 0);
	check(&scene, region, SIZE_MAX, 1, 10, 10);
	assert_int_equal(scene.inclusive[1].quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_int_equal(tally_regions_why(scene.regions, 1, &error), -ENOENT);
	assert_false(tally_regions_direct(scene.regions)); /* software is on no hardware */
	tally_regions_close(scene.regions);
	tally_event_list_done(&events);

	events = events_of("duration_time");
	options.events = &events;
	assert_int_equal(tally_regions_open(&options, &scene.regions, &error), -EINVAL);
	tally_event_list_done(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_inside_the_other), cmocka_unit_test(inside_itself),
	    cmocka_unit_test(begins_without_ends),  cmocka_unit_test(threads_that_end),
	    cmocka_unit_test(results_meanwhile),    cmocka_unit_test(events_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
