/* 16.4: a recorder of days holds what runs, not what has run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/abi.h>
#include "base/buf.h"
#include "stacks/live_spaces.h"
#include "stacks/short_lived.h"

#define SECOND    1000000000ULL
#define PROCESSES 5000U
#define SHELL     100U /* it starts the others, and stays */

struct scene {
	struct tally_live_spaces *spaces;
	struct tally_layout layout;
	struct tally_buf records; /* of the next feeding */
};

static void begin(struct scene *scene)
{
	const struct tally_live_spaces_options options = {.monotonic = true};
	const struct tally_attr attr = {.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1};

	*scene = (struct scene){.spaces = NULL};
	tally_layout_init(&scene->layout, &attr);
	assert_int_equal(tally_live_spaces_new(&options, &scene->spaces), 0);
}

static void end(struct scene *scene)
{
	tally_buf_done(&scene->records);
	tally_live_spaces_free(scene->spaces);
}

static void add(struct scene *scene, struct tally_body *body, uint64_t time)
{
	int size;

	body->size = sizeof(*body);
	body->id.time = time;
	size = tally_record_size(&scene->layout, body);
	assert_true(size > 0);
	assert_int_equal(tally_buf_reserve(&scene->records, (size_t)size), 0);
	assert_int_equal(tally_record_encode(&scene->layout, body,
					     scene->records.data + scene->records.size,
					     (size_t)size),
			 size);
	scene->records.size += (size_t)size;
}

static void map(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start, uint64_t ino,
		const char *path)
{
	struct tally_body body = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};

	body.mmap2 = (struct tally_record_mmap2){.pid = pid,
						 .tid = pid,
						 .addr = start,
						 .len = 0x1000,
						 .ino = ino,
						 .prot = PROT_READ | PROT_EXEC,
						 .filename = path};
	add(scene, &body, time);
}

/* The image at an address of a process: as a sample of it asks. */
static struct tally_image *image_at(struct scene *scene, uint64_t time, uint32_t pid,
				    uint64_t address)
{
	struct tally_live_space space;
	struct tally_image *image;
	uint64_t place;

	tally_live_space_of(scene->spaces, pid, pid, time, &space);
	assert_int_equal(tally_live_space_image(&space, address, &image, &place), 0);
	assert_int_equal(place, 0x10);
	return image;
}

static void feed_without(struct scene *scene, struct tally_short_lived *short_lived, size_t early)
{
	const struct tally_live_feed feed = {.layout = &scene->layout,
					     .records = scene->records.data,
					     .size = scene->records.size,
					     .short_lived = short_lived,
					     .early = early};

	assert_int_equal(tally_live_spaces_feed(scene->spaces, &feed), 0);
	tally_buf_clear(&scene->records);
	assert_in_range(tally_live_spaces_forget(scene->spaces), 0, 1);
}

static void feed(struct scene *scene)
{
	feed_without(scene, NULL, 0);
}

static void task(struct scene *scene, uint32_t type, uint64_t time, uint32_t pid, uint32_t ppid,
		 uint32_t tid)
{
	struct tally_body body = {.type = type};

	body.task = (struct tally_record_task){
	    .pid = pid, .ppid = ppid, .tid = tid, .ptid = ppid, .time = time};
	add(scene, &body, time);
}

/* A process that is forked, runs a program of its own with a name of its own, and ends. */
static void live(struct scene *scene, uint64_t time, uint32_t number)
{
	struct tally_body exec = {.type = PERF_RECORD_COMM};
	uint32_t pid = 1000 + number;
	char path[32], name[16];

	snprintf(path, sizeof(path), "/tmp/made/%u", number);
	snprintf(name, sizeof(name), "p%u", number);
	task(scene, PERF_RECORD_FORK, time, pid, SHELL, pid);
	exec.misc = PERF_RECORD_MISC_COMM_EXEC;
	exec.comm = (struct tally_record_comm){.pid = pid, .tid = pid, .comm = name};
	add(scene, &exec, time + 1000);
	map(scene, time + 2000, pid, 0x10000, 7000 + number, path);
	map(scene, time + 3000, pid, 0x20000, 5, "/lib/libc.so.6");
	task(scene, PERF_RECORD_EXIT, time + SECOND / 100, pid, SHELL, pid);
}

/* Ten processes a second. */
static void what_processes_had_that_ended_is_forgotten(void **state)
{
	struct scene scene;
	struct tally_live_held held;
	uint64_t time = 1000 * SECOND;
	struct tally_image *shell;

	(void)state;
	begin(&scene);
	map(&scene, time, SHELL, 0x10000, 4, "/bin/shell");
	feed(&scene);
	shell = image_at(&scene, time + 1, SHELL, 0x10010);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		time += SECOND / 10;
		live(&scene, time, i);
		feed(&scene);
		image_at(&scene, time + 5000, 1000 + i, 0x10010);
		image_at(&scene, time + 5000, 1000 + i, 0x20010);
		assert_ptr_equal(image_at(&scene, time + 5000, SHELL, 0x10010), shell);
		tally_live_spaces_held(scene.spaces, &held);
		assert_in_range(held.mappings, 2, 1024);
		assert_in_range(held.names, 3, 4096);
		/* What is not mapped, and what came since it was looked for that. */
		assert_in_range(held.images, 2, 600);
	}
	assert_int_equal(held.dumps, 0);
	end(&scene);
}

