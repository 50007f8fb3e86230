/* Counter sets: what cannot be counted, and what is done to single events. */
#include "counter_scene.h"

#include <sys/resource.h>
#include <tally/open.h>
#include <tally/ring.h>
#include "../kernel/as_nobody.h"
#include "../kernel/bpf_program.h"

/* --- qualities --- */

/* An event that no machine has stays in the set, and takes nothing else with it. */
static void what_is_not_supported(void **state)
{
	struct tally_counters_options strict = {.size = sizeof(strict), .strict = true};
	struct tally_error error;
	struct scene scene;
	uint64_t value = 77;

	(void)state;
	open_scene(&scene, "page-faults:u,dummy:u,{dummy:u,page-faults:u},{page-faults:u,dummy:u}",
		   self);
	close_scene(&scene);
	scene.events =
	    events_of("page-faults:u,dummy:u,{dummy:u,page-faults:u},{page-faults:u,dummy:u}");
	for (size_t i = 0; i < scene.events.count; i++)
		if (!strncmp(scene.events.events[i].name, "dummy", 5))
			scene.events.events[i].attr.type = 0x7ffffff0;
	strict.events = &scene.events;
	assert_int_equal(tally_counters_open(&strict, &scene.set, &error), -ENOENT);
	assert_non_null(strstr(error.text, "dummy"));
	strict.strict = false;
	assert_int_equal(tally_counters_open(&strict, &scene.set, &error), 0);
	scene.places = 1;
	scene.counts = calloc(scene.events.count, sizeof(*scene.counts));
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(10);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	assert_in_range(exact(&scene, 0, 0), 10, 60);
	assert_int_equal(count_at(&scene, 1, 0)->quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_int_equal(tally_count_exact(count_at(&scene, 1, 0), &value), -ENODATA);
	assert_int_equal(value, 77);
	/* Without its leader a group is none. */
	assert_int_equal(count_at(&scene, 2, 0)->quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_int_equal(count_at(&scene, 3, 0)->quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_in_range(exact(&scene, 4, 0), 10, 60);
	assert_int_equal(count_at(&scene, 5, 0)->quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_int_equal(tally_counters_why(scene.set, 0, 0, &error), 0);
	assert_string_equal(error.text, "");
	assert_int_equal(tally_counters_why(scene.set, 1, 0, &error), -ENOENT);
	assert_true(strlen(error.text) > 20);
	assert_int_equal(tally_counters_why(scene.set, 3, 0, &error), -ENOENT);
	assert_non_null(strstr(error.text, "leader of its group"));
	assert_int_equal(event_at(scene.set, 1).opened, 0);
	assert_int_equal(event_at(scene.set, 4).opened, 1);
	assert_int_equal(tally_counters_fd(scene.set, 1, 0), -EBADF);
	close_scene(&scene);
}

/* A weak group that cannot be had falls apart; what of it can be counted is. */
static void weak_groups(void **state)
{
	struct tally_counters_options options = {.size = sizeof(options)};
	struct tally_error error;
	struct scene scene = {.places = 1};

	(void)state;
	scene.events =
	    events_of("{page-faults:u,dummy:u,task-clock:u}:W,{page-faults:u,task-clock:u}:W");
	scene.events.events[1].attr.type = 0x7ffffff0;
	options.events = &scene.events;
	need_events(tally_counters_open(&options, &scene.set, &error), &error);
	scene.counts = calloc(scene.events.count, sizeof(*scene.counts));
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(10);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(event_at(scene.set, i).leader, i);
	assert_int_equal(event_at(scene.set, 4).leader, 3);
	assert_in_range(exact(&scene, 0, 0), 10, 60);
	assert_int_equal(count_at(&scene, 1, 0)->quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_true(exact(&scene, 2, 0) > 0);
	assert_in_range(exact(&scene, 3, 0), 10, 60);
	close_scene(&scene);
}

/* Too many of what the hardware has few of: breakpoints. */
static void more_than_there_is_room_for(void **state)
{
	static volatile uint64_t watched[8];
	struct tally_error error;
	struct scene scene;
	char text[512];
	size_t length = 0, open = 0, refused = 0;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%smem:%p/8:w:u",
					   i ? "," : "", (const void *)&watched[i]);
	open_scene(&scene, text, self);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	for (size_t i = 0; i < 8; i++)
		for (size_t times = 0; times <= i; times++)
			watched[i] = times;
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	for (size_t i = 0; i < 8; i++) {
		if (count_at(&scene, i, 0)->quality == TALLY_COUNT_COUNTED) {
			assert_int_equal(exact(&scene, i, 0), i + 1);
			open++;
			continue;
		}
		assert_int_equal(count_at(&scene, i, 0)->quality, TALLY_COUNT_NOT_SUPPORTED);
		assert_true(tally_counters_why(scene.set, i, 0, &error) < 0);
		refused++;
	}
	if (open)
		assert_true(refused > 0); /* no CPU watches eight */
	close_scene(&scene);
}

static int count_as_nobody(void)
{
	struct tally_counters_options options = {.size = sizeof(options), .no_inherit = true};
	struct tally_event_list events = events_of("page-faults:k,page-faults:u");
	struct tally_count counts[2];
	struct tally_counters *set;
	struct tally_error error;
	int status = 0;

	options.events = &events;
	if (tally_counters_open(&options, &set, &error))
		return 50;
	tally_counters_enable(set);
	touch_pages(10);
	tally_counters_read(set, counts);
	if (counts[0].quality != TALLY_COUNT_NOT_PERMITTED)
		status = counts[0].quality == TALLY_COUNT_COUNTED ? 60 : 51;
	else if (tally_counters_why(set, 0, 0, &error) != -EACCES ||
		 !strstr(error.text, "perf_event_paranoid"))
		status = 52;
	else if (counts[1].quality == TALLY_COUNT_NOT_PERMITTED)
		status = 61;
	else if (counts[1].quality != TALLY_COUNT_COUNTED || counts[1].raw < 10)
		status = 53;
	tally_counters_close(set);
	tally_event_list_done(&events);
	/* The same without a privilege asked for: user space, and it says so. */
	events = events_of("page-faults");
	options.events = &events;
	options.user_only = true;
	if (!status && tally_counters_open(&options, &set, &error))
		return 54;
	if (!status && (strcmp(event_at(set, 0).name, "page-faults:u") ||
			event_at(set, 0).given_up != TALLY_RELAXED_KERNEL))
		status = 55;
	return status;
}

static void what_is_not_permitted(void **state)
{
	int status = as_nobody(count_as_nobody);

	(void)state;
	if (status >= 60) {
		print_message(
		    "skipped: kernel.perf_event_paranoid lets all or nothing be counted\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void wrong_targets(void **state)
{
	struct tally_counters_options options = {.size = sizeof(options), .pid_count = 1};
	struct tally_event_list events = events_of("page-faults:u");
	struct tally_counters *set = (struct tally_counters *)77;
	struct tally_error error;
	pid_t gone = 0x3ffffff0;
	const char *cgroup = "/";

	(void)state;
	assert_int_equal(tally_counters_open(&options, &set, &error), -EINVAL); /* no events */
	options.events = &events;
	options.pids = &gone;
	assert_int_equal(tally_counters_open(&options, &set, &error), -ESRCH);
	options.cgroups = &cgroup;
	options.cgroup_count = 1;
	assert_int_equal(tally_counters_open(&options, &set, &error), -EINVAL);
	options = (struct tally_counters_options){.size = sizeof(options), .events = &events};
	options.cpus = (uint32_t[]){60000};
	options.cpu_count = 1;
	assert_int_equal(tally_counters_open(&options, &set, &error), -ENODEV);
	assert_ptr_equal(set, (struct tally_counters *)77);
	tally_event_list_done(&events);
}

/* --- one event --- */

static void filters_and_programs(void **state)
{
	struct tally_error error;
	struct scene scene;
	char filter[64];
	int program;

	(void)state;
	/* A program that is attached to a tracepoint decides for all events of it, so it has its
	 * own. */
	if (geteuid() || access("/sys/kernel/tracing/events/syscalls", R_OK))
		skip();
	open_scene(&scene,
		   "syscalls:sys_enter_getppid,syscalls:sys_enter_getppid,"
		   "syscalls:sys_enter_getpgid,page-faults:u",
		   self);
	snprintf(filter, sizeof(filter), "common_pid != %ld", syscall(SYS_gettid));
	assert_int_equal(tally_counters_set_filter(scene.set, 0, filter, &error), 0);
	assert_int_equal(tally_counters_set_filter(scene.set, 0, filter, &error), -EEXIST);
	assert_int_equal(tally_counters_set_filter(scene.set, 1, "nonsense ==", &error), -EINVAL);
	assert_non_null(strstr(error.text, "nonsense =="));
	assert_int_equal(tally_counters_set_filter(scene.set, 3, filter, &error), -EINVAL);
	program = load_program(BPF_PROG_TYPE_TRACEPOINT, 0);
	if (program >= 0) {
		assert_int_equal(tally_counters_attach_bpf(scene.set, 2, program, &error), 0);
		assert_int_equal(tally_counters_attach_bpf(scene.set, 3, program, &error), -EINVAL);
		close(program);
		assert_int_equal(tally_counters_attach_bpf(scene.set, 1, 9999, &error), -EBADF);
	}
	assert_int_equal(tally_counters_enable(scene.set), 0);
	for (int i = 0; i < 12; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getpgid, 0);
	}
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	assert_int_equal(exact(&scene, 0, 0), 0);
	assert_int_equal(exact(&scene, 1, 0), 12);
	assert_int_equal(exact(&scene, 2, 0), program >= 0 ? 0 : 12);
	close_scene(&scene);
}

static void periods_outputs_and_refreshes(void **state)
{
	struct tally_ring_options small = {.size = sizeof(small), .pages = 4};
	struct tally_ring_bytes bytes;
	struct tally_event_list events = events_of("page-faults:u,page-faults:u");
	struct tally_counters_options options = {.size = sizeof(options), .no_inherit = true};
	struct tally_counters *set;
	struct tally_error error;
	struct tally_count counts[2];
	struct tally_ring *ring;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		events.events[i].attr.sample_period = 1000;
		events.events[i].attr.sample_type = 1;
	}
	options.events = &events;
	need_events(tally_counters_open(&options, &set, &error), &error);
	assert_int_equal(tally_ring_open(tally_counters_fd(set, 0, 0), &small, NULL, &ring, &error),
			 0);
	assert_int_equal(tally_counters_set_output(set, 1, 0, &error), 0);
	assert_int_equal(tally_counters_set_period(set, 1, 10), 0);
	assert_int_equal(tally_counters_enable(set), 0);
	touch_pages(50);
	assert_int_equal(tally_counters_disable(set), 0);
	assert_in_range(tally_ring_peek(ring, &bytes), 5 * 16, 9 * 16);
	tally_ring_consume(ring, bytes.first_size);
	assert_int_equal(tally_counters_set_output(set, 1, SIZE_MAX, &error), 0);
	assert_int_equal(tally_counters_reset(set), 0);
	assert_int_equal(tally_counters_refresh(set, 1, 2), 0);
	touch_pages(50);
	assert_int_equal(tally_counters_read(set, counts), 0);
	assert_in_range(counts[1].raw, 11, 50); /* two overflows of 10 from somewhere between */
	assert_int_equal(counts[0].raw, 0);
	assert_int_equal(tally_ring_peek(ring, &bytes), 0);
	tally_ring_close(ring);
	tally_counters_close(set);
	tally_event_list_done(&events);
}

static int too_low_as_nobody(void)
{
	struct tally_counters_options options = {.size = sizeof(options)};
	struct tally_event_list events = {0};
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct rlimit low = {.rlim_cur = 24, .rlim_max = 30};
	struct tally_counters *set;
	struct tally_error error;
	int result, fd;

	for (int i = 0; i < 50; i++)
		if (tally_event_list_append(&events, "page-faults:u", &by_default, &error) < 0)
			return 50;
	if (setrlimit(RLIMIT_NOFILE, &low))
		return 51;
	options.events = &events;
	result = tally_counters_open(&options, &set, &error);
	if (!result)
		return 60; /* as of -EACCES, all is not permitted */
	if (result != -EMFILE)
		return 52;
	if (!strstr(error.text, "RLIMIT_NOFILE") || !strstr(error.text, "50 descriptors") ||
	    !strstr(error.text, "30"))
		return 53;
	/* All were closed again. */
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && fd < 24 ? 0 : 54;
}

static void too_few_descriptors(void **state)
{
	int status = as_nobody(too_low_as_nobody);

	(void)state;
	if (status == 60)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_not_supported),
	    cmocka_unit_test(weak_groups),
	    cmocka_unit_test(more_than_there_is_room_for),
	    cmocka_unit_test(what_is_not_permitted),
	    cmocka_unit_test(wrong_targets),
	    cmocka_unit_test(filters_and_programs),
	    cmocka_unit_test(periods_outputs_and_refreshes),
	    cmocka_unit_test(too_few_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
