/* Every read format, ioctl and prctl on every kind of event. */
#include "kinds.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <tally/open.h>
#include <tally/fd.h>
#include <tally/ring.h>
#include "bpf_program.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void read_formats_of(const struct kind *kind, struct tally_attr attr)
{
	attr.disabled = 1;
	for (uint64_t format = 0; format < 32; format++) {
		struct tally_open_target target = this_thread();
		struct tally_read read;
		uint64_t words[8], id, value;
		int fd;

		attr.read_format = format;
		fd = tally_open(&attr, &target, NULL, NULL);
		if (fd == -EINVAL && format & TEST_FORMAT_LOST)
			continue; /* before Linux 6.0 */
		assert_true(fd >= 0);
		assert_int_equal(tally_fd_id(fd, &id), 0);
		kind->cause(7);
		assert_int_equal(tally_fd_enable(fd, false), 0);
		kind->cause(20);
		assert_int_equal(tally_fd_disable(fd, false), 0);
		kind->cause(7);
		assert_int_equal(tally_fd_read(fd, format, words, 8, &read), 0);
		value = read.group ? read.group[0] : read.value;
		kind_check(kind, value, 20);
		if (format & PERF_FORMAT_ID)
			assert_int_equal(read.group ? read.group[1] : read.id, id);
		if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			assert_true(read.time_enabled > 0);
		if ((format & TIMES) == TIMES)
			assert_int_equal(read.time_enabled, read.time_running);
		close(fd);
	}
}

static void every_read_format(void **state)
{
	(void)state;
	each_kind(read_formats_of);
}

/* All kinds in one group under a software leader: one read, and all run at once. */
static void a_group_of_all_kinds(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_TASK_CLOCK);
	struct tally_open_target target = this_thread();
	const struct kind *members[KIND_COUNT];
	uint64_t ids[KIND_COUNT + 1], words[32];
	int fds[KIND_COUNT + 1];
	struct tally_read read;
	size_t count = 0;

	(void)state;
	attr.disabled = 1;
	attr.read_format = TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP;
	fds[0] = must_open(&attr, -1);
	assert_int_equal(tally_fd_id(fds[0], &ids[0]), 0);
	target.group_fd = fds[0];
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (kinds[i].attr(&attr))
			continue;
		fds[count + 1] = kind_open(&kinds[i], &attr, &target);
		if (fds[count + 1] < 0)
			continue;
		assert_int_equal(tally_fd_id(fds[count + 1], &ids[count + 1]), 0);
		members[count++] = &kinds[i];
	}
	assert_int_equal(tally_fd_enable(fds[0], true), 0);
	for (size_t i = 0; i < count; i++)
		members[i]->cause(10 + (unsigned)i);
	assert_int_equal(tally_fd_disable(fds[0], true), 0);
	assert_int_equal(
	    tally_fd_read(fds[0], TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP, words, 32, &read), 0);
	assert_int_equal(read.nr, count + 1);
	assert_int_equal(read.time_enabled, read.time_running);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(read.group[2 * (i + 1) + 1], ids[i + 1]);
		/* Making up the others' causes is faults and instructions, too. */
		if (members[i]->attr == kind_faults)
			assert_in_range(read.group[2 * (i + 1)], 10, 60);
		else if (members[i]->attr == kind_instructions)
			assert_true(read.group[2 * (i + 1)] >= (10 + i) * INSTRUCTIONS_UNIT);
		else
			kind_check(members[i], read.group[2 * (i + 1)], 10 + (unsigned)i);
	}
	for (size_t i = 0; i <= count; i++)
		close(fds[i]);
}

