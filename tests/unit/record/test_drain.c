/* Rings into the file by one thread and by several: real rings of this kernel, read back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>
#include <tally/abi.h>
#include <tally/data.h>
#include <tally/fd.h>
#include <tally/limits.h>
#include <tally/open.h>
#include <tally/ring.h>
#include "record/drain.h"

/* As if the machine had so many CPUs: each has its own thread that is recorded, and its rings. */
#define CPUS 4

struct scene {
	char folder[64], path[96];
	struct tally_limits limits;
	struct tally_targets targets;
	struct tally_planned planned[2];
	struct tally_plan plan;
	struct tally_openset set;
	struct tally_build_ids ids;
	struct tally_writer *writer;
	struct tally_drain drain;
};

static struct tally_ring *open_ring(struct scene *scene, size_t event, size_t pages, int *ret_fd)
{
	struct tally_ring_options options = {.size = sizeof(options), .pages = pages};
	struct tally_open_target target = {.pid = 0, .cpu = -1, .group_fd = -1};
	struct tally_ring *ring;
	uint64_t id = 0;
	int fd = tally_open(&scene->planned[event].attr, &target, &scene->limits, NULL);

	if (fd < 0 || tally_fd_id(fd, &id)) {
		print_message("skipped: events cannot be opened here\n");
		skip();
	}
	scene->planned[event].ids = realloc(scene->planned[event].ids, CPUS * sizeof(uint64_t));
	assert_non_null(scene->planned[event].ids);
	scene->planned[event].ids[scene->planned[event].id_count++] = id;
	*ret_fd = fd;
	assert_int_equal(tally_ring_open(fd, &options, &scene->limits, &ring, NULL), 0);
	return ring;
}

/* Page faults, each of which the kernel makes a sample of for every sample ring.  A sanitizer's
 * shadow would have faults of its own. */
__attribute__((no_sanitize("thread", "address"))) static void fault(size_t times)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = times * page;
	uint8_t *room;

	if (!times)
		return;
	room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(room != MAP_FAILED);
	madvise(room, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < times; i++)
		*(volatile uint8_t *)(room + i * page) = 1;
	munmap(room, size);
}

static void begin(struct scene *scene, size_t pages)
{
	struct tally_writer_event events[2] = {0};

	for (size_t i = 0; i < CPUS; i++)
		for (size_t kind = 0; kind < TALLY_RING_KINDS; kind++)
			scene->set.rings[i * TALLY_RING_KINDS + kind] = open_ring(
			    scene, kind, pages, &scene->set.fds[i * TALLY_RING_KINDS + kind]);
	for (size_t i = 0; i < 2; i++)
		events[i] = (struct tally_writer_event){.attr = scene->planned[i].attr,
							.name = scene->planned[i].name,
							.ids = scene->planned[i].ids,
							.id_count = scene->planned[i].id_count,
							.leader = (uint32_t)i};
	assert_int_equal(tally_writer_open(scene->path, events, 2, NULL, &scene->writer, NULL), 0);
	assert_int_equal(tally_drain_init(&scene->drain, &scene->set, scene->writer, &scene->ids),
			 0);
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const uint64_t fields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	snprintf(scene->folder, sizeof(scene->folder), "/tmp/test-drain-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	snprintf(scene->path, sizeof(scene->path), "%s/d.data", scene->folder);
	scene->limits.size = sizeof(scene->limits);
	tally_limits_read(NULL, &scene->limits);
	tally_build_ids_init(&scene->ids);
	scene->planned[0] = (struct tally_planned){
	    .attr = {.type = PERF_TYPE_SOFTWARE,
		     .config = PERF_COUNT_SW_PAGE_FAULTS,
		     .sample_period = 1,
		     .sample_type = fields,
		     .sample_id_all = 1,
		     .exclude_kernel = 1,
		     .read_format = PERF_FORMAT_ID},
	    .name = (char *)(uintptr_t) "page-faults:u",
	};
	scene->planned[1] = (struct tally_planned){
	    .attr = {.type = PERF_TYPE_SOFTWARE,
		     .config = PERF_COUNT_SW_DUMMY,
		     .sample_period = 1,
		     .sample_type = fields,
		     .sample_id_all = 1,
		     .exclude_kernel = 1,
		     .mmap = 1,
		     .mmap2 = 1,
		     .read_format = PERF_FORMAT_ID},
	    .name = (char *)(uintptr_t) "dummy:u",
	    .leader = 1,
	};
	scene->plan = (struct tally_plan){scene->planned, 2};
	scene->targets.cpu_count = CPUS;
	scene->targets.tid_count = 1;
	scene->set.targets = &scene->targets;
	scene->set.plan = &scene->plan;
	scene->set.ring_count = CPUS * TALLY_RING_KINDS;
	scene->set.rings = calloc(scene->set.ring_count, sizeof(struct tally_ring *));
	scene->set.fds = calloc(scene->set.ring_count, sizeof(int));
	for (size_t i = 0; i < scene->set.ring_count; i++)
		scene->set.fds[i] = -1;
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	tally_drain_done(&scene->drain);
	tally_writer_close(scene->writer, NULL);
	tally_openset_close(&scene->set);
	tally_build_ids_done(&scene->ids);
	unlink(scene->path);
	rmdir(scene->folder);
	free(scene->planned[0].ids);
	free(scene->planned[1].ids);
	free(scene);
	return 0;
}

/* What the file holds, by type; every ring's samples are in one piece and in time's order in a
 * round. */
static void count_file(struct scene *scene, uint64_t counts[128])
{
	struct tally_record record;
	struct tally_data *data;
	int got;

	memset(counts, 0, 128 * sizeof(*counts));
	assert_int_equal(tally_data_open(scene->path, NULL, &data, NULL), 0);
	while ((got = tally_data_next_record(data, &record, NULL)) > 0)
		counts[record.type < 128 ? record.type : 0]++;
	assert_int_equal(got, 0);
	assert_int_equal(tally_data_damage(data)->count, 0);
	tally_data_close(data);
}

static void agree(struct scene *scene)
{
	const struct tally_walk_counts *walked = &scene->drain.walk.counts;
	uint64_t counts[128];

	count_file(scene, counts);
	for (size_t i = 1; i < TALLY_WALK_TYPES; i++)
		assert_int_equal(counts[i], walked->types[i]);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], walked->samples);
	assert_int_equal(walked->bad_bytes, 0);
}

