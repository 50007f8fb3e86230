/* Reading a counter in user space: made-up control pages, and the way back to read(2). */
#include "kernel_test.h"

#include <pthread.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/rdpmc.h>
#include "kernel/rdpmc_page.h"

#define CAPS_ALL 0xe /* not bit 0; user_rdpmc, user_time */

/* What the made-up CPU shows, and does to the page while it is read. */
static struct {
	struct perf_event_mmap_page *page;
	uint64_t counters[4], clock;
	unsigned reads, change_until;
} made;

static uint64_t made_counter(uint32_t index)
{
	uint64_t value = made.counters[index];

	/* The kernel comes in between: another lock, another offset. */
	if (made.reads++ < made.change_until) {
		made.page->lock += 2;
		made.page->offset += 1000;
	}
	return value;
}

static uint64_t made_clock(void)
{
	return made.clock;
}

static const struct rdpmc_cpu cpu = {made_counter, made_clock};

static struct perf_event_mmap_page *page_new(void)
{
	static union {
		struct perf_event_mmap_page page;
		uint8_t bytes[4096];
	} room;

	memset(&room, 0, sizeof(room));
	room.page.capabilities = CAPS_ALL;
	room.page.index = 3;
	room.page.pmc_width = 48;
	room.page.time_enabled = 1000;
	room.page.time_running = 600;
	room.page.time_mult = 1;
	memset(&made, 0, sizeof(made));
	made.page = &room.page;
	return &room.page;
}

static void adds_what_the_hardware_counted(void **state)
{
	struct perf_event_mmap_page *page = page_new();
	uint64_t raw, enabled, running;

	(void)state;
	page->offset = 5000;
	made.counters[2] = 70;
	made.clock = 40;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_int_equal(raw, 5070);
	assert_int_equal(enabled, 1040);
	assert_int_equal(running, 640);
	/* The kernel starts counters below 0, so that they overflow at the period: 48 bits, a sign.
	 */
	page->offset = 100000;
	made.counters[2] = (1ULL << 48) - 100000;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_int_equal(raw, 0);
	/* Bits above the width are nobody's. */
	made.counters[2] = 0xabcd000000000000ULL + 7;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_int_equal(raw, 100007);
	page->pmc_width = 64;
	made.counters[2] = (uint64_t)-1;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_int_equal(raw, 99999);
}

static void time_from_the_clock(void **state)
{
	struct perf_event_mmap_page *page = page_new();
	uint64_t raw, enabled, running;

	(void)state;
	/* 2.5 GHz: ns = cycles * 0.4, as mult / 2^shift. */
	page->time_shift = 10;
	page->time_mult = 410;
	page->time_offset = (uint64_t)-500;
	made.clock = (1ULL << 60) + 12345;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_true(enabled ==
		    1000 - 500 + (uint64_t)(((unsigned __int128)made.clock * 410) >> 10));
	/* A clock of 32 bits has gone round once since the kernel looked. */
	page->time_shift = 0;
	page->time_mult = 1;
	page->time_offset = 0;
	page->capabilities |= RDPMC_TIME_SHORT;
	*(uint64_t *)((uint8_t *)page + RDPMC_TIME_CYCLES) = 0x5fffffff0ULL;
	*(uint64_t *)((uint8_t *)page + RDPMC_TIME_MASK) = 0xffffffffULL;
	made.clock = 0x10;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_true(enabled == 1000 + 0x600000010ULL);
}

