/* Rings: records that wrap, loss that adds up, overwriting, and limits. */
#include "kernel_test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <tally/limits.h>
#include <tally/open.h>
#include <tally/fd.h>
#include <tally/ring.h>

/* One record: header, ip, pid and tid, time, addr; 40 bytes do not divide a ring, so some wrap. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)
#define SAMPLE_SIZE 40
#define AT_TID      16
#define AT_ADDR     32

static struct tally_attr every_fault(void)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	attr.sample_type = SAMPLE_TYPE;
	attr.disabled = 1;
	return attr;
}

static struct tally_ring *must_map(int fd, size_t pages, bool overwrite)
{
	struct tally_ring_options options = {
	    .size = sizeof(options), .pages = pages, .overwrite = overwrite};
	struct tally_ring *ring = NULL;
	struct tally_error error;

	if (tally_ring_open(fd, &options, NULL, &ring, &error))
		fail_msg("%s", error.text);
	assert_int_equal(tally_ring_pages(ring), pages);
	assert_int_equal(tally_ring_fd(ring), fd);
	return ring;
}

static uint64_t word_at(const struct tally_record *record, size_t at)
{
	uint64_t word;

	memcpy(&word, record->bytes + at, sizeof(word));
	return word;
}

struct seen {
	size_t samples, lost_records;
	uint64_t lost;
	int64_t next_page; /* expected */
};

/* Takes all there is; samples of the pages must come in their order, gaps only when some were lost.
 */
static void drain(struct tally_ring *ring, const struct pages *pages, struct seen *seen)
{
	struct tally_record record;
	int result;

	while ((result = tally_ring_next(ring, &record)) == 1) {
		int64_t page;

		assert_int_equal((uintptr_t)record.bytes % 8, 0);
		if (record.type == PERF_RECORD_LOST) {
			seen->lost_records++;
			seen->lost += word_at(&record, 16); /* id, lost */
			continue;
		}
		assert_int_equal(record.type, PERF_RECORD_SAMPLE);
		assert_int_equal(record.size, SAMPLE_SIZE);
		assert_int_equal(word_at(&record, AT_TID) >> 32, gettid());
		seen->samples++;
		page = pages_index(pages, word_at(&record, AT_ADDR));
		if (page < 0)
			continue; /* a fault of the test's own */
		if (seen->next_page >= 0)
			assert_int_equal(page, seen->next_page);
		seen->next_page = page + 1;
	}
	assert_int_equal(result, 0);
}

static void wraps(void **state)
{
	struct tally_attr attr = every_fault();
	struct pages pages = pages_new(5000);
	struct tally_ring *ring;
	struct tally_read read;
	struct seen seen = {0};
	uint64_t word;
	int fd;

	(void)state;
	fd = must_open(&attr, -1);
	ring = must_map(fd, 2, false);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	while (pages.touched < pages.count) {
		pages_touch(&pages, 125);
		drain(ring, &pages, &seen);
	}
	assert_int_equal(tally_fd_disable(fd, false), 0);
	drain(ring, &pages, &seen);
	assert_int_equal(seen.next_page, 5000);
	assert_int_equal(seen.lost, 0);
	assert_int_equal(tally_fd_read(fd, 0, &word, 1, &read), 0);
	assert_int_equal(seen.samples, read.value);
	tally_ring_close(ring);
	close(fd);
	pages_done(&pages);
}

/* What did not fit is counted: samples + lost = what the event counted. */
static void lost_adds_up(void **state)
{
	struct tally_attr attr = every_fault();
	struct tally_open_target target = this_thread();
	struct pages pages = pages_new(3000);
	struct tally_ring *ring;
	struct tally_read read;
	struct seen seen = {0};
	uint64_t words[2];
	int fd;

	(void)state;
	attr.read_format = TEST_FORMAT_LOST;
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd == -EINVAL) {
		print_message("skipped: the kernel has no PERF_FORMAT_LOST (Linux 6.0)\n");
		skip();
	}
	if (fd < 0)
		fd = must_open(&attr, -1);
	ring = must_map(fd, 1, false);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	for (int round = 0; round < 3; round++) {
		pages_touch(&pages, 900);
		drain(ring, &pages, &seen);
		seen.next_page = -1; /* after a loss anywhere */
	}
	/* The last loss is reported before the next sample. */
	pages_touch(&pages, 1);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	drain(ring, &pages, &seen);
	assert_int_equal(tally_fd_read(fd, attr.read_format, words, 2, &read), 0);
	assert_int_equal(seen.lost_records, 3);
	assert_true(seen.lost > 2000);
	assert_int_equal(seen.samples + seen.lost, read.value);
	assert_int_equal(seen.lost, read.lost);
	tally_ring_close(ring);
	close(fd);
	pages_done(&pages);
}