static void finish(struct scene *scene)
{
	struct tally_writer *writer = scene->writer;

	scene->writer = NULL;
	assert_int_equal(tally_writer_close(writer, NULL), 0);
}

static void record_passes(struct scene *scene, size_t passes, size_t faults)
{
	for (size_t i = 0; i < passes; i++) {
		fault(faults);
		assert_int_equal(tally_drain_pass(&scene->drain, NULL), 0);
		assert_int_equal(tally_drain_round(&scene->drain, i % 3 == 0, NULL), 0);
	}
}

static void test_several_threads(void **state)
{
	struct scene *scene = *state;

	begin(scene, 128);
	scene->drain.workers_forced = 3;
	record_passes(scene, 20, 2000);
	assert_true(scene->drain.shared > 0);
	assert_in_range(scene->drain.workers_widest, 1, 3);
	finish(scene);
	/* Four rings have each fault; allocation may make some more. */
	assert_true(scene->drain.walk.counts.samples >= 4 * 20 * 2000);
	assert_int_equal(scene->drain.walk.counts.lost, 0);
	agree(scene);
}

/* Threads come when rings overflow and go when they do not. */
static void test_as_needed(void **state)
{
	struct scene *scene = *state;

	begin(scene, 1);
	scene->drain.workers_most = 2;
	record_passes(scene, 1, 2000);
	assert_false(scene->drain.workers_on);
	record_passes(scene, 2, 2000);
	assert_true(scene->drain.workers_on);
	record_passes(scene, 3, 2000);
	assert_true(scene->drain.walk.counts.lost > 0); /* reported by the kernel */
	assert_true(scene->drain.workers_widest >= 1);
	record_passes(scene, 40, 0);
	assert_false(scene->drain.workers_on);
	finish(scene);
	agree(scene);
}

/* With one CPU there is nobody to help. */
static void test_alone(void **state)
{
	struct scene *scene = *state;

	begin(scene, 1);
	scene->drain.workers_most = 1;
	record_passes(scene, 6, 2000);
	assert_false(scene->drain.workers_on);
	assert_int_equal(scene->drain.workers_widest, 0);
	finish(scene);
	agree(scene);
}

/* The file ends somewhere in what the threads write: what is before stays. */
static void test_no_room(void **state)
{
	struct scene *scene = *state;
	struct tally_error error = {0};
	struct rlimit old, small;
	uint64_t counts[128];
	int result;

	begin(scene, 128);
	scene->drain.workers_forced = 4;
	record_passes(scene, 2, 1000);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = tally_writer_size(scene->writer) + 100001;
	signal(SIGXFSZ, SIG_IGN);
	fault(2000);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	result = tally_drain_pass(&scene->drain, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(result, -EFBIG);
	assert_non_null(strstr(error.text, scene->path));
	assert_true(tally_writer_size(scene->writer) <= small.rlim_cur);
	assert_true(tally_writer_size(scene->writer) + 65536 + 100 > small.rlim_cur);
	finish(scene);
	count_file(scene, counts);
	assert_true(counts[PERF_RECORD_SAMPLE] >= 4 * 2 * 1000);
	assert_true(counts[PERF_RECORD_SAMPLE] < scene->drain.walk.counts.samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_several_threads, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_as_needed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_alone, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_room, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
