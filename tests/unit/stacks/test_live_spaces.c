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

static void feed(struct scene *scene)
{
	assert_int_equal(tally_live_spaces_feed(scene->spaces, &scene->layout, scene->records.data,
						scene->records.size),
			 0);
	tally_buf_clear(&scene->records);
	assert_in_range(tally_live_spaces_forget(scene->spaces), 0, 1);
}

/* A process that is forked, runs a program of its own with a name of its own, and ends. */
static void live(struct scene *scene, uint64_t time, uint32_t number)
{
	struct tally_body fork = {.type = PERF_RECORD_FORK}, exec = {.type = PERF_RECORD_COMM};
	struct tally_body exit = {.type = PERF_RECORD_EXIT};
	uint32_t pid = 1000 + number;
	char path[32], name[16];

	snprintf(path, sizeof(path), "/tmp/made/%u", number);
	snprintf(name, sizeof(name), "p%u", number);
	fork.task = (struct tally_record_task){
	    .pid = pid, .ppid = SHELL, .tid = pid, .ptid = SHELL, .time = time};
	add(scene, &fork, time);
	exec.misc = PERF_RECORD_MISC_COMM_EXEC;
	exec.comm = (struct tally_record_comm){.pid = pid, .tid = pid, .comm = name};
	add(scene, &exec, time + 1000);
	map(scene, time + 2000, pid, 0x10000, 7000 + number, path);
	map(scene, time + 3000, pid, 0x20000, 5, "/lib/libc.so.6");
	exit.task = (struct tally_record_task){
	    .pid = pid, .ppid = SHELL, .tid = pid, .ptid = SHELL, .time = time + SECOND / 100};
	add(scene, &exit, time + SECOND / 100);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_processes_had_that_ended_is_forgotten),
	    cmocka_unit_test(images_that_nobody_maps_are_few_in_a_storm_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