struct toucher {
	struct pages pages;
	pthread_barrier_t known, go;
	pid_t tid;
	bool done; /* atomic */
};

static void *touch_all(void *context)
{
	struct toucher *toucher = context;

	toucher->tid = gettid();
	pthread_barrier_wait(&toucher->known);
	pthread_barrier_wait(&toucher->go);
	pages_touch(&toucher->pages, toucher->pages.count);
	__atomic_store_n(&toucher->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The kernel writes for another thread while this one reads: no record is torn, missed or given
 * twice. */
static void while_it_is_written(void **state)
{
	struct toucher toucher = {.pages = pages_new(20000)};
	struct tally_attr attr = every_fault();
	struct tally_open_target target = this_thread();
	struct tally_record record;
	struct tally_ring *ring;
	struct tally_read read;
	uint64_t lost = 0, samples = 0, word;
	int64_t last = -1;
	pthread_t thread;
	bool done = false;
	int fd;

	(void)state;
	close(must_open(&attr, -1));
	pthread_barrier_init(&toucher.known, NULL, 2);
	pthread_barrier_init(&toucher.go, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, touch_all, &toucher), 0);
	pthread_barrier_wait(&toucher.known);
	target.pid = toucher.tid;
	fd = tally_open(&attr, &target, NULL, NULL);
	assert_true(fd >= 0);
	ring = must_map(fd, 4, false);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pthread_barrier_wait(&toucher.go);
	while (!done) {
		/* Once more after it was done. */
		done = __atomic_load_n(&toucher.done, __ATOMIC_ACQUIRE);
		while (tally_ring_next(ring, &record) == 1) {
			int64_t page;

			if (record.type == PERF_RECORD_LOST) {
				lost += word_at(&record, 16);
				continue;
			}
			assert_int_equal(record.type, PERF_RECORD_SAMPLE);
			assert_int_equal(record.size, SAMPLE_SIZE);
			assert_int_equal(word_at(&record, AT_TID) >> 32, toucher.tid);
			samples++;
			page = pages_index(&toucher.pages, word_at(&record, AT_ADDR));
			if (page >= 0) {
				assert_true(page > last);
				last = page;
			}
		}
	}
	pthread_join(thread, NULL);
	assert_int_equal(tally_fd_disable(fd, false), 0);
	while (tally_ring_next(ring, &record) == 1)
		samples++; /* the thread's own end */
	assert_int_equal(tally_fd_read(fd, 0, &word, 1, &read), 0);
	/* A loss that no later record reports stays unreported; else all adds up. */
	if (last == 19999)
		assert_int_equal(samples + lost, read.value);
	assert_true(samples + lost <= read.value && samples > 100);
	pthread_barrier_destroy(&toucher.known);
	pthread_barrier_destroy(&toucher.go);
	tally_ring_close(ring);
	close(fd);
	pages_done(&toucher.pages);
}

/* The two runs of a peek hold the same records that next gives, and consume frees them in parts. */
static void runs(void **state)
{
	struct tally_attr attr = every_fault();
	struct pages pages = pages_new(1000);
	struct tally_ring_bytes bytes;
	struct tally_ring *ring;
	size_t in_two = 0, total = 0, got;
	uint64_t word;
	struct tally_read read;
	int fd;

	(void)state;
	fd = must_open(&attr, -1);
	ring = must_map(fd, 1, false);
	assert_int_equal(tally_ring_peek(ring, &bytes), 0);
	assert_null(bytes.first);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	while (pages.touched < pages.count) {
		pages_touch(&pages, 50);
		got = tally_ring_peek(ring, &bytes);
		assert_int_equal(got, bytes.first_size + bytes.second_size);
		assert_int_equal(got % SAMPLE_SIZE, 0);
		in_two += bytes.second_size > 0;
		/* What was seen stays until consumed; faults of the test's own may follow it. */
		tally_ring_consume(ring, SAMPLE_SIZE);
		total += SAMPLE_SIZE;
		assert_in_range(tally_ring_peek(ring, &bytes), got - SAMPLE_SIZE, 4096);
		got -= SAMPLE_SIZE;
		tally_ring_consume(ring, got);
		total += got;
	}
	assert_int_equal(tally_fd_disable(fd, false), 0);
	total += tally_ring_peek(ring, &bytes);
	tally_ring_consume(ring, SIZE_MAX); /* never past the end */
	assert_int_equal(tally_ring_peek(ring, &bytes), 0);
	assert_true(in_two > 5);
	assert_int_equal(tally_fd_read(fd, 0, &word, 1, &read), 0);
	assert_int_equal(total, read.value * SAMPLE_SIZE);
	tally_ring_close(ring);
	close(fd);
	pages_done(&pages);
}

/* Newest first, down to `last`; returns how many. */
static size_t drain_backward(struct tally_ring *ring, const struct pages *pages, int64_t newest)
{
	struct tally_record record;
	size_t count = 0;
	int result;

	while ((result = tally_ring_next(ring, &record)) == 1) {
		int64_t page = pages_index(pages, word_at(&record, AT_ADDR));

		assert_int_equal(record.type, PERF_RECORD_SAMPLE);
		if (page < 0)
			continue;
		assert_int_equal(page, newest);
		newest--;
		count++;
	}
	assert_int_equal(result, 0);
	return count;
}

static void overwrites(void **state)
{
	struct tally_attr attr = every_fault();
	struct pages pages = pages_new(2000);
	struct tally_ring *ring;
	size_t count, page_size = (size_t)sysconf(_SC_PAGESIZE);
	int fd;

	(void)state;
	attr.write_backward = 1;
	fd = must_open(&attr, -1);
	ring = must_map(fd, 1, true);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	/* Less than fits. */
	pages_touch(&pages, 10);
	assert_int_equal(tally_fd_pause_output(fd, true), 0);
	assert_int_equal(drain_backward(ring, &pages, 9), 10);
	assert_int_equal(drain_backward(ring, &pages, 0), 0); /* each once */
	/* While paused nothing is written. */
	pages_touch(&pages, 5);
	assert_int_equal(tally_fd_pause_output(fd, false), 0);
	/* Much more than fits: the newest remain. */
	pages_touch(&pages, 1500);
	assert_int_equal(tally_fd_pause_output(fd, true), 0);
	count = drain_backward(ring, &pages, 1514);
	assert_in_range(count, page_size / SAMPLE_SIZE - 10, page_size / SAMPLE_SIZE);
	assert_int_equal(tally_fd_pause_output(fd, false), 0);
	/* Only what came since. */
	pages_touch(&pages, 3);
	assert_int_equal(tally_fd_pause_output(fd, true), 0);
	assert_int_equal(drain_backward(ring, &pages, 1517), 3);
	tally_ring_close(ring);
	close(fd);
	pages_done(&pages);
}

/* Nobody can find the records of a ring that is overwritten forward. */
static void overwrites_forward(void **state)
{
	struct tally_attr attr = every_fault();
	struct pages pages = pages_new(300);
	struct tally_record record;
	struct tally_ring *ring;
	int fd;

	(void)state;
	fd = must_open(&attr, -1);
	ring = must_map(fd, 1, true);
	assert_int_equal(tally_ring_next(ring, &record), 0);
	assert_int_equal(tally_fd_enable(fd, false), 0);
	pages_touch(&pages, 300);
	assert_int_equal(tally_ring_next(ring, &record), -EINVAL);
	tally_ring_close(ring);
	close(fd);
	pages_done(&pages);
}

static void options_checked(void **state)
{
	struct tally_attr attr = every_fault();
	struct {
		struct tally_ring_options known;
		uint64_t newer;
	} later = {.known = {.size = sizeof(later), .pages = 1}};
	struct tally_ring_options three = {.size = sizeof(three), .pages = 3},
				  none = {.size = sizeof(none)},
				  huge = {.size = sizeof(huge), .pages = (SIZE_MAX >> 1) + 1};
	struct tally_ring *ring = NULL;
	struct tally_ring_bytes bytes;
	struct tally_record record;
	struct tally_error error;
	int fd;

	(void)state;
	fd = must_open(&attr, -1);
	later.newer = 1;
	assert_int_equal(tally_ring_open(fd, &later.known, NULL, &ring, &error), -E2BIG);
	assert_int_equal(tally_ring_open(fd, &three, NULL, &ring, &error), -EINVAL);
	assert_non_null(strstr(error.text, "power of two"));
	assert_int_equal(tally_ring_open(fd, &huge, NULL, &ring, &error), -EINVAL);
	assert_int_equal(tally_ring_open(-1, &none, NULL, &ring, &error), -EBADF);
	assert_null(ring);
	later.newer = 0;
	assert_int_equal(tally_ring_open(fd, &later.known, NULL, &ring, &error), 0);
	tally_ring_close(ring);
	/* No data pages: the control page alone. */
	assert_int_equal(tally_ring_open(fd, &none, NULL, &ring, &error), 0);
	assert_int_equal(tally_ring_pages(ring), 0);
	assert_int_equal(tally_ring_peek(ring, &bytes), 0);
	assert_int_equal(tally_ring_next(ring, &record), 0);
	tally_ring_consume(ring, 8);
	tally_ring_close(ring);
	tally_ring_close(NULL);
	close(fd);
}

/* 13.11: an event whose output goes to another one's ring has none. */
static void sent_elsewhere(void **state)
{
	struct tally_attr attr = every_fault();
	struct tally_ring_options options = {.size = sizeof(options), .pages = 2};
	struct tally_ring *ring, *none = NULL;
	struct tally_error error = {0};
	int fd, other, result;

	(void)state;
	fd = must_open(&attr, -1);
	other = must_open(&attr, -1);
	assert_int_equal(tally_ring_open(fd, &options, NULL, &ring, &error), 0);
	assert_int_equal(tally_fd_set_output(other, fd), 0);
	result = tally_ring_open(other, &options, NULL, &none, &error);
	if (!result) { /* before Linux 6.17 both have the same ring */
		tally_ring_close(none);
		none = NULL;
	} else {
		assert_true(result == -EBUSY || result == -EINVAL);
		assert_int_equal(error.code, result);
		assert_non_null(strstr(error.text, result == -EBUSY
						       ? "goes to another event's ring"
						       : "output goes to another ring"));
	}
	assert_null(none);
	tally_ring_close(ring);
	close(other);
	close(fd);
}

/* Over kernel.perf_event_mlock_kb a ring of nobody is halved, or refused with words. */
static int locked_memory(void)
{
	struct rlimit nothing = {0};
	struct tally_attr attr = every_fault();
	struct tally_open_target target = this_thread();
	struct tally_ring_options options = {.size = sizeof(options), .pages = 1 << 16};
	struct tally_ring *ring;
	struct tally_limits limits = {.size = sizeof(limits)};
	struct tally_error error;
	size_t pages;
	int fd;

	setrlimit(RLIMIT_MEMLOCK, &nothing);
	tally_limits_read(NULL, &limits);
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd == -EACCES || limits.paranoid < 0 || limits.mlock_kb > 1 << 16)
		return 77;
	if (fd < 0)
		return 1;
	options.least_pages = options.pages;
	if (tally_ring_open(fd, &options, NULL, &ring, &error) != -EPERM)
		return 2;
	if (!strstr(error.text, "perf_event_mlock_kb") || !strstr(error.text, "cap_ipc_lock"))
		return 3;
	options.least_pages = 1;
	if (tally_ring_open(fd, &options, NULL, &ring, &error))
		return 4;
	pages = tally_ring_pages(ring);
	if (!pages || pages >= options.pages || pages & (pages - 1))
		return 5;
	/* As much as fits: the double would not. */
	if ((pages * 2 + 1) * 4096 / 1024 <= (uint64_t)limits.mlock_kb)
		return 6;
	tally_ring_close(ring);
	return 0;
}

