/* Counter sets over every kind of target. */
#include "../kernel/as_nobody.h"
#include "counter_scene.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tally/fd.h>

/* --- targets --- */

static void this_thread(void **state)
{
	struct scene scene;
	struct tally_counters_place place;
	uint64_t id;

	(void)state;
	open_scene(&scene, "page-faults:u,{task-clock:u,page-faults:u}", self);
	assert_int_equal(scene.places, 1);
	place = place_at(scene.set, 0);
	assert_int_equal(place.tid, 0);
	assert_int_equal(place.cpu, -1);
	assert_true(place.cgroup == SIZE_MAX);
	/* Nothing counts yet. */
	touch_pages(10);
	read_scene(&scene);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(count_at(&scene, i, 0)->quality, TALLY_COUNT_IDLE);
		assert_int_equal(exact(&scene, i, 0), 0);
	}
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(50);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	touch_pages(10);
	read_scene(&scene);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(count_at(&scene, i, 0)->quality, TALLY_COUNT_COUNTED);
		assert_int_equal(count_at(&scene, i, 0)->places, 1);
		assert_int_equal(tally_fd_id(tally_counters_fd(scene.set, i, 0), &id), 0);
		assert_int_equal(count_at(&scene, i, 0)->id, id);
	}
	assert_in_range(exact(&scene, 0, 0), 50, 100);
	assert_in_range(exact(&scene, 2, 0), 50, 100);
	assert_true(exact(&scene, 1, 0) > 1000);
	/* Members of a group have one time. */
	assert_int_equal(count_at(&scene, 1, 0)->time_enabled,
			 count_at(&scene, 2, 0)->time_enabled);
	assert_true(tally_counters_alive(scene.set));
	close_scene(&scene);
}

/* Neither another descriptor nor memory beyond the set is used. */
static void no_such_event_or_place(void **state)
{
	struct tally_error error = {0};
	struct scene scene;

	(void)state;
	open_scene(&scene, "page-faults:u,task-clock:u", self);
	assert_int_equal(tally_counters_fd(scene.set, 2, 0), -EINVAL);
	assert_int_equal(tally_counters_fd(scene.set, 0, 1), -EINVAL);
	assert_int_equal(tally_counters_fd(scene.set, SIZE_MAX, 0), -EINVAL);
	assert_int_equal(tally_counters_why(scene.set, 2, 0, &error), -EINVAL);
	assert_int_equal(tally_counters_why(scene.set, 0, 1, &error), -EINVAL);
	assert_int_equal(tally_counters_refresh(scene.set, 2, 1), -EINVAL);
	assert_int_equal(tally_counters_set_period(scene.set, 2, 1), -EINVAL);
	assert_int_equal(tally_counters_set_filter(scene.set, 2, "1", &error), -EINVAL);
	assert_string_equal(error.text, "the set has no event 2");
	assert_int_equal(tally_counters_attach_bpf(scene.set, 2, 0, &error), -EINVAL);
	assert_int_equal(tally_counters_set_output(scene.set, 2, 0, &error), -EINVAL);
	assert_int_equal(tally_counters_set_output(scene.set, 0, 2, &error), -EINVAL);
	close_scene(&scene);
}

/* From a reset on, all is as if it had begun there. */
static void reset_begins_anew(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene, "{page-faults:u,task-clock:u},duration_time", self);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(100);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	assert_int_equal(tally_counters_reset(scene.set), 0);
	read_scene(&scene);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(count_at(&scene, i, 0)->quality, TALLY_COUNT_IDLE);
		assert_int_equal(count_at(&scene, i, 0)->time_enabled, 0);
		assert_int_equal(exact(&scene, i, 0), 0);
	}
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(20);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	assert_in_range(exact(&scene, 0, 0), 20, 70);
	assert_int_equal(count_at(&scene, 0, 0)->quality, TALLY_COUNT_COUNTED);
	assert_true(exact(&scene, 2, 0) > 0);
	close_scene(&scene);
}

