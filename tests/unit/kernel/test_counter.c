/* Reads in every format: made-up words, and what this kernel counts. */
#include "kernel_test.h"

#include <fcntl.h>
#include <sched.h>
#include <tally/open.h>
#include <tally/fd.h>
#include "kernel/counter.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void made_up_words(void **state)
{
	const uint64_t alone[] = {7, 100, 50, 3, 9};
	const uint64_t group[] = {2, 100, 50, 7, 3, 9, 8, 4, 10};
	struct tally_read read;

	(void)state;
	/* A value, and a word for each bit: that of a group is its nr, 1 here. */
	for (uint64_t format = 0; format < 32; format++) {
		size_t want = 1 + (size_t)__builtin_popcountll(format);
		uint64_t words[8] = {1, 1, 1, 1, 1, 1, 1, 1};

		for (size_t count = 0; count < 8; count++)
			assert_int_equal(tally_counter_split(format, words, count, &read),
					 count == want ? 0 : -EBADMSG);
	}
	assert_int_equal(
	    tally_counter_split(TIMES | PERF_FORMAT_ID | TEST_FORMAT_LOST, alone, 5, &read), 0);
	assert_int_equal(read.value, 7);
	assert_int_equal(read.time_enabled, 100);
	assert_int_equal(read.time_running, 50);
	assert_int_equal(read.id, 3);
	assert_int_equal(read.lost, 9);
	assert_int_equal(read.nr, 1);
	assert_null(read.group);
	assert_int_equal(tally_counter_split(TEST_FORMAT_LOST, alone, 2, &read), 0);
	assert_int_equal(read.lost, 100);
	assert_int_equal(read.id, 0);
	assert_int_equal(
	    tally_counter_split(TIMES | PERF_FORMAT_ID | TEST_FORMAT_LOST | PERF_FORMAT_GROUP,
				group, 9, &read),
	    0);
	assert_int_equal(read.nr, 2);
	assert_ptr_equal(read.group, group + 3);
	/* Counts that lie. */
	read.nr = 77;
	for (size_t count = 0; count < 9; count++)
		assert_int_equal(tally_counter_split(TIMES | PERF_FORMAT_ID | TEST_FORMAT_LOST |
							 PERF_FORMAT_GROUP,
						     group, count, &read),
				 -EBADMSG);
	assert_int_equal(
	    tally_counter_split(PERF_FORMAT_GROUP, (const uint64_t[]){UINT64_MAX, 1}, 2, &read),
	    -EBADMSG);
	assert_int_equal(tally_counter_split(1ULL << 40, alone, 5, &read), -EINVAL);
	assert_int_equal(read.nr, 77); /* untouched */
}

static void spin(int times)
{
	for (volatile int i = 0; i < times; i++)
		;
}

/* The kernel's own answer in each format, against its answers to single questions. */
static void every_format(void **state)
{
	(void)state;
	for (uint64_t format = 0; format < 32; format++) {
		struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
		struct tally_open_target target = this_thread();
		struct pages pages = pages_new(50);
		struct tally_read read;
		uint64_t words[16], id, value;
		int fd;

		attr.read_format = format;
		attr.disabled = 1;
		fd = tally_open(&attr, &target, NULL, NULL);
		if (fd == -EINVAL && format & TEST_FORMAT_LOST) {
			pages_done(&pages);
			continue; /* before Linux 6.0 */
		}
		if (fd < 0)
			fd = must_open(&attr, -1);
		assert_int_equal(tally_fd_id(fd, &id), 0);
		assert_int_equal(tally_fd_enable(fd, false), 0);
		pages_touch(&pages, 50);
		assert_int_equal(tally_fd_disable(fd, false), 0);
		assert_int_equal(tally_fd_read(fd, format, words, 16, &read), 0);
		assert_int_equal(read.nr, 1);
		value = read.group ? read.group[0] : read.value;
		assert_in_range(value, 50, 60);
		assert_int_equal(!!read.group, !!(format & PERF_FORMAT_GROUP));
		if (format & PERF_FORMAT_ID)
			assert_int_equal(read.group ? read.group[1] : read.id, id);
		if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			assert_true(read.time_enabled > 0);
		if ((format & TIMES) == TIMES)
			assert_int_equal(read.time_enabled, read.time_running);
		if (read.group && format & TEST_FORMAT_LOST)
			assert_int_equal(read.group[format & PERF_FORMAT_ID ? 2 : 1], 0);
		assert_int_equal(tally_fd_read(fd, format, words, 0, &read), -ENOSPC);
		close(fd);
		pages_done(&pages);
	}
}

