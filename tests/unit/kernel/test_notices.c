/* Every way to be notified of overflows, on every kind of event that samples. */
#include "kinds.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <tally/open.h>
#include <tally/fd.h>
#include <tally/ring.h>
#include "traps.h"

#define PERIOD 10 /* causes */

/* Opens a kind for sampling each PERIOD causes; -1: there is none here. */
static int open_sampling(const struct kind *kind, struct tally_attr *attr)
{
	struct tally_open_target target = this_thread();

	if (!kind->samples || kind->attr(attr))
		return -1;
	attr->disabled = 1;
	attr->sample_period = PERIOD * kind->unit;
	attr->sample_type = PERF_SAMPLE_IP; /* records of 16 bytes */
	attr->wakeup_events = 1;
	return kind_open(kind, attr, &target);
}

static void cause(const struct kind *kind, int fd, unsigned times)
{
	assert_int_equal(tally_fd_enable(fd, false), 0);
	kind->cause(times);
	assert_int_equal(tally_fd_disable(fd, false), 0);
}

static struct tally_ring *ring_of(int fd)
{
	struct tally_ring_options options = {.size = sizeof(options), .pages = 4};
	struct tally_ring *ring;

	assert_int_equal(tally_ring_open(fd, &options, NULL, &ring, NULL), 0);
	return ring;
}

/* --- poll, select, epoll --- */

static bool selectable(int fd)
{
	struct timeval none = {0};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &none) == 1 && FD_ISSET(fd, &set);
}

/* After 8 samples (watermark: after 128 bytes, the same); 30 causes are at most 6 samples. */
static void waits_of(const struct kind *kind, bool watermark)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
	struct tally_open_target target = this_thread();
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd;
	struct tally_ring *ring;
	struct tally_attr attr;

	fd = open_sampling(kind, &attr);
	if (fd < 0) {
		close(epoll);
		return;
	}
	close(fd);
	attr.watermark = watermark;
	attr.wakeup_events = watermark ? 128 : 8; /* one field for both */
	fd = tally_open(&attr, &target, NULL, NULL);
	assert_true(fd >= 0);
	ring = ring_of(fd);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	for (int way = 0; way < 3; way++) {
		cause(kind, fd, 3 * PERIOD);
		assert_int_equal(way == 0   ? tally_overflow_wait(fd, 0)
				 : way == 1 ? selectable(fd)
					    : epoll_wait(epoll, &event, 1, 0),
				 0);
		cause(kind, fd, 6 * PERIOD);
		if (way == 0) {
			assert_int_equal(tally_overflow_wait(fd, 1000), TALLY_OVERFLOW_READY);
		} else if (way == 1) {
			assert_true(selectable(fd));
		} else {
			assert_int_equal(epoll_wait(epoll, &event, 1, 1000), 1);
			assert_int_equal(event.events, EPOLLIN);
			assert_int_equal(event.data.u64, 77);
		}
		/* From here on anew: what is there is read, and a look takes the mark. */
		tally_overflow_wait(fd, 0);
		for (struct tally_record record; tally_ring_next(ring, &record) == 1;)
			;
		close(fd);
		tally_ring_close(ring);
		fd = tally_open(&attr, &target, NULL, NULL);
		assert_true(fd >= 0);
		ring = ring_of(fd);
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	}
	tally_ring_close(ring);
	close(fd);
	close(epoll);
}

static void waiting(void **state)
{
	(void)state;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		waits_of(&kinds[i], false);
		waits_of(&kinds[i], true);
	}
}

/* --- signals --- */

static volatile sig_atomic_t signals, hangups, wrong;
static int expected_fd;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signals = signals + 1;
	hangups = hangups + (info->si_code == POLL_HUP);
	if (info->si_fd != expected_fd || (info->si_code != POLL_HUP && info->si_code != POLL_IN))
		wrong = 1;
}

static void catch (int signal, int fd)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	signals = hangups = wrong = 0;
	expected_fd = fd;
	assert_int_equal(sigaction(signal, &action, NULL), 0);
}