struct toucher {
	pthread_barrier_t step;
	pid_t tid;
	size_t pages;
};

static void *touch_there(void *argument)
{
	struct toucher *toucher = argument;

	toucher->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&toucher->step);
	pthread_barrier_wait(&toucher->step);
	touch_pages(toucher->pages);
	pthread_barrier_wait(&toucher->step);
	return NULL;
}

static void threads_by_tid(void **state)
{
	struct toucher touchers[3];
	pthread_t threads[3];
	struct tally_counters_options options = {.tid_count = 3};
	struct scene scene;
	pid_t tids[3];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		touchers[i].pages = 400 * (i + 1);
		pthread_barrier_init(&touchers[i].step, NULL, 2);
		pthread_create(&threads[i], NULL, touch_there, &touchers[i]);
		pthread_barrier_wait(&touchers[i].step);
		tids[i] = touchers[i].tid;
	}
	options.tids = tids;
	open_scene(&scene, "page-faults:u", options);
	assert_int_equal(scene.places, 3);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(50); /* of a thread that is not counted */
	for (size_t i = 0; i < 3; i++)
		pthread_barrier_wait(&touchers[i].step);
	for (size_t i = 0; i < 3; i++)
		pthread_barrier_wait(&touchers[i].step);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	read_scene(&scene);
	for (size_t place = 0; place < 3; place++) {
		pid_t tid = place_at(scene.set, place).tid;

		for (size_t i = 0; i < 3; i++)
			if (tids[i] == tid)
				assert_in_range(exact(&scene, 0, place), touchers[i].pages,
						touchers[i].pages + 200);
	}
	close_scene(&scene);
}

/* A child that waits, touches pages in itself and in a child of its own, waits, and ends. */
struct child {
	pid_t pid;
	int go, done;
};

