/* What events do when their task starts a thread, a process, or another program; and the flags of
 * the system call. */
#include "kinds.h"

#include <fcntl.h>
#include <pthread.h>
#include <tally/open.h>
#include <tally/fd.h>
#include <tally/ring.h>

#define CAUSES 10

static void *cause_there(void *kind)
{
	((const struct kind *)kind)->cause(CAUSES);
	return NULL;
}

/* Causes in this thread, in another, and in a child process. */
static void cause_everywhere(const struct kind *kind)
{
	pthread_t thread;
	int status;
	pid_t child;

	kind->cause(CAUSES);
	assert_int_equal(pthread_create(&thread, NULL, cause_there, (void *)(uintptr_t)kind), 0);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		kind->cause(CAUSES);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
}

/* How many of the three were counted.  To start them touches pages and takes instructions: others
 * count exactly. */
static unsigned counted_in(const struct kind *kind, const struct tally_attr *attr)
{
	struct tally_open_target target = this_thread();
	int fd = tally_open(attr, &target, NULL, NULL);
	uint64_t value;

	assert_true(fd >= 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	cause_everywhere(kind);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	value = value_of(fd);
	close(fd);
	assert_int_equal(value % ((uint64_t)CAUSES * kind->unit), 0);
	return (unsigned)(value / ((uint64_t)CAUSES * kind->unit));
}

static void inheritance_of(const struct kind *kind, struct tally_attr attr)
{
	struct tally_open_target target = this_thread();

	attr.disabled = 1;
	attr.inherit_thread = 1;
	assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EINVAL);
	attr.inherit_thread = 0;
	if (kind->unit != 1 || kind->attr == kind_faults)
		return;
	assert_int_equal(counted_in(kind, &attr), 1);
	attr.inherit = 1;
	assert_int_equal(counted_in(kind, &attr), 3);
	attr.inherit_stat = 1; /* who counted is kept apart, the sum is the same */
	assert_int_equal(counted_in(kind, &attr), 3);
	attr.inherit_stat = 0;
	attr.inherit_thread = 1;
	assert_int_equal(counted_in(kind, &attr), 2);
}

static void inheritance(void **state)
{
	(void)state;
	each_kind(inheritance_of);
}

/* The same of page faults, which every machine has: those of a process are many. */
static void inheritance_of_faults(void **state)
{
	uint64_t alone, threads, all;
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);

	(void)state;
	for (int way = 0; way < 3; way++) {
		int fd, status;
		pid_t child;

		attr.inherit = way > 0;
		attr.inherit_thread = way == 1;
		fd = must_open(&attr, -1);
		cause_faults(100);
		child = fork();
		if (!child) {
			cause_faults(10000);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		*(way == 0 ? &alone : way == 1 ? &threads : &all) = value_of(fd);
		close(fd);
	}
	assert_in_range(alone, 100, 9999);
	assert_in_range(threads, 100, 9999);
	assert_true(all >= 10100);
}

/* --- exec --- */

/* A child that causes events on request, and again on request after it has become another program;
 * each way of living through that is an event on it. */
#define BEFORE_EXEC 10
#define AFTER_EXEC  20

static void become_another(int go)
{
	char fd[16], byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	cause_tracepoint(BEFORE_EXEC);
	snprintf(fd, sizeof(fd), "%d", go);
	execl("/proc/self/exe", "test", "after-exec", fd, (char *)NULL);
	_exit(2);
}

static void across_exec(void **state)
{
	struct tally_open_target target = this_thread();
	struct tally_attr attr[3];
	uint64_t values[3];
	int fds[3], go[2], status;

	(void)state;
	/* A tracepoint, for a breakpoint of user space is gone with it. */
	if (kind_tracepoint(&attr[0])) {
		print_message("skipped: no tracepoints here\n");
		skip();
	}
	assert_int_equal(pipe(go), 0);
	target.pid = fork();
	if (!target.pid) {
		close(go[1]);
		become_another(go[0]);
	}
	close(go[0]);
	attr[2] = attr[1] = attr[0];
	attr[1].remove_on_exec = 1;
	attr[2].enable_on_exec = attr[2].disabled = 1;
	for (size_t i = 0; i < 3; i++)
		fds[i] = kind_open(&kinds[1], &attr[i], &target);
	attr[1].enable_on_exec = 1;
	assert_int_equal(tally_open(&attr[1], &target, NULL, NULL), -EINVAL);
	assert_int_equal(write(go[1], "x", 1), 1);
	close(go[1]);
	assert_int_equal(waitpid(target.pid, &status, 0), target.pid);
	assert_int_equal(status, 0);
	if (fds[0] < 0)
		skip();
	for (size_t i = 0; i < 3; i++) {
		assert_true(fds[i] >= 0);
		values[i] = value_of(fds[i]);
		close(fds[i]);
	}
	assert_int_equal(values[0], BEFORE_EXEC + AFTER_EXEC);
	assert_int_equal(values[1], BEFORE_EXEC);
	assert_int_equal(values[2], AFTER_EXEC);
}

/* --- flags of the system call --- */

#define GROUPED (PERF_FORMAT_GROUP)

