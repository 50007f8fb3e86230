/* Walking the headers of a ring: what is counted, where it stops, records that wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "record/ring_walk.h"

#define FIELDS                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

struct scene {
	struct tally_walk walk;
	struct tally_build_ids ids;
	uint8_t joined[65536];
	struct tally_layout layout;
	uint64_t bytes[4096];
	size_t size;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct tally_attr attr = {.sample_type = FIELDS, .sample_id_all = 1};

	tally_build_ids_init(&scene->ids);
	tally_layout_init(&scene->layout, &attr);
	scene->walk.timed = true;
	scene->walk.time_at = (size_t)scene->layout.at[TALLY_FIXED_TIME];
	tally_layout_init(&scene->walk.sideband_layout, &attr);
	scene->walk.build_ids = &scene->ids;
	scene->walk.joined = scene->joined;
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	tally_build_ids_done(&scene->ids);
	free(scene->walk.mended);
	free(scene);
	return 0;
}

static void add(struct scene *scene, const struct tally_body *body)
{
	int size = tally_record_encode(&scene->layout, body, (uint8_t *)scene->bytes + scene->size,
				       sizeof(scene->bytes) - scene->size);

	assert_true(size > 0);
	scene->size += (size_t)size;
}

static void add_sample(struct scene *scene, uint64_t time)
{
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_SAMPLE,
				  .sample = {.present = FIELDS, .time = time}};

	add(scene, &body);
}

/* The bytes in two runs, cut at a multiple of 8. */
static struct tally_ring_bytes cut(const struct scene *scene, size_t at)
{
	const uint8_t *bytes = (const uint8_t *)scene->bytes;

	return (struct tally_ring_bytes){.first = bytes,
					 .first_size = at,
					 .second = bytes + at,
					 .second_size = scene->size - at};
}

static void add_mixed(struct scene *scene)
{
	struct tally_body lost = {
	    .size = sizeof(lost), .type = PERF_RECORD_LOST, .lost = {.id = 1, .lost = 17}};
	struct tally_body lost_samples = {.size = sizeof(lost_samples),
					  .type = PERF_RECORD_LOST_SAMPLES,
					  .lost_samples = {.lost = 4}};
	struct tally_body throttle = {.size = sizeof(throttle), .type = PERF_RECORD_THROTTLE};

	add_sample(scene, 500);
	add(scene, &lost);
	add_sample(scene, 600);
	add(scene, &throttle);
	add(scene, &lost_samples);
	add_sample(scene, 900);
}

static void test_counts(void **state)
{
	struct scene *scene = *state;

	add_mixed(scene);
	/* Wherever the ring's end cuts them, the counts are the same. */
	for (size_t at = 0; at <= scene->size; at += 8) {
		struct tally_ring_bytes bytes = cut(scene, at);

		scene->walk.counts = (struct tally_walk_counts){0};
		assert_int_equal(tally_walk_samples(&scene->walk, &bytes, 0, SIZE_MAX),
				 scene->size);
		assert_int_equal(scene->walk.counts.samples, 3);
		assert_int_equal(scene->walk.counts.lost, 21);
		assert_int_equal(scene->walk.counts.throttled, 1);
		assert_int_equal(scene->walk.counts.records, 6);
		assert_int_equal(scene->walk.counts.types[PERF_RECORD_SAMPLE], 3);
		assert_int_equal(scene->walk.counts.types[PERF_RECORD_LOST], 1);
		assert_int_equal(scene->walk.counts.types[PERF_RECORD_LOST_SAMPLES], 1);
		assert_int_equal(scene->walk.counts.types[PERF_RECORD_THROTTLE], 1);
		assert_int_equal(scene->walk.counts.first_time, 500);
		assert_int_equal(scene->walk.counts.last_time, 900);
	}
}

static void test_stops_at_records(void **state)
{
	struct scene *scene = *state;
	struct tally_ring_bytes bytes;
	size_t at = 0, steps = 0;

	add_mixed(scene);
	bytes = cut(scene, scene->size);
	while (at < scene->size) {
		at = tally_walk_samples(&scene->walk, &bytes, at, 1);
		steps++;
	}
	assert_int_equal(steps, 6); /* each call at least one record, and whole ones */
	assert_int_equal(scene->walk.counts.samples, 3);
}