static void control_of(const struct kind *kind, struct tally_attr attr)
{
	struct tally_open_target target = this_thread();
	uint64_t before;
	int fd;

	attr.disabled = 1;
	fd = tally_open(&attr, &target, NULL, NULL);
	assert_true(fd >= 0);
	kind->cause(5);
	kind_check(kind, value_of(fd), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	kind->cause(5);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	before = value_of(fd);
	kind_check(kind, before, 5);
	kind->cause(5);
	assert_int_equal(value_of(fd), before);
	assert_int_equal(tally_fd_reset(fd, false), 0);
	kind_check(kind, value_of(fd), 0);
	/* prctl(2) stops and starts what this thread opened. */
	assert_int_equal(tally_fd_enable(fd, false), 0);
	assert_int_equal(tally_prctl_disable(), 0);
	before = value_of(fd);
	kind->cause(9);
	assert_int_equal(value_of(fd), before);
	assert_int_equal(tally_prctl_enable(), 0);
	kind->cause(9);
	assert_int_equal(tally_prctl_disable(), 0);
	if (kind->unit)
		kind_check(kind, value_of(fd), 9);
	else
		assert_true(value_of(fd) > before);
	/* A filter is for tracepoints, once; a period for what samples. */
	if (attr.type == PERF_TYPE_TRACEPOINT) {
		assert_int_equal(tally_fd_set_filter(fd, "no_such_field == 1"), -EINVAL);
		assert_int_equal(tally_fd_set_filter(fd, "common_pid == 1"), 0);
		assert_int_equal(tally_fd_reset(fd, false), 0);
		assert_int_equal(tally_fd_enable(fd, false), 0);
		kind->cause(9);
		assert_int_equal(value_of(fd), 0);
	} else {
		assert_int_equal(tally_fd_set_filter(fd, "common_pid == 1"), -EINVAL);
	}
	assert_int_equal(tally_fd_set_period(fd, 3), -EINVAL);
	close(fd);
}

static void every_control(void **state)
{
	(void)state;
	each_kind(control_of);
}

static void sampling_of(const struct kind *kind, struct tally_attr attr)
{
	struct tally_ring_options small = {.size = sizeof(small), .pages = 8};
	struct tally_open_target target = this_thread();
	struct tally_ring *ring;
	uint64_t before;
	size_t samples;
	int fd, other;

	if (!kind->samples) {
		attr.sample_period = 1000;
		assert_true(tally_open(&attr, &target, NULL, NULL) < 0);
		return;
	}
	attr.disabled = 1;
	attr.sample_period = 10 * kind->unit;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = tally_open(&attr, &target, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(tally_ring_open(fd, &small, NULL, &ring, NULL), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	kind->cause(50);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_in_range(drain(ring), 5, 8);
	/* Another period, from here on. */
	assert_int_equal(tally_fd_set_period(fd, 5 * kind->unit), 0);
	assert_int_equal(tally_fd_set_period(fd, 0), -EINVAL);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	kind->cause(100);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	samples = drain(ring);
	assert_in_range(samples, 18, 28);
	/* While paused, what would be written is lost. */
	assert_int_equal(tally_fd_pause_output(fd, true), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	kind->cause(50);
	assert_int_equal(drain(ring), 0);
	assert_int_equal(tally_fd_pause_output(fd, false), 0);
	kind->cause(50);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_in_range(drain(ring), 9, 16);
	/* A second event writes to the first's ring, and then to none. */
	other = tally_open(&attr, &target, NULL, NULL);
	assert_true(other >= 0);
	assert_int_equal(tally_fd_set_output(other, fd), 0);
	assert_int_equal(tally_fd_enable(other, false), 0);
	kind->cause(50);
	assert_int_equal(tally_fd_disable(other, false), 0);
	assert_in_range(drain(ring), 5, 8);
	assert_int_equal(tally_fd_set_output(other, -1), 0);
	assert_int_equal(tally_fd_enable(other, false), 0);
	kind->cause(50);
	assert_int_equal(drain(ring), 0);
	close(other);
	/* Three more, then it is disabled; last, for Linux 6.18 never starts a tracepoint or
	 * breakpoint again that ran out of them. */
	assert_int_equal(tally_fd_refresh(fd, 3), 0);
	kind->cause(100);
	assert_int_equal(drain(ring), 3);
	before = value_of(fd);
	kind->cause(20);
	assert_int_equal(value_of(fd), before);
	tally_ring_close(ring);
	close(fd);
}

static void every_control_of_samples(void **state)
{
	(void)state;
	each_kind(sampling_of);
}

/* A breakpoint moves without being opened anew. */
static void a_breakpoint_moves(void **state)
{
	static volatile uint64_t elsewhere;
	struct tally_open_target target = this_thread();
	struct tally_attr attr;
	int fd;

	(void)state;
	fd = kind_breakpoint(&attr) ? -1 : kind_open(&kinds[2], &attr, &target);
	if (fd < 0)
		skip();
	cause_breakpoint(3);
	elsewhere = 1;
	assert_int_equal(value_of(fd), 3);
	attr.bp_addr = (uintptr_t)&elsewhere;
	assert_int_equal(tally_fd_modify(fd, &attr), 0);
	cause_breakpoint(3);
	elsewhere = 2;
	elsewhere = 3;
	assert_int_equal(value_of(fd), 5);
	/* Another type of event it cannot become. */
	attr.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(tally_fd_modify(fd, &attr), -EINVAL);
	close(fd);
}

/* --- BPF --- */

static void a_program_decides(void **state)
{
	struct tally_open_target target = this_thread();
	struct tally_attr attr;
	uint32_t ids[4] = {0}, count = 77;
	int fd, program, wrong;

	(void)state;
	/* Its word counts for every event of the tracepoint: one that no other test looks at. */
	if (syscall_tracepoint("getsid", &attr))
		skip();
	program = load_program(BPF_PROG_TYPE_TRACEPOINT, 0);
	wrong = load_program(BPF_PROG_TYPE_SOCKET_FILTER, 0);
	fd = kind_open(&kinds[1], &attr, &target);
	if (program < 0 || wrong < 0 || fd < 0) {
		print_message("skipped: no BPF or tracepoints here\n");
		skip();
	}
	for (int i = 0; i < 5; i++)
		syscall(SYS_getsid, 0);
	assert_int_equal(value_of(fd), 5);
	assert_int_equal(tally_fd_query_bpf(fd, ids, 4, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(tally_fd_set_bpf(fd, wrong), -EINVAL);
	assert_int_equal(tally_fd_set_bpf(fd, program), 0);
	assert_int_equal(tally_fd_query_bpf(fd, ids, 4, &count), 0);
	assert_int_equal(count, 1);
	assert_true(ids[0] > 0);
	count = 77;
	assert_int_equal(tally_fd_query_bpf(fd, ids, 0, &count), 0); /* how many, only */
	assert_int_equal(count, 1);
	/* It says no: nothing is counted. */
	for (int i = 0; i < 5; i++)
		syscall(SYS_getsid, 0);
	assert_int_equal(value_of(fd), 5);
	close(fd);
	close(program);
	close(wrong);
}

/* Of software events a program decides what is sampled, not what is counted. */
static void a_program_of_a_software_event(void **state)
{
	struct tally_ring_options small = {.size = sizeof(small), .pages = 8};
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct tally_ring *ring;
	int fd, none, all;

	(void)state;
	none = load_program(BPF_PROG_TYPE_PERF_EVENT, 0);
	all = load_program(BPF_PROG_TYPE_PERF_EVENT, 1);
	if (none < 0 || all < 0)
		skip();
	for (int i = 0; i < 2; i++) {
		attr.sample_period = 1;
		attr.sample_type = PERF_SAMPLE_IP;
		attr.disabled = 1;
		fd = must_open(&attr, -1);
		assert_int_equal(tally_ring_open(fd, &small, NULL, &ring, NULL), 0);
		assert_int_equal(tally_fd_set_bpf(fd, i ? all : none), 0);
		assert_int_equal(tally_fd_set_bpf(fd, all), -EEXIST);
		assert_int_equal(tally_fd_enable(fd, false), 0);
		cause_faults(10);
		assert_int_equal(tally_fd_disable(fd, false), 0);
		kind_check(&kinds[0], value_of(fd), 10);
		assert_in_range(drain(ring), i ? 10 : 0, i ? 40 : 0);
		tally_ring_close(ring);
		close(fd);
	}
	close(none);
	close(all);
}

/* Samples that do not fit are counted in the event itself. */
static void lost_is_counted(void **state)
{
	struct tally_ring_options small = {.size = sizeof(small), .pages = 1};
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct tally_open_target target = this_thread();
	struct tally_ring *ring;
	struct tally_read read;
	uint64_t words[8];
	int fd;

	(void)state;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP; /* 16 bytes, 256 in a page */
	attr.read_format = TEST_FORMAT_LOST;
	attr.disabled = 1;
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd < 0)
		skip();
	assert_int_equal(tally_ring_open(fd, &small, NULL, &ring, NULL), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	cause_faults(400);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(tally_fd_read(fd, TEST_FORMAT_LOST, words, 8, &read), 0);
	assert_true(read.value >= 400);
	/* A full ring and an empty one differ. */
	assert_in_range(read.lost, read.value - 256, read.value - 255);
	tally_ring_close(ring);
	close(fd);
}

/* --- what prctl(2) reaches --- */

struct opener {
	pthread_barrier_t step;
	int fd;
};

static void *open_there(void *argument)
{
	struct opener *opener = argument;
	struct tally_attr attr;
	struct tally_open_target target = this_thread();

	kind_faults(&attr);
	opener->fd = tally_open(&attr, &target, NULL, NULL);
	pthread_barrier_wait(&opener->step);
	pthread_barrier_wait(&opener->step);
	cause_faults(10);
	return NULL;
}

/* A thread's prctl reaches the events that it opened, not those of others. */
static void prctl_is_of_the_opener(void **state)
{
	struct opener opener;
	pthread_t thread;
	uint64_t value;

	(void)state;
	pthread_barrier_init(&opener.step, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, open_there, &opener), 0);
	pthread_barrier_wait(&opener.step);
	assert_int_equal(tally_prctl_disable(), 0);
	pthread_barrier_wait(&opener.step);
	pthread_join(thread, NULL);
	assert_int_equal(tally_prctl_enable(), 0);
	if (opener.fd < 0)
		skip();
	value = value_of(opener.fd);
	assert_true(value >= 10);
	close(opener.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_read_format),
	    cmocka_unit_test(a_group_of_all_kinds),
	    cmocka_unit_test(every_control),
	    cmocka_unit_test(every_control_of_samples),
	    cmocka_unit_test(a_breakpoint_moves),
	    cmocka_unit_test(a_program_decides),
	    cmocka_unit_test(a_program_of_a_software_event),
	    cmocka_unit_test(lost_is_counted),
	    cmocka_unit_test(prctl_is_of_the_opener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