static uint64_t members_of(int fd)
{
	struct tally_read read;
	uint64_t words[16];

	assert_int_equal(tally_fd_read(fd, GROUPED, words, 16, &read), 0);
	return read.nr;
}

/* group_fd is the leader's, the ring's to write to (FD_OUTPUT), or, with FD_NO_GROUP, no leader's.
 */
static void groups_and_outputs(void **state)
{
	static const struct {
		unsigned long flags;
		uint64_t members;
		bool output;
	} ways[] = {
	    {0, 2, false},
	    {PERF_FLAG_FD_NO_GROUP, 1, false},
	    {PERF_FLAG_FD_OUTPUT, 2, true},
	    {PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT, 1, true},
	};

	(void)state;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		for (size_t way = 0; kinds[i].samples && way < 4; way++) {
			struct tally_ring_options small = {.size = sizeof(small), .pages = 8};
			struct tally_open_target target = this_thread();
			struct tally_attr attr;
			struct tally_ring *ring;
			size_t samples;
			int leader, fd;

			leader = kind_try(&kinds[i], &attr, &target);
			if (leader < 0)
				break;
			close(leader);
			attr.read_format = GROUPED;
			attr.sample_period = 5 * kinds[i].unit;
			attr.sample_type = PERF_SAMPLE_IP;
			leader = tally_open(&attr, &target, NULL, NULL);
			assert_true(leader >= 0);
			assert_int_equal(tally_ring_open(leader, &small, NULL, &ring, NULL), 0);
			target.group_fd = leader;
			target.flags = ways[way].flags;
			fd = tally_open(&attr, &target, NULL, NULL);
			assert_true(fd >= 0);
			assert_int_equal(members_of(leader), ways[way].members);
			assert_int_equal(members_of(fd), ways[way].members);
			assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
			/* The member alone: what it samples goes where its output is. */
			assert_int_equal(tally_fd_enable(fd, false), 0);
			if (ways[way].members == 2) {
				attr.sample_period = 1ULL << 40;
				assert_int_equal(tally_fd_set_period(leader, 1ULL << 40), 0);
				assert_int_equal(tally_fd_enable(leader, false), 0);
			}
			kinds[i].cause(50);
			assert_int_equal(tally_fd_disable(fd, false), 0);
			assert_int_equal(tally_fd_disable(leader, false), 0);
			samples = drain(ring);
			assert_in_range(samples, ways[way].output ? 10 : 0,
					ways[way].output ? 16 : 0);
			tally_ring_close(ring);
			close(fd);
			close(leader);
		}
	}
}

/* Where there is room for all, neither pinned nor exclusive events change what others count. */
static void pinned_and_exclusive(void **state)
{
	(void)state;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct tally_open_target target = this_thread();
		struct tally_attr attr;
		int fds[3];

		/* Of hardware an exclusive one takes turns with the others. */
		if (kinds[i].attr == kind_instructions)
			continue;
		fds[0] = kind_try(&kinds[i], &attr, &target);
		if (fds[0] < 0)
			continue;
		attr.pinned = 1;
		fds[1] = tally_open(&attr, &target, NULL, NULL);
		assert_true(fds[1] >= 0);
		/* A member of a group is not pinned: its leader is. */
		target.group_fd = fds[0];
		assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EINVAL);
		target.group_fd = -1;
		attr.pinned = 0;
		attr.exclusive = 1;
		fds[2] = tally_open(&attr, &target, NULL, NULL);
		assert_true(fds[2] >= 0);
		target.group_fd = fds[0];
		assert_int_equal(tally_open(&attr, &target, NULL, NULL), -EINVAL);
		for (size_t j = 0; j < 3; j++)
			assert_int_equal(tally_fd_enable(fds[j], false), 0);
		kinds[i].cause(CAUSES);
		for (size_t j = 0; j < 3; j++) {
			assert_int_equal(tally_fd_disable(fds[j], false), 0);
			kind_check(&kinds[i], value_of(fds[j]), CAUSES);
			close(fds[j]);
		}
	}
}

/* What is left out is not counted: of breakpoints, whose writer is known. */
static void excluded(void **state)
{
	struct tally_open_target target = this_thread();
	struct tally_attr attr;
	int fd;

	(void)state;
	fd = kind_try(&kinds[2], &attr, &target);
	if (fd < 0)
		skip();
	close(fd);
	attr.exclude_kernel = attr.exclude_hv = 0;
	attr.exclude_user = 1;
	fd = kind_open(&kinds[2], &attr, &target);
	if (fd < 0)
		skip();
	assert_int_equal(tally_fd_enable(fd, false), 0);
	cause_breakpoint(CAUSES);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(value_of(fd), 0);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(inheritance),          cmocka_unit_test(inheritance_of_faults),
	    cmocka_unit_test(across_exec),          cmocka_unit_test(groups_and_outputs),
	    cmocka_unit_test(pinned_and_exclusive), cmocka_unit_test(excluded),
	};
	char byte;

	if (argc == 3 && !strcmp(argv[1], "after-exec")) {
		cause_tracepoint(AFTER_EXEC);
		return read((int)strtol(argv[2], NULL, 10), &byte, 1) != 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