static void test_stops_at_nonsense(void **state)
{
	static const uint16_t sizes[] = {0, 4, 12, 65528};
	struct scene *scene = *state;
	size_t good;

	add_mixed(scene);
	good = scene->size;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizes[i]};
		struct tally_ring_bytes bytes;

		memcpy((uint8_t *)scene->bytes + good, &header, sizeof(header));
		scene->size = good + 64;
		bytes = cut(scene, scene->size);
		assert_int_equal(tally_walk_samples(&scene->walk, &bytes, 0, SIZE_MAX), good);
		assert_int_equal(tally_walk_samples(&scene->walk, &bytes, good, SIZE_MAX), good);
		assert_int_equal(tally_walk_sideband(&scene->walk, &bytes, good, SIZE_MAX), good);
	}
}

static void test_sideband_notes_maps(void **state)
{
	struct scene *scene = *state;
	struct tally_body map = {
	    .size = sizeof(map),
	    .type = PERF_RECORD_MMAP2,
	    .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
	    .mmap2 = {.pid = 7,
		      .tid = 7,
		      .addr = 4096,
		      .len = 4096,
		      .build_id_size = 20,
		      .build_id = {1, 2, 3},
		      .filename = "/usr/bin/true"},
	};
	struct tally_body lost = {
	    .size = sizeof(lost), .type = PERF_RECORD_LOST, .lost = {.lost = 2}};

	add(scene, &map);
	add(scene, &lost);
	for (size_t at = 0; at <= scene->size; at += 8) {
		struct tally_ring_bytes bytes = cut(scene, at);

		assert_int_equal(tally_walk_sideband(&scene->walk, &bytes, 0, SIZE_MAX),
				 scene->size);
	}
	assert_int_equal(scene->ids.count, 1); /* one binary, however often it is mapped */
	assert_string_equal(scene->ids.names.text[0], "/usr/bin/true");
	assert_int_equal(scene->walk.counts.sideband_lost, scene->walk.counts.lost);
}

/* As Linux 6.18 writes them for the second of two recorders: a trailer's length too long, with
 * bytes of other records behind the trailer. */
static void test_mends_records_that_are_too_long(void **state)
{
	struct scene *scene = *state;
	size_t trailer = scene->walk.sideband_layout.trailer_size;
	struct tally_body bodies[] = {
	    {.size = sizeof(bodies[0]),
	     .type = PERF_RECORD_KSYMBOL,
	     .ksymbol =
		 {.addr = 4096, .len = 20, .ksym_type = 1, .name = "bpf_prog_59f4a931744dcdc6"}},
	    {.size = sizeof(bodies[0]),
	     .type = PERF_RECORD_BPF_EVENT,
	     .bpf_event = {.type = 1, .id = 104, .tag = {1, 2, 3}}},
	};

	assert_true(trailer >= 16);
	for (size_t i = 0; i < 2; i++) {
		uint8_t *bytes = (uint8_t *)scene->bytes, record[128];
		size_t exact;

		bodies[i].id = (struct tally_sample_id){
		    .present = FIELDS, .pid = 7, .tid = 8, .time = 777, .cpu = 1, .id = 5};
		scene->size = 0;
		add(scene, &bodies[i]);
		exact = scene->size;
		assert_true(exact <= sizeof(record));
		memcpy(record, bytes, exact);
		scene->size = exact + trailer;
		for (size_t at = 0; at <= scene->size; at += 8) { /* wherever it wraps */
			const struct tally_ring_bytes ring = cut(scene, at);
			const uint16_t size = (uint16_t)scene->size;
			const struct tally_ring_bytes *mended;
			struct tally_ring_bytes room;
			const uint8_t *now;
			size_t from, to;

			memcpy(bytes, record, exact);
			memset(bytes + exact, 0xee, trailer);
			memcpy(bytes + offsetof(struct perf_event_header, size), &size,
			       sizeof(size));
			assert_int_equal(tally_walk_sideband(&scene->walk, &ring, 0, SIZE_MAX),
					 size);
			from = 0;
			to = size;
			mended = tally_walk_mended(&scene->walk, &ring, &from, &to, &room);
			assert_true(mended == &room && mended->second_size == 0);
			assert_int_equal(to - from, size);
			now = mended->first + from;
			assert_memory_equal(now + 8, record + 8, exact - trailer - 8);
			assert_memory_equal(now + exact, record + exact - trailer, trailer);
			for (size_t j = exact - trailer; j < exact; j++)
				assert_int_equal(now[j], 0);
			/* What was mended, and what is as long as it should be, stays as it is. */
			assert_int_equal(tally_walk_sideband(&scene->walk, mended, 0, SIZE_MAX),
					 size);
			assert_true(tally_walk_mended(&scene->walk, mended, &from, &to, &room) ==
				    mended);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_stops_at_records, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_stops_at_nonsense, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_sideband_notes_maps, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_mends_records_that_are_too_long, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