/* A storm: all within a second. */
static void images_that_nobody_maps_are_few_in_a_storm_too(void **state)
{
	struct scene scene;
	struct tally_live_held held;
	uint64_t time = 1000 * SECOND;
	struct tally_image *libc;

	(void)state;
	begin(&scene);
	map(&scene, time, SHELL, 0x10000, 5, "/lib/libc.so.6");
	feed(&scene);
	libc = image_at(&scene, time + 1, SHELL, 0x10010);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		time += SECOND / PROCESSES;
		live(&scene, time, i);
		feed(&scene);
		image_at(&scene, time + 5000, 1000 + i, 0x10010);
		assert_ptr_equal(image_at(&scene, time + 5000, 1000 + i, 0x20010), libc);
	}
	tally_live_spaces_held(scene.spaces, &held);
	assert_in_range(held.images, 1, 600);
	for (unsigned i = 1; i < 12; i++) {
		live(&scene, time + 15 * i * SECOND, PROCESSES + i);
		feed(&scene);
	}
	tally_live_spaces_held(scene.spaces, &held);
	assert_in_range(held.images, 1, 12);
	assert_ptr_equal(image_at(&scene, time + 165 * SECOND + 5000, SHELL, 0x10010), libc);
	end(&scene);
}

static size_t mappings(const struct scene *scene)
{
	struct tally_live_held held;

	tally_live_spaces_held(scene->spaces, &held);
	return held.mappings;
}

static void feed_sampled(struct scene *scene, uint32_t sampled, size_t early)
{
	struct tally_short_lived pids = {0};

	assert_int_equal(tally_short_lived_sampled(&pids, sampled), 0);
	feed_without(scene, &pids, early);
	tally_short_lived_done(&pids);
}

/* Each process has two mappings. */
static void processes_that_ended_without_a_sample_are_left_out(void **state)
{
	struct scene scene;
	uint64_t time = 1000 * SECOND;
	size_t early;

	(void)state;
	begin(&scene);
	map(&scene, time, SHELL, 0x10000, 4, "/bin/shell");
	feed(&scene);
	live(&scene, time + 1, 0);
	live(&scene, time + 2, 1);
	early = scene.records.size;
	live(&scene, time + 3, 2); /* its samples may come later */
	feed_sampled(&scene, 1001, early);
	assert_int_equal(mappings(&scene), 1 + 2 + 2);
	image_at(&scene, time + 5000, 1001, 0x10010);
	image_at(&scene, time + 5000, 1002, 0x10010);
	end(&scene);
}

/* 10 forks 11, maps more, and ends; 11, which has what 10 had then, goes on, or has a sample. */
static void what_another_process_began_with_is_kept(void **state)
{
	(void)state;
	for (unsigned ends = 0; ends < 2; ends++) {
		uint64_t time = 1000 * SECOND;
		struct scene scene;

		begin(&scene);
		task(&scene, PERF_RECORD_FORK, time, 10, SHELL, 10);
		map(&scene, time + 1, 10, 0x10000, 4, "/bin/first");
		task(&scene, PERF_RECORD_FORK, time + 2, 11, 10, 11);
		map(&scene, time + 3, 10, 0x20000, 5, "/bin/second");
		task(&scene, PERF_RECORD_EXIT, time + 4, 10, SHELL, 10);
		if (ends)
			task(&scene, PERF_RECORD_EXIT, time + 5, 11, 10, 11);
		feed_sampled(&scene, ends ? 11 : 1, scene.records.size);
		assert_int_equal(mappings(&scene), 2);
		image_at(&scene, time + 4, 11, 0x10010);
		/* And both are forgotten, as their ends are known: of the others none is yet. */
		for (unsigned i = 1; i < 4; i++) {
			live(&scene, time + 30 * i * SECOND, i);
			task(&scene, PERF_RECORD_EXIT, time + 30 * i * SECOND, 11, 10, 11);
			feed(&scene);
		}
		assert_int_equal(mappings(&scene), 3 * 2);
		end(&scene);
	}
}

/* A number that is given again, and a process of which a thread goes on. */
static void what_did_not_end_is_kept(void **state)
{
	struct scene scene;
	uint64_t time = 1000 * SECOND;

	(void)state;
	begin(&scene);
	live(&scene, time, 0);
	task(&scene, PERF_RECORD_FORK, time + SECOND / 50, 1000, SHELL, 1000);
	map(&scene, time + SECOND / 40, 1000, 0x30000, 8, "/bin/again");
	task(&scene, PERF_RECORD_FORK, time, 20, SHELL, 20);
	map(&scene, time + 1, 20, 0x10000, 4, "/bin/threads");
	task(&scene, PERF_RECORD_FORK, time + 2, 20, 20, 21);
	task(&scene, PERF_RECORD_EXIT, time + 3, 20, 20, 20);
	feed_sampled(&scene, 1, scene.records.size);
	image_at(&scene, time + SECOND / 30, 1000, 0x30010);
	image_at(&scene, time + 4, 20, 0x10010);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_processes_had_that_ended_is_forgotten),
	    cmocka_unit_test(images_that_nobody_maps_are_few_in_a_storm_too),
	    cmocka_unit_test(processes_that_ended_without_a_sample_are_left_out),
	    cmocka_unit_test(what_another_process_began_with_is_kept),
	    cmocka_unit_test(what_did_not_end_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