static void a_group(void **state)
{
	static const uint64_t configs[] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
					   PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_CONTEXT_SWITCHES};
	struct pages pages = pages_new(30);
	struct tally_read read, alone;
	uint64_t words[32], ids[4], word[4];
	int fds[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct tally_attr attr = software(configs[i]);

		attr.read_format = TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		attr.disabled = i == 0;
		/* A switch is the kernel's doing; counting it needs the kernel. */
		attr.exclude_kernel = configs[i] != PERF_COUNT_SW_CONTEXT_SWITCHES;
		if (geteuid())
			attr.exclude_kernel = 1;
		fds[i] = must_open(&attr, i ? fds[0] : -1);
		assert_int_equal(tally_fd_id(fds[i], &ids[i]), 0);
		/* The descriptor must not leak into programs that are started. */
		assert_true(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
	}
	assert_int_equal(tally_fd_enable(fds[0], true), 0);
	pages_touch(&pages, 30);
	spin(100000);
	usleep(1000);
	usleep(1000);
	assert_int_equal(tally_fd_disable(fds[0], true), 0);
	assert_int_equal(
	    tally_fd_read(fds[0], TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID, words, 32, &read), 0);
	assert_int_equal(read.nr, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(read.group[2 * i + 1], ids[i]);
	assert_true(read.group[0] > 1000);      /* ns of the task */
	assert_in_range(read.group[2], 30, 40); /* faults */
	assert_int_equal(read.group[4], 0);     /* dummy counts nothing */
	assert_in_range(read.group[6], geteuid() ? 0 : 2, geteuid() ? 0 : 50);
	assert_int_equal(read.time_enabled, read.time_running);
	/* Asking any member gives the whole group, leader first. */
	assert_int_equal(
	    tally_fd_read(fds[1], TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID, words, 32, &alone),
	    0);
	assert_int_equal(alone.nr, 4);
	assert_int_equal(alone.group[1], ids[0]);
	assert_int_equal(tally_fd_reset(fds[0], true), 0);
	assert_int_equal(
	    tally_fd_read(fds[0], TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID, words, 32, &read), 0);
	assert_int_equal(read.group[2], 0);
	assert_int_equal(tally_fd_read(fds[0], 0, word, 4, &read), -ENOSPC);
	for (size_t i = 0; i < 4; i++)
		close(fds[i]);
	pages_done(&pages);
}

static void controls(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	uint64_t word[1];
	struct tally_read read;
	uint32_t count;
	int fd;

	(void)state;
	attr.sample_period = 1000;
	attr.disabled = 1;
	fd = must_open(&attr, -1);
	assert_int_equal(tally_fd_set_period(fd, 500), 0);
	assert_int_equal(tally_fd_set_period(fd, 0), -EINVAL);
	assert_int_equal(tally_fd_refresh(fd, -1), -EINVAL);
	assert_int_equal(tally_fd_refresh(fd, 2), 0);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(tally_fd_set_output(fd, -1), 0);
	assert_int_equal(tally_fd_set_output(fd, 0), -EBADF);           /* no event */
	assert_int_equal(tally_fd_set_filter(fd, "pid == 1"), -EINVAL); /* no tracepoint */
	assert_true(tally_fd_set_bpf(fd, -1) < 0);
	assert_true(tally_fd_query_bpf(fd, NULL, 0, &count) < 0); /* nor have others programs */
	assert_true(tally_fd_pause_output(fd, true) < 0);         /* no ring */
	assert_int_equal(tally_fd_read(fd, 0, word, 1, &read), 0);
	close(fd);
	assert_int_equal(tally_fd_enable(fd, false), -EBADF);
	assert_int_equal(tally_fd_read(fd, 0, word, 1, &read), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(made_up_words),
	    cmocka_unit_test(every_format),
	    cmocka_unit_test(a_group),
	    cmocka_unit_test(controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
