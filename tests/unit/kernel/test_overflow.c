/* Overflows reported by poll, epoll, signals and traps; refreshes that count down. */
#include "kernel_test.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <tally/open.h>
#include <tally/fd.h>
#include <tally/ring.h>
#include "traps.h"

static struct tally_attr faults(uint64_t period)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	return attr;
}

static struct tally_ring *ring_of(int fd)
{
	struct tally_ring_options options = {.size = sizeof(options), .pages = 4};
	struct tally_ring *ring;

	assert_int_equal(tally_ring_open(fd, &options, NULL, &ring, NULL), 0);
	return ring;
}

/* --- poll and epoll --- */

static void wakes_after_so_many_events(void **state)
{
	struct pages pages = pages_new(40);
	struct tally_attr attr = faults(1);
	struct tally_ring *ring;
	int fd;

	(void)state;
	attr.wakeup_events = 30;
	fd = must_open(&attr, -1);
	ring = ring_of(fd);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 10);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(tally_overflow_wait(fd, 0), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 20);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(tally_overflow_wait(fd, 0), TALLY_OVERFLOW_READY);
	/* The look took the mark. */
	assert_int_equal(tally_overflow_wait(fd, 0), 0);
	tally_ring_close(ring);
	close(fd);
	assert_int_equal(tally_overflow_wait(fd, 0), -EBADF);
	pages_done(&pages);
}

static void wakes_after_so_many_bytes(void **state)
{
	struct pages pages = pages_new(200);
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
	struct tally_attr attr = faults(1);
	struct tally_ring *ring;
	int fd, epoll = epoll_create1(EPOLL_CLOEXEC);

	(void)state;
	attr.watermark = 1;
	attr.wakeup_watermark = 1024; /* 64 records of 16 bytes */
	fd = must_open(&attr, -1);
	ring = ring_of(fd);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 40);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(epoll_wait(epoll, &event, 1, 0), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 60);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	event = (struct epoll_event){0};
	assert_int_equal(epoll_wait(epoll, &event, 1, 1000), 1);
	assert_int_equal(event.events, EPOLLIN);
	assert_int_equal(event.data.u64, 77);
	tally_ring_close(ring);
	close(epoll);
	close(fd);
	pages_done(&pages);
}

static void hangs_up_when_its_task_ends(void **state)
{
	struct tally_attr attr = faults(1);
	struct tally_open_target target = this_thread();
	struct tally_ring *ring;
	int fd, hold[2], status;
	char byte;

	(void)state;
	assert_int_equal(pipe(hold), 0);
	target.pid = fork();
	if (!target.pid) {
		close(hold[1]);
		_exit(read(hold[0], &byte, 1) != 0);
	}
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd < 0) {
		close(hold[1]);
		waitpid(target.pid, &status, 0);
		skip();
	}
	ring = ring_of(fd);
	assert_int_equal(tally_overflow_wait(fd, 0), 0);
	close(hold[1]);
	assert_int_equal(waitpid(target.pid, &status, 0), target.pid);
	assert_true(tally_overflow_wait(fd, 10000) & TALLY_OVERFLOW_HUNGUP);
	tally_ring_close(ring);
	close(fd);
	close(hold[0]);
}

/* --- signals --- */

static volatile sig_atomic_t signals, hangups, other_fd, wrong_thread;
static int expected_fd;
static pid_t expected_tid;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signals = signals + 1;
	if (info->si_fd != expected_fd)
		other_fd = 1;
	if (info->si_code == POLL_HUP)
		hangups = hangups + 1;
	else if (info->si_code != POLL_IN)
		other_fd = 1;
	if ((pid_t)syscall(SYS_gettid) != expected_tid)
		wrong_thread = 1;
}

static void catch_signals(int signal, int fd)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	signals = hangups = other_fd = wrong_thread = 0;
	expected_fd = fd;
	expected_tid = (pid_t)syscall(SYS_gettid);
	assert_int_equal(sigaction(signal, &action, NULL), 0);
}

static void a_signal_each_overflow(void **state)
{
	struct pages pages = pages_new(80);
	struct tally_attr attr = faults(5);
	int fd, seen;

	(void)state;
	fd = must_open(&attr, -1);
	catch_signals(SIGRTMIN, fd);
	assert_int_equal(tally_overflow_signal(fd, SIGRTMIN, 0), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 40);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_in_range(signals, 8, 12); /* 40 / 5, and what the test itself may touch */
	assert_int_equal(hangups, 0);
	assert_int_equal(other_fd, 0);
	assert_int_equal(wrong_thread, 0);
	/* No more of them. */
	seen = signals;
	assert_int_equal(tally_overflow_signal(fd, 0, 0), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 40);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(signals, seen);
	close(fd);
	assert_int_equal(tally_overflow_signal(fd, SIGRTMIN, 0), -EBADF);
	pages_done(&pages);
}

