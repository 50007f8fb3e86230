/* Every kind of target on every kind of event: whose and which CPU's counts come. */
#include "kinds.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <tally/open.h>
#include <tally/fd.h>

#define CAUSES 10

/* A process that stays on a CPU, and causes events on request. */
struct worker {
	pid_t pid;
	int go, done;
	cpu_set_t before;
	int cpu, other_cpu; /* other_cpu -1: there is but one */
};

static void work(const struct worker *worker, int go, int done)
{
	cpu_set_t one;
	uint8_t kind;

	CPU_ZERO(&one);
	CPU_SET(worker->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		_exit(1);
	while (read(go, &kind, 1) == 1) {
		kinds[kind].cause(CAUSES);
		if (write(done, &kind, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Asks the worker to cause events of a kind, and waits until it has. */
static void worker_cause(const struct worker *worker, size_t kind)
{
	uint8_t byte = (uint8_t)kind;

	assert_int_equal(write(worker->go, &byte, 1), 1);
	assert_int_equal(read(worker->done, &byte, 1), 1);
}

static void worker_start(struct worker *worker)
{
	int go[2], done[2];

	worker->cpu = worker->other_cpu = -1;
	assert_int_equal(sched_getaffinity(0, sizeof(worker->before), &worker->before), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &worker->before)) {
			worker->other_cpu = worker->cpu;
			worker->cpu = cpu;
		}
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	worker->pid = fork();
	if (!worker->pid) {
		close(go[1]);
		close(done[0]);
		work(worker, go[0], done[1]);
	}
	close(go[0]);
	close(done[1]);
	worker->go = go[1];
	worker->done = done[0];
	/* What is done for the first time touches pages. */
	for (size_t i = 0; i < KIND_COUNT; i++)
		worker_cause(worker, i);
}

static void worker_end(struct worker *worker)
{
	int status;

	close(worker->go);
	close(worker->done);
	assert_int_equal(waitpid(worker->pid, &status, 0), worker->pid);
	assert_int_equal(status, 0);
}

enum expected {
	NOTHING,  /* it is not counted there */
	EXACTLY,  /* what the worker causes */
	AT_LEAST, /* that, and what others do */
};

/* Opens a kind on a target, has the worker cause events, and looks at the count. */
static void check_target(const struct worker *worker, size_t index, struct tally_open_target target,
			 enum expected expected)
{
	const struct kind *kind = &kinds[index];
	struct tally_attr attr;
	uint64_t value;
	int fd;

	target.group_fd = -1;
	fd = kind_try(kind, &attr, &target);
	if (fd < 0)
		return;
	assert_int_equal(tally_fd_enable(fd, false), 0);
	worker_cause(worker, index);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	value = value_of(fd);
	if (expected == AT_LEAST)
		assert_true(value >= (uint64_t)CAUSES * kind->unit && value > 0);
	else if (expected == EXACTLY)
		kind_check(kind, value, CAUSES);
	else
		assert_int_equal(value, 0);
	close(fd);
}

static void processes_and_cpus(void **state)
{
	struct worker worker;

	(void)state;
	worker_start(&worker);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		check_target(&worker, i, (struct tally_open_target){.pid = worker.pid, .cpu = -1},
			     EXACTLY);
		check_target(&worker, i,
			     (struct tally_open_target){.pid = worker.pid, .cpu = worker.cpu},
			     EXACTLY);
		check_target(&worker, i, (struct tally_open_target){.pid = -1, .cpu = worker.cpu},
			     AT_LEAST);
		if (worker.other_cpu < 0)
			continue;
		check_target(&worker, i,
			     (struct tally_open_target){.pid = worker.pid, .cpu = worker.other_cpu},
			     NOTHING);
	}
	worker_end(&worker);
}

/* This thread, wherever it runs; on a CPU where it is; and where it is not. */
static void this_thread_and_cpus(void **state)
{
	struct worker worker;
	cpu_set_t one;

	(void)state;
	worker_start(&worker);
	CPU_ZERO(&one);
	CPU_SET(worker.cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		const int cpus[] = {-1, worker.cpu, worker.other_cpu};

		for (size_t j = 0; j < (worker.other_cpu < 0 ? 2 : 3); j++) {
			struct tally_open_target target = {.cpu = cpus[j], .group_fd = -1};
			struct tally_attr attr;
			int fd = kind_try(&kinds[i], &attr, &target);

			if (fd < 0)
				continue;
			assert_int_equal(tally_fd_enable(fd, false), 0);
			kinds[i].cause(CAUSES);
			assert_int_equal(tally_fd_disable(fd, false), 0);
			kind_check(&kinds[i], value_of(fd), j == 2 ? 0 : CAUSES);
			close(fd);
		}
	}
	assert_int_equal(sched_setaffinity(0, sizeof(worker.before), &worker.before), 0);
	worker_end(&worker);
}

/* --- cgroups --- */

static int make_cgroup(char path[256])
{
	static const char *const tops[] = {"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified",
					   "/sys/fs/cgroup"};

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, 256, "%s/cgroup.procs", tops[i]);
		if (access(path, F_OK))
			continue;
		snprintf(path, 256, "%s/tally-targets-%d", tops[i], getpid());
		return mkdir(path, 0755) ? -errno : 0;
	}
	return -ENOENT;
}

static void move_into(const char *cgroup, pid_t pid)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d\n", pid);
	assert_int_equal(fclose(file), 0);
}