/* One for each overflow; then so many as were refreshed, the last of which hangs up. */
static void signals_of_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct tally_attr attr;
		int fd = open_sampling(&kinds[i], &attr), seen;

		if (fd < 0)
			continue;
		catch (SIGRTMIN, fd);
		assert_int_equal(tally_overflow_signal(fd, SIGRTMIN, 0), 0);
		cause(&kinds[i], fd, 5 * PERIOD);
		assert_in_range(signals, 5, 8);
		assert_int_equal(hangups, 0);
		seen = signals;
		assert_int_equal(tally_fd_refresh(fd, 3), 0);
		kinds[i].cause(10 * PERIOD);
		assert_int_equal(signals, seen + 3);
		assert_int_equal(hangups, 1);
		assert_int_equal(wrong, 0);
		close(fd);
	}
}

/* fcntl(2)'s owners: a thread, a process, a process group. */
static void owners(void **state)
{
	(void)state;
	setpgid(0, 0); /* a group of its own: nobody else is notified */
	for (size_t i = 0; i < KIND_COUNT; i++) {
		const struct f_owner_ex to[] = {{F_OWNER_TID, (pid_t)syscall(SYS_gettid)},
						{F_OWNER_PID, getpid()},
						{F_OWNER_PGRP, getpgrp()}};

		for (size_t j = 0; j < 3; j++) {
			struct tally_attr attr;
			int fd = open_sampling(&kinds[i], &attr);

			if (fd < 0)
				continue;
			catch (SIGUSR1, fd);
			assert_int_equal(tally_overflow_signal(fd, SIGUSR1, 0), 0);
			assert_int_equal(fcntl(fd, F_SETOWN_EX, &to[j]), 0);
			cause(&kinds[i], fd, 5 * PERIOD);
			/* It is no real-time signal: those that wait are one. */
			assert_in_range(signals, 1, 8);
			assert_int_equal(wrong, 0);
			close(fd);
		}
	}
}

/* --- the end --- */

/* poll(2) hangs up where there is no ring, and when the task has ended; a refresh that is used up
 * is notified by a signal alone. */
static void hangups_of_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct tally_open_target target = this_thread();
		struct tally_ring *ring;
		struct tally_attr attr;
		int fd = open_sampling(&kinds[i], &attr), hold[2], status;
		char byte;

		if (fd < 0)
			continue;
		assert_int_equal(tally_overflow_wait(fd, 0), TALLY_OVERFLOW_HUNGUP);
		ring = ring_of(fd);
		assert_int_equal(tally_overflow_wait(fd, 0), 0);
		assert_int_equal(tally_fd_refresh(fd, 2), 0);
		kinds[i].cause(5 * PERIOD);
		assert_int_equal(tally_overflow_wait(fd, 1000), TALLY_OVERFLOW_READY);
		assert_int_equal(tally_overflow_wait(fd, 0), 0);
		tally_ring_close(ring);
		close(fd);

		assert_int_equal(pipe(hold), 0);
		target.pid = fork();
		if (!target.pid) {
			close(hold[1]);
			_exit(read(hold[0], &byte, 1) != 0);
		}
		fd = kind_open(&kinds[i], &attr, &target);
		assert_true(fd >= 0);
		ring = ring_of(fd);
		assert_int_equal(tally_overflow_wait(fd, 0), 0);
		close(hold[0]);
		close(hold[1]);
		assert_int_equal(waitpid(target.pid, &status, 0), target.pid);
		assert_int_equal(tally_overflow_wait(fd, 10000), TALLY_OVERFLOW_HUNGUP);
		tally_ring_close(ring);
		close(fd);
	}
}

/* --- traps --- */

static void traps_of_every_kind(void **state)
{
	(void)state;
	catch_traps();
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct tally_open_target target = this_thread();
		struct tally_attr attr;
		int fd = open_sampling(&kinds[i], &attr);

		if (fd < 0)
			continue;
		close(fd);
		attr.sigtrap = attr.remove_on_exec = 1;
		attr.sig_data = 0x1234 + i;
		fd = tally_open(&attr, &target, NULL, NULL);
		if (fd == -EINVAL || fd == -E2BIG)
			continue; /* before Linux 5.13 */
		assert_true(fd >= 0);
		traps = 0;
		cause(&kinds[i], fd, 5 * PERIOD);
		assert_in_range(traps, 5, 8);
		assert_int_equal(trap.data, 0x1234 + i);
		assert_int_equal(trap.type, attr.type);
		close(fd);
		/* The program whose handler it is must still be there. */
		attr.remove_on_exec = 0;
		assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(waiting),
	    cmocka_unit_test(signals_of_every_kind),
	    cmocka_unit_test(owners),
	    cmocka_unit_test(hangups_of_every_kind),
	    cmocka_unit_test(traps_of_every_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