/* The last of the refreshed overflows says POLL_HUP and disables. */
static void refresh_counts_down(void **state)
{
	struct pages pages = pages_new(200);
	struct tally_attr attr = faults(10);
	struct tally_read read;
	uint64_t word[4];
	int fd;

	(void)state;
	fd = must_open(&attr, -1);
	catch_signals(SIGRTMIN + 1, fd);
	assert_int_equal(tally_overflow_signal(fd, SIGRTMIN + 1, 0), 0);
	assert_int_equal(tally_fd_refresh(fd, 3), 0);
	pages_touch(&pages, 100);
	assert_int_equal(signals, 3);
	assert_int_equal(hangups, 1);
	assert_int_equal(tally_fd_read(fd, 0, word, 4, &read), 0);
	assert_in_range(read.value, 30, 31); /* it stopped there */
	assert_int_equal(tally_fd_refresh(fd, 1), 0);
	pages_touch(&pages, 100);
	assert_int_equal(signals, 4);
	assert_int_equal(hangups, 2);
	assert_int_equal(other_fd, 0);
	close(fd);
	pages_done(&pages);
}

/* An inherited event cannot be refreshed, nor one that does not sample. */
static void refused_refreshes(void **state)
{
	struct tally_attr attr = faults(10);
	int fd;

	(void)state;
	attr.inherit = 1;
	fd = must_open(&attr, -1);
	assert_int_equal(tally_fd_refresh(fd, 1), -EINVAL);
	close(fd);
	attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	fd = must_open(&attr, -1);
	assert_int_equal(tally_fd_refresh(fd, 1), -EINVAL);
	close(fd);
}

struct toucher {
	pthread_barrier_t opened, touched;
	struct pages *pages;
	pid_t tid;
};

static void *touch_there(void *argument)
{
	struct toucher *toucher = argument;

	toucher->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&toucher->opened);
	pthread_barrier_wait(&toucher->opened);
	pages_touch(toucher->pages, 20);
	pthread_barrier_wait(&toucher->touched);
	return NULL;
}

/* One thread is counted, another gets the signal. */
static void sent_to_a_thread(void **state)
{
	struct pages pages = pages_new(20);
	struct toucher toucher = {.pages = &pages};
	struct tally_attr attr = faults(10);
	struct tally_open_target target = this_thread();
	pthread_t thread;
	int fd;

	(void)state;
	pthread_barrier_init(&toucher.opened, NULL, 2);
	pthread_barrier_init(&toucher.touched, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, touch_there, &toucher), 0);
	pthread_barrier_wait(&toucher.opened);
	target.pid = toucher.tid;
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd >= 0) {
		catch_signals(SIGRTMIN + 2, fd);
		assert_int_equal(tally_overflow_signal(fd, SIGRTMIN + 2, 0), 0);
		assert_int_equal(tally_fd_enable(fd, false), 0);
	}
	pthread_barrier_wait(&toucher.opened);
	pthread_barrier_wait(&toucher.touched);
	pthread_join(thread, NULL);
	if (fd < 0)
		skip();
	assert_in_range(signals, 2, 5);
	assert_int_equal(other_fd, 0);
	assert_int_equal(wrong_thread, 0);
	close(fd);
	pages_done(&pages);
}

/* --- traps --- */

static void traps_at_a_breakpoint(void **state)
{
	static volatile uint64_t watched;
	struct tally_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				  .bp_type = HW_BREAKPOINT_W,
				  .bp_addr = (uintptr_t)&watched,
				  .bp_len = HW_BREAKPOINT_LEN_8,
				  .sample_period = 1,
				  .exclude_kernel = 1,
				  .exclude_hv = 1,
				  .disabled = 1,
				  .sigtrap = 1,
				  .remove_on_exec = 1,
				  .sig_data = 0x123456789abcULL};
	struct tally_open_target target = this_thread();
	int fd;

	(void)state;
	if (!breakpoints_fire())
		skip();
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd < 0) {
		print_message("skipped: no breakpoint with a trap here: %s\n", strerror(-fd));
		skip();
	}
	catch_traps();
	assert_int_equal(tally_fd_enable(fd, false), 0);
	watched = 1;
	watched = 2;
	assert_int_equal(tally_fd_disable(fd, false), 0);
	watched = 3;
	assert_int_equal(traps, 2);
	assert_true(trap.addr == (uintptr_t)&watched);
	assert_true(trap.data == 0x123456789abcULL);
	assert_int_equal(trap.type, PERF_TYPE_BREAKPOINT);
	assert_false(trap.async);
	close(fd);
	/* The kernel wants to know that the handler's program is still there. */
	attr.remove_on_exec = 0;
	assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EINVAL);
}

static void other_signals_are_none(void **state)
{
	struct tally_sigtrap untouched = {.size = sizeof(untouched), .data = 7};
	siginfo_t info = {0};

	(void)state;
	info.si_signo = SIGTRAP;
	info.si_code = TRAP_BRKPT;
	assert_int_equal(tally_sigtrap_decode(&info, &untouched), -EINVAL);
	info.si_signo = SIGSEGV;
	info.si_code = 6;
	assert_int_equal(tally_sigtrap_decode(&info, &untouched), -EINVAL);
	assert_int_equal(untouched.data, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wakes_after_so_many_events),
	    cmocka_unit_test(wakes_after_so_many_bytes),
	    cmocka_unit_test(hangs_up_when_its_task_ends),
	    cmocka_unit_test(a_signal_each_overflow),
	    cmocka_unit_test(refresh_counts_down),
	    cmocka_unit_test(refused_refreshes),
	    cmocka_unit_test(sent_to_a_thread),
	    cmocka_unit_test(traps_at_a_breakpoint),
	    cmocka_unit_test(other_signals_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