/* The worker in a cgroup: counted on its CPU, and not when it has left. */
static void cgroups(void **state)
{
	struct tally_open_target target = {.group_fd = -1, .flags = PERF_FLAG_PID_CGROUP};
	struct worker worker;
	char path[256], top[256];
	struct tally_attr attr;
	int result = make_cgroup(path), folder;

	(void)state;
	if (result) {
		print_message("skipped: no cgroup can be made: %s\n", strerror(-result));
		skip();
	}
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(folder >= 0);
	worker_start(&worker);
	move_into(path, worker.pid);
	target.pid = folder;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		target.cpu = worker.cpu;
		check_target(&worker, i, target, EXACTLY);
		target.cpu = worker.other_cpu;
		if (worker.other_cpu >= 0)
			check_target(&worker, i, target, NOTHING);
	}
	snprintf(top, sizeof(top), "%.*s", (int)(strrchr(path, '/') - path), path);
	move_into(top, worker.pid);
	target.cpu = worker.cpu;
	for (size_t i = 0; i < KIND_COUNT; i++)
		check_target(&worker, i, target, NOTHING);
	worker_end(&worker);
	/* It is of a CPU always, and its descriptor is a cgroup's. */
	attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	target.cpu = -1;
	assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EINVAL);
	target.cpu = worker.cpu;
	target.pid = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EBADF);
	close(target.pid);
	close(folder);
	rmdir(path);
}

/* What is none. */
static void no_targets_of(const struct kind *kind, struct tally_attr attr)
{
	static const struct {
		struct tally_open_target target;
		int result;
	} none[] = {
	    {{.pid = -1, .cpu = -1, .group_fd = -1}, -EINVAL},
	    {{.pid = 0, .cpu = 100000, .group_fd = -1}, -EINVAL},
	    {{.pid = 0x3ffffff0, .cpu = -1, .group_fd = -1}, -ESRCH},
	    {{.pid = 0, .cpu = -1, .group_fd = -1, .flags = 1UL << 20}, -EINVAL},
	};

	(void)kind;
	attr.disabled = 1;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(tally_open(&attr, &none[i].target, NULL, NULL), none[i].result);
}

static void no_targets(void **state)
{
	(void)state;
	each_kind(no_targets_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(processes_and_cpus),
	    cmocka_unit_test(this_thread_and_cpus),
	    cmocka_unit_test(cgroups),
	    cmocka_unit_test(no_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