static void halves(void **state)
{
	int status = as_nobody(locked_memory);

	(void)state;
	if (status == 77) {
		print_message("skipped: nobody may open no event here, or lock all he wants\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* mmap() of this descriptor is refused. */
static void forbid_mapping(int fd)
{
	struct sock_filter program[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)fd, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = 6, .filter = program};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(77);
}

static int forbidden(void)
{
	struct tally_ring_options options = {.size = sizeof(options), .pages = 1};
	struct tally_limits limits = {.size = sizeof(limits)};
	struct tally_attr attr = every_fault();
	struct tally_open_target target = this_thread();
	struct tally_error error;
	struct tally_ring *ring;
	int fd = tally_open(&attr, &target, NULL, NULL);

	if (fd < 0)
		return 77;
	tally_limits_read(NULL, &limits);
	limits.paranoid = 2;
	limits.memlock = 0;
	limits.ipc_lock = true;
	limits.user_namespace = false;
	forbid_mapping(fd);
	if (tally_ring_open(fd, &options, &limits, &ring, &error) != -EPERM ||
	    !strstr(error.text, "this process runs under a seccomp filter"))
		return 1;
	/* Where locked memory may be the reason, it is named. */
	limits.user_namespace = true;
	if (tally_ring_open(fd, &options, &limits, &ring, &error) != -EPERM ||
	    !strstr(error.text, "perf_event_mlock_kb"))
		return 2;
	return 0;
}

static void names_a_policy(void **state)
{
	int status = as_nobody(forbidden);

	(void)state;
	if (status == 77) {
		print_message("skipped: no events or no seccomp filters here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wraps),
	    cmocka_unit_test(lost_adds_up),
	    cmocka_unit_test(while_it_is_written),
	    cmocka_unit_test(runs),
	    cmocka_unit_test(overwrites),
	    cmocka_unit_test(overwrites_forward),
	    cmocka_unit_test(options_checked),
	    cmocka_unit_test(sent_elsewhere),
	    cmocka_unit_test(halves),
	    cmocka_unit_test(names_a_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