static void whole_readings_only(void **state)
{
	struct perf_event_mmap_page *page = page_new();
	uint64_t raw, enabled, running;

	(void)state;
	page->offset = 1;
	made.change_until = 3;
	assert_true(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	assert_int_equal(made.reads, 4);
	assert_int_equal(raw, 3001);
}

static void not_to_be_read(void **state)
{
	uint64_t raw = 7, enabled = 7, running = 7;
	struct perf_event_mmap_page *page;

	(void)state;
	for (int i = 0; i < 6; i++) {
		page = page_new();
		switch (i) {
		case 0:
			page->index = 0; /* not on the hardware now */
			break;
		case 1:
			page->pmc_width = 0;
			break;
		case 2:
			page->pmc_width = 65;
			break;
		case 3:
			page->capabilities = CAPS_ALL & ~4; /* no rdpmc */
			break;
		case 4:
			page->capabilities = CAPS_ALL & ~8; /* no time */
			break;
		default:
			page->capabilities = CAPS_ALL & ~2; /* before Linux 3.12 */
			break;
		}
		assert_false(rdpmc_page_read(page, cpu, &raw, &enabled, &running));
	}
	assert_int_equal(raw + enabled + running, 21);
	assert_int_equal(made.reads, 0);
}

struct other {
	struct tally_rdpmc *counter;
	struct tally_count count;
	int result;
	bool direct;
};

static void *read_elsewhere(void *argument)
{
	struct other *other = argument;

	other->direct = tally_rdpmc_direct(other->counter);
	other->result = tally_rdpmc_read(other->counter, &other->count);
	return NULL;
}

/* A software event is on no hardware: read(2) gives it, in whatever format. */
static void falls_back_by_itself(void **state)
{
	struct pages pages = pages_new(64);
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct tally_rdpmc *counter;
	struct tally_count count;
	struct other other;
	pthread_t thread;
	uint64_t id, value;
	int fd;

	(void)state;
	attr.read_format =
	    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
	fd = must_open(&attr, -1);
	assert_int_equal(tally_fd_id(fd, &id), 0);
	assert_int_equal(tally_rdpmc_open(fd, &attr, &counter), 0);
	assert_false(tally_rdpmc_direct(counter));
	assert_int_equal(tally_fd_reset(fd, false), 0);
	pages_touch(&pages, 50);
	assert_int_equal(tally_rdpmc_read(counter, &count), 0);
	assert_int_equal(count.quality, TALLY_COUNT_COUNTED);
	assert_int_equal(count.id, id);
	assert_int_equal(count.places, 1);
	assert_int_equal(tally_count_exact(&count, &value), 0);
	assert_in_range(value, 50, 80);
	/* From another thread it is the same counter. */
	other.counter = counter;
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(tally_rdpmc_read(counter, &count), 0);
	assert_int_equal(pthread_create(&thread, NULL, read_elsewhere, &other), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(other.result, 0);
	assert_false(other.direct);
	assert_int_equal(other.count.raw, count.raw);
	tally_rdpmc_close(counter);
	close(fd);

	attr.read_format = 0;
	fd = must_open(&attr, -1);
	assert_int_equal(tally_rdpmc_open(fd, &attr, &counter), 0);
	pages_touch(&pages, 10);
	assert_int_equal(tally_rdpmc_read(counter, &count), 0);
	assert_true(count.raw >= 10);
	assert_int_equal(count.quality, TALLY_COUNT_PARTIAL); /* the times are unknown */
	tally_rdpmc_close(counter);
	close(fd);
	attr.read_format = PERF_FORMAT_GROUP;
	assert_int_equal(tally_rdpmc_open(fd, &attr, &counter), -EINVAL);
	pages_done(&pages);
}

/* Where there is hardware to read: the two ways agree. */
static void agrees_with_read(void **state)
{
	struct tally_attr attr = {.type = PERF_TYPE_HARDWARE,
				  .config = PERF_COUNT_HW_CPU_CYCLES,
				  .exclude_kernel = 1,
				  .exclude_hv = 1};
	struct tally_open_target target = this_thread();
	struct tally_rdpmc *counter;
	struct tally_count before, between, after;
	struct tally_read read;
	uint64_t words[4];
	int fd;

	(void)state;
#ifdef __aarch64__
	attr.config1 = 3; /* 64 bits, user access */
#endif
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd < 0)
		skip(); /* no PMU */
	assert_int_equal(tally_rdpmc_open(fd, &attr, &counter), 0);
	if (!tally_rdpmc_direct(counter)) {
		print_message("skipped: this kernel lets user space read no counter\n");
		tally_rdpmc_close(counter);
		close(fd);
		skip();
	}
	assert_int_equal(tally_rdpmc_read(counter, &before), 0);
	assert_int_equal(tally_fd_read(fd, attr.read_format, words, 4, &read), 0);
	between.raw = read.value;
	between.time_enabled = read.time_enabled;
	assert_int_equal(tally_rdpmc_read(counter, &after), 0);
	assert_true(before.raw <= between.raw && between.raw <= after.raw);
	assert_true(before.time_enabled <= between.time_enabled &&
		    between.time_enabled <= after.time_enabled);
	tally_rdpmc_close(counter);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(adds_what_the_hardware_counted),
	    cmocka_unit_test(time_from_the_clock),
	    cmocka_unit_test(whole_readings_only),
	    cmocka_unit_test(not_to_be_read),
	    cmocka_unit_test(falls_back_by_itself),
	    cmocka_unit_test(agrees_with_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
