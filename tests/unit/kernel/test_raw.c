/* The bottom layer: nothing of the system call or the ring is changed on the way. */
#include "kernel_test.h"

#include <fcntl.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/raw.h>

static int open_raw(struct tally_attr *attr)
{
	int fd;

	attr->size = tally_attr_min_size(attr);
	fd = tally_perf_event_open(attr, 0, -1, -1, 0);
	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == ENOSYS)) {
		print_message("skipped: %s\n", strerror(errno));
		skip();
	}
	assert_true(fd >= 0);
	return fd;
}

static void results_of_the_system_call(void **state)
{
	union {
		struct tally_attr attr;
		uint8_t bytes[4096];
	} large = {.attr = software(PERF_COUNT_SW_DUMMY)};
	struct tally_attr attr = software(PERF_COUNT_SW_DUMMY);
	int fd;

	(void)state;
	close(open_raw(&attr));
	errno = 0;
	attr.type = 0x7fffffff;
	assert_int_equal(tally_perf_event_open(&attr, 0, -1, -1, 0), -1);
	assert_int_equal(errno, ENOENT);
	attr.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(tally_perf_event_open(&attr, 0, -1, -1, 1UL << 30), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(tally_perf_event_open(&attr, 0, -1, 99999, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(tally_perf_event_open(&attr, -1, -1, -1, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(tally_perf_event_open(NULL, 0, -1, -1, 0), -1);
	assert_int_equal(errno, EFAULT);
	/* A size that it does not know, with something there: refused, and the size that it knows
	 * is returned. */
	large.attr.size = sizeof(large.bytes);
	large.bytes[4000] = 1;
	assert_int_equal(tally_perf_event_open(&large, 0, -1, -1, 0), -1);
	assert_int_equal(errno, E2BIG);
	assert_true(large.attr.size >= 64 && large.attr.size < 4096);
	/* All zero behind what it knows: fine.  And size 0 is the first that there was. */
	large.bytes[4000] = 0;
	large.attr.size = sizeof(large.bytes);
	fd = tally_perf_event_open(&large, 0, -1, -1, 0);
	assert_true(fd >= 0);
	close(fd);
	large.attr.size = 0;
	fd = tally_perf_event_open(&large, 0, -1, -1, 0);
	assert_true(fd >= 0);
	close(fd);
}

/* No flag of our own: the descriptor stays open in programs that are started, unless asked. */
static void flags_as_given(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_DUMMY);
	int fd = open_raw(&attr);

	(void)state;
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	close(fd);
	fd = tally_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

/* A sample a fault, 32 bytes each: header, ip, addr, and the time. */
static struct tally_attr faults(void)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME;
	attr.disabled = 1;
	return attr;
}

static void records_in_order_across_the_wrap(void **state)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = 2 * page_size;
	size_t laps = 9, each = 60, next = 0;
	struct pages pages = pages_new(laps * each);
	const struct perf_event_header *header;
	struct tally_attr attr = faults();
	struct tally_raw_ring ring;
	uint64_t joined[8192], time = 0;
	void *mapping;
	int fd;

	(void)state;
	/* 40 bytes a record, so that some wrap. */
	attr.sample_type |= PERF_SAMPLE_TID;
	fd = open_raw(&attr);
	mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(mapping, MAP_FAILED);
	assert_int_equal(tally_raw_ring_init(&ring, mapping, size, joined), 0);
	assert_int_equal(tally_raw_ring_next(&ring, &header), 0);
	for (size_t lap = 0; lap < laps; lap++) {
		int got;

		assert_int_equal(tally_fd_enable(fd, false), 0);
		pages_touch(&pages, each);
		assert_int_equal(tally_fd_disable(fd, false), 0);
		while ((got = tally_raw_ring_next(&ring, &header)) == 1) {
			const uint64_t *words = (const void *)header;

			assert_int_equal(header->type, PERF_RECORD_SAMPLE);
			assert_int_equal(header->size, 40);
			assert_int_equal((uint32_t)words[2], getpid());
			assert_true(words[3] >= time);
			time = words[3];
			if (pages_index(&pages, words[4]) < 0)
				continue; /* the test's own */
			assert_int_equal(pages_index(&pages, words[4]), next++);
		}
		assert_int_equal(got, 0);
		assert_int_equal(next, (lap + 1) * each);
		tally_raw_ring_release(&ring);
		assert_int_equal(((struct perf_event_mmap_page *)mapping)->data_tail, ring.at);
	}
	assert_true(ring.at > 4 * page_size);
	munmap(mapping, size);
	close(fd);
	pages_done(&pages);
}

/* The kernel writes a record about what it could not store, and the reader shows that, too. */
static void losses_are_records(void **state)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = 2 * page_size, samples = 0;
	struct pages pages = pages_new(300);
	const struct perf_event_header *header;
	struct tally_attr attr = faults();
	struct tally_raw_ring ring;
	uint64_t lost = 0, joined[8192];
	void *mapping;
	int fd;

	(void)state;
	fd = open_raw(&attr);
	mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(mapping, MAP_FAILED);
	assert_int_equal(tally_raw_ring_init(&ring, mapping, size, joined), 0);
	tally_fd_enable(fd, false);
	pages_touch(&pages, 200);
	while (tally_raw_ring_next(&ring, &header) == 1)
		samples++;
	assert_in_range(samples, 120, 128); /* 4096 / 32 */
	tally_raw_ring_release(&ring);
	pages_touch(&pages, 10);
	tally_fd_disable(fd, false);
	while (tally_raw_ring_next(&ring, &header) == 1) {
		const uint64_t *words = (const void *)header;

		if (header->type == PERF_RECORD_LOST)
			lost += words[2];
		else
			samples++;
	}
	assert_true(lost >= 200 - 128);
	assert_true(samples + lost >= 210);
	munmap(mapping, size);
	close(fd);
	pages_done(&pages);
}

/* A ring that nobody empties, mapped to be written over. */
static void what_was_written_over(void **state)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = 2 * page_size;
	struct pages pages = pages_new(300);
	const struct perf_event_header *header;
	struct tally_attr attr = faults();
	struct tally_raw_ring ring;
	void *mapping;
	int fd;

	(void)state;
	fd = open_raw(&attr);
	mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(mapping, MAP_FAILED);
	assert_int_equal(tally_raw_ring_init(&ring, mapping, size, NULL), 0);
	tally_fd_enable(fd, false);
	pages_touch(&pages, 300);
	tally_fd_disable(fd, false);
	assert_int_equal(tally_raw_ring_next(&ring, &header), -EOVERFLOW);
	assert_int_equal(tally_raw_ring_next(&ring, &header), 0);
	assert_true(ring.at >= 300 * 32);
	munmap(mapping, size);
	close(fd);
	pages_done(&pages);
}

static void made_up_rings(void **state)
{
	static union {
		struct perf_event_mmap_page page;
		uint8_t bytes[2 * 4096];
	} room __attribute__((aligned(4096)));
	struct perf_event_header *first = (void *)(room.bytes + 4096);
	const struct perf_event_header *header;
	struct tally_raw_ring ring;
	uint64_t joined[8192];

	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	assert_int_equal(tally_raw_ring_init(&ring, &room, 4096, NULL), -EINVAL);
	assert_int_equal(tally_raw_ring_init(&ring, &room, 4096 + 100, NULL), -EINVAL);
	room.page.data_offset = 4096;
	room.page.data_size = 8192; /* more than there is */
	assert_int_equal(tally_raw_ring_init(&ring, &room, sizeof(room), NULL), -EINVAL);
	room.page.data_size = 4096;
	assert_int_equal(tally_raw_ring_init(&ring, &room, sizeof(room), NULL), 0);
	*first = (struct perf_event_header){.type = 9, .size = 0};
	room.page.data_head = 64;
	for (uint16_t size = 0; size < 100; size++) {
		first->size = size;
		ring.at = ring.end = 0;
		assert_int_equal(tally_raw_ring_next(&ring, &header),
				 size >= 8 && size <= 64 && size % 8 == 0 ? 1 : -EBADMSG);
	}
	/* At the very end: half of it is at the front. */
	first = (void *)(room.bytes + 2 * 4096 - 8);
	*first = (struct perf_event_header){.type = 9, .size = 24};
	memcpy(room.bytes + 4096, "0123456789abcdef", 16);
	room.page.data_head = 4096 - 8 + 24;
	ring.at = ring.end = 4096 - 8;
	assert_int_equal(tally_raw_ring_next(&ring, &header), -ENOBUFS);
	ring.joined = joined;
	assert_int_equal(tally_raw_ring_next(&ring, &header), 1);
	assert_int_equal(header->size, 24);
	assert_memory_equal(header + 1, "0123456789abcdef", 16);
	assert_int_equal(tally_raw_ring_next(&ring, &header), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(results_of_the_system_call),
	    cmocka_unit_test(flags_as_given),
	    cmocka_unit_test(records_in_order_across_the_wrap),
	    cmocka_unit_test(losses_are_records),
	    cmocka_unit_test(what_was_written_over),
	    cmocka_unit_test(made_up_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