static void child_start(struct child *child, size_t own, size_t inherited)
{
	int go[2], done[2];
	char byte = 0;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		touch_pages(own);
		if (inherited) {
			pid_t inner = fork();

			if (!inner) {
				touch_pages(inherited);
				_exit(0);
			}
			waitpid(inner, NULL, 0);
		}
		if (write(done[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	child->go = go[1];
	child->done = done[0];
}

static void child_run(struct child *child)
{
	char byte = 0;

	assert_int_equal(write(child->go, &byte, 1), 1);
	assert_int_equal(read(child->done, &byte, 1), 1);
}

static void child_end(struct child *child)
{
	int status;

	close(child->go);
	close(child->done);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
}

static void a_process_with_and_without_children(void **state)
{
	(void)state;
	for (int inherit = 0; inherit < 2; inherit++) {
		struct tally_counters_options options = {.pid_count = 1, .no_inherit = !inherit};
		struct child child;
		struct scene scene;

		child_start(&child, 300, 1000);
		options.pids = &child.pid;
		open_scene(&scene, "{page-faults:u,task-clock:u}", options);
		assert_int_equal(scene.places, 1);
		assert_int_equal(place_at(scene.set, 0).tid, child.pid);
		assert_int_equal(tally_counters_enable(scene.set), 0);
		child_run(&child);
		read_scene(&scene);
		if (inherit)
			assert_in_range(exact(&scene, 0, 0), 1300, 1600);
		else
			assert_in_range(exact(&scene, 0, 0), 300, 600);
		assert_true(tally_counters_alive(scene.set));
		child_end(&child);
		assert_false(tally_counters_alive(scene.set));
		/* What it counted stays. */
		read_scene(&scene);
		assert_true(exact(&scene, 0, 0) >= 300);
		close_scene(&scene);
	}
}

static void a_command_from_its_exec_on(void **state)
{
	char *command[] = {"sh", "-c", "exit 7", NULL}, *wrong[] = {"/no/such/program", NULL};
	struct tally_counters_command started = {.size = sizeof(started)};
	struct tally_error error;
	struct scene scene;

	(void)state;
	open_scene(&scene, "{task-clock:u,page-faults:u},duration_time,user_time,system_time",
		   (struct tally_counters_options){.command = command});
	assert_int_equal(scene.places, 1);
	assert_int_equal(tally_counters_command(scene.set, &started), 0);
	assert_false(started.ended);
	assert_int_equal(place_at(scene.set, 0).tid, started.pid);
	assert_int_equal(tally_counters_wait(scene.set, 0), 0);
	read_scene(&scene);
	assert_int_equal(count_at(&scene, 0, 0)->quality, TALLY_COUNT_IDLE);
	assert_int_equal(tally_counters_start(scene.set, &error), 0);
	assert_int_equal(tally_counters_start(scene.set, &error), -EINVAL); /* once */
	assert_int_equal(tally_counters_wait(scene.set, -1), 1);
	assert_int_equal(tally_counters_command(scene.set, &started), 0);
	assert_true(started.ended);
	assert_true(WIFEXITED(started.status));
	assert_int_equal(WEXITSTATUS(started.status), 7);
	read_scene(&scene);
	assert_true(exact(&scene, 0, 0) > 10000);
	assert_true(exact(&scene, 1, 0) > 10);
	assert_true(exact(&scene, 2, 0) >= exact(&scene, 0, 0)); /* wall time */
	/* The command's whole life, its fork included. */
	assert_true(started.usage.ru_minflt >= (long)exact(&scene, 1, 0));
	assert_int_equal(tally_counters_wait(scene.set, 1000), 1);
	close_scene(&scene);

	open_scene(&scene, "task-clock:u", (struct tally_counters_options){.command = wrong});
	assert_int_equal(tally_counters_start(scene.set, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/no/such/program"));
	close_scene(&scene);
}

/* Held back: the command runs, and is counted from the enabling on. */
static void a_command_delayed(void **state)
{
	char *command[] = {"sleep", "1000", NULL};
	struct tally_counters_command started = {.size = sizeof(started)};
	struct tally_error error;
	struct scene scene;

	(void)state;
	open_scene(&scene, "task-clock:u,duration_time",
		   (struct tally_counters_options){.command = command, .delayed = true});
	assert_int_equal(tally_counters_start(scene.set, &error), 0);
	read_scene(&scene);
	assert_int_equal(count_at(&scene, 0, 0)->quality, TALLY_COUNT_IDLE);
	assert_int_equal(count_at(&scene, 1, 0)->quality, TALLY_COUNT_IDLE);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	assert_int_equal(tally_counters_wait(scene.set, 1), 0);
	assert_int_equal(tally_counters_command(scene.set, &started), 0);
	assert_false(started.ended);
	read_scene(&scene);
	assert_true(exact(&scene, 1, 0) > 0);
	close_scene(&scene); /* ends it */
	assert_int_equal(kill(started.pid, 0), -1);
}

/* Each CPU is a place.  A thread bound to one is seen there. */
static void cpus(void **state)
{
	struct tally_counters_options options = {.system_wide = true};
	cpu_set_t before, one;
	struct scene scene;
	uint32_t chosen;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	open_scene(&scene, "page-faults:u", options);
	assert_int_equal(scene.places, sysconf(_SC_NPROCESSORS_ONLN));
	chosen = (uint32_t)place_at(scene.set, scene.places - 1).cpu;
	assert_int_equal(place_at(scene.set, 0).tid, -1);
	if (tally_counters_fd(scene.set, 0, 0) < 0) {
		close_scene(&scene);
		print_message("skipped: CPUs may not be watched here\n");
		skip();
	}
	close_scene(&scene);

	options = (struct tally_counters_options){.cpus = &chosen, .cpu_count = 1};
	open_scene(&scene, "page-faults:u", options);
	assert_int_equal(scene.places, 1);
	assert_int_equal(place_at(scene.set, 0).cpu, chosen);
	CPU_ZERO(&one);
	CPU_SET(chosen, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(1000);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	assert_true(exact(&scene, 0, 0) >= 1000);
	close_scene(&scene);

	/* A thread there: nobody else's. */
	options.tid_count = 1;
	options.tids = (pid_t[]){(pid_t)syscall(SYS_gettid)};
	open_scene(&scene, "page-faults:u", options);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(100);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	assert_in_range(exact(&scene, 0, 0), 100, 150);
	close_scene(&scene);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* While the thread is on another CPU nothing is counted, and nothing is made up for that time. */
static void a_thread_that_leaves_its_cpu(void **state)
{
	uint32_t first = 0;
	pid_t thread = (pid_t)syscall(SYS_gettid);
	struct tally_counters_options options = {
	    .cpus = &first, .cpu_count = 1, .tids = &thread, .tid_count = 1};
	struct scene scene;
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	if (!CPU_ISSET(0, &before) || !CPU_ISSET(1, &before)) {
		print_message("skipped: CPUs 0 and 1 are needed\n");
		skip();
	}
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	open_scene(&scene, "page-faults:u", options);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(100);
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	touch_pages(3000);
	assert_int_equal(tally_counters_disable(scene.set), 0);
	read_scene(&scene);
	assert_in_range(exact(&scene, 0, 0), 100, 150);
	close_scene(&scene);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	bool good = file && fputs(text, file) >= 0;

	return file && !fclose(file) && good;
}

static void a_cgroup(void **state)
{
	char name[64], path[256], text[32];
	const char *top = !access("/sys/fs/cgroup/unified/cgroup.procs", F_OK)
			      ? "/sys/fs/cgroup/unified"
			      : "/sys/fs/cgroup";
	const char *names[2] = {"/", name};
	struct tally_counters_options options = {.cgroups = names, .cgroup_count = 2};
	struct tally_error error;
	uint64_t sum = 0;
	struct child child;
	struct scene scene;
	size_t half;

	(void)state;
	snprintf(name, sizeof(name), "tally-test-%d", getpid());
	snprintf(path, sizeof(path), "%s/%s", top, name);
	if (mkdir(path, 0755)) {
		print_message("skipped: no cgroup can be made: %s\n", strerror(errno));
		skip();
	}
	child_start(&child, 500, 500);
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", top, name);
	snprintf(text, sizeof(text), "%d\n", child.pid);
	assert_true(write_file(path, text));
	open_scene(&scene, "page-faults:u", options);
	half = scene.places / 2;
	assert_int_equal(half, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(place_at(scene.set, 0).cgroup, 0);
	assert_int_equal(place_at(scene.set, half).cgroup, 1);
	assert_int_equal(tally_counters_enable(scene.set), 0);
	touch_pages(1000); /* not in it */
	child_run(&child);
	read_scene(&scene);
	for (size_t place = half; place < scene.places; place++)
		sum += count_at(&scene, 0, place)->raw;
	close_scene(&scene);
	child_end(&child);
	snprintf(path, sizeof(path), "%s/%s", top, name);
	rmdir(path);
	assert_in_range(sum, 1000, 1600);

	names[1] = "no/such/cgroup";
	scene.events = events_of("page-faults:u");
	options.size = sizeof(options);
	options.events = &scene.events;
	assert_int_equal(tally_counters_open(&options, &scene.set, &error), -ENOENT);
	assert_non_null(strstr(error.text, "no/such/cgroup"));
	names[1] = "../../etc";
	assert_int_equal(tally_counters_open(&options, &scene.set, &error), -EINVAL);
	tally_event_list_done(&scene.events);
}

/* Hundreds of threads with many events each: more descriptors than a shell gives.  They are
 * counted, or what is too low is named. */
static void *wait_there(void *argument)
{
	struct toucher *toucher = argument;

	pthread_barrier_wait(&toucher->step);
	pthread_barrier_wait(&toucher->step);
	return NULL;
}

#define THREADS    500
#define EVENTS     10
#define TOO_LOW    40
#define IMPOSSIBLE 77

static int count_threads(void)
{
	struct tally_counters_options options = {.size = sizeof(options), .pid_count = 1};
	struct tally_event_list events =
	    events_of("task-clock:u,page-faults:u,{task-clock:u,page-faults:u,minor-faults:u},"
		      "{task-clock:u,page-faults:u,minor-faults:u,major-faults:u,dummy:u}");
	struct tally_counters *set;
	struct tally_error error;
	struct tally_count *counts;
	pid_t self_pid = getpid();
	size_t places;
	int result, status = 0;

	if (events.count != EVENTS)
		return 1;
	options.events = &events;
	options.pids = &self_pid;
	result = tally_counters_open(&options, &set, &error);
	/* One more for the thread that started them. */
	if (result == -EMFILE)
		return strstr(error.text, "RLIMIT_NOFILE") && strstr(error.text, "5010 descriptors")
			   ? TOO_LOW
			   : 2;
	if (result)
		return 3;
	places = tally_counters_place_count(set);
	counts = calloc(places * events.count, sizeof(*counts));
	if (places != THREADS + 1 || !counts) {
		free(counts);
		return 4;
	}
	for (size_t i = 0; i < events.count; i++)
		if (event_at(set, i).opened != places)
			status = event_at(set, i).opened ? 5 : IMPOSSIBLE;
	if (!status && (tally_counters_enable(set) || tally_counters_read(set, counts)))
		status = 6;
	for (size_t i = 0; i < places * events.count && !status; i++)
		if (counts[i].quality < TALLY_COUNT_IDLE)
			status = 7;
	free(counts);
	tally_counters_close(set);
	tally_event_list_done(&events);
	return status;
}

/* As a user whose soft limit is low, and whose hard one is `most`. */
static int threads_within(rlim_t most)
{
	static pthread_t threads[THREADS];
	struct rlimit before, limit = {.rlim_cur = 64, .rlim_max = most};
	struct toucher toucher;
	size_t made = 0;
	int status;

	if (getrlimit(RLIMIT_NOFILE, &before) || before.rlim_max < most ||
	    setrlimit(RLIMIT_NOFILE, &limit))
		return IMPOSSIBLE;
	pthread_barrier_init(&toucher.step, NULL, THREADS + 1);
	while (made < THREADS && !pthread_create(&threads[made], NULL, wait_there, &toucher))
		made++;
	if (made < THREADS)
		return IMPOSSIBLE;
	pthread_barrier_wait(&toucher.step);
	status = count_threads();
	pthread_barrier_wait(&toucher.step);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return status;
}

static int within_enough(void)
{
	return threads_within(6000);
}

static int within_too_few(void)
{
	return threads_within(1000);
}

static void many_threads(void **state)
{
	int status = as_nobody(within_enough);

	(void)state;
	if (status == IMPOSSIBLE) {
		print_message("skipped: no 500 threads with 6000 descriptors, or no events\n");
		skip();
	}
	assert_int_equal(status, 0); /* the soft limit was raised */
	assert_int_equal(as_nobody(within_too_few), TOO_LOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(this_thread),
	    cmocka_unit_test(no_such_event_or_place),
	    cmocka_unit_test(reset_begins_anew),
	    cmocka_unit_test(threads_by_tid),
	    cmocka_unit_test(a_process_with_and_without_children),
	    cmocka_unit_test(a_command_from_its_exec_on),
	    cmocka_unit_test(a_command_delayed),
	    cmocka_unit_test(cpus),
	    cmocka_unit_test(a_thread_that_leaves_its_cpu),
	    cmocka_unit_test(a_cgroup),
	    cmocka_unit_test(many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
