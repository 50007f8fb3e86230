/* The control page: made-up ones with known answers, and those of real rings. */
#include "kernel_test.h"

#include <time.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "kernel/rdpmc_page.h"
#include "kernel/ring_page.h"

static struct perf_event_mmap_page *page_new(void)
{
	static union {
		struct perf_event_mmap_page page;
		uint8_t bytes[4096];
	} room;

	memset(&room, 0, sizeof(room));
	return &room.page;
}

static void put_u64(struct perf_event_mmap_page *page, size_t at, uint64_t value)
{
	memcpy((uint8_t *)page + at, &value, sizeof(value));
}

static void a_page_is_read(void **state)
{
	struct perf_event_mmap_page *page = page_new();
	struct tally_ring_control control = {.size = sizeof(control)};
	struct tally_record_time_conv conv;

	(void)state;
	page->version = 1;
	page->capabilities = 0x3e;
	page->time_shift = 31;
	page->time_mult = 633061711;
	page->time_zero = 0xfffffff000000001;
	page->time_offset = 77;
	put_u64(page, RDPMC_TIME_CYCLES, 5000);
	put_u64(page, RDPMC_TIME_MASK, 0xffffff);
	page->data_head = 1000;
	page->data_tail = 900;
	page->data_offset = 4096;
	page->data_size = 8192;
	page->aux_head = 70000;
	page->aux_tail = 60000;
	page->aux_offset = 12288;
	page->aux_size = 16384;
	tally_ring_page_control(page, &control);
	assert_int_equal(control.version, 1);
	assert_true(control.cap_user_rdpmc && control.cap_user_time && control.cap_user_time_zero);
	assert_true(control.cap_user_time_short);
	assert_int_equal(control.time_shift, 31);
	assert_int_equal(control.time_mult, 633061711);
	assert_int_equal(control.time_zero, 0xfffffff000000001);
	assert_int_equal(control.time_offset, 77);
	assert_int_equal(control.time_cycles, 5000);
	assert_int_equal(control.time_mask, 0xffffff);
	assert_int_equal(control.data_head, 1000);
	assert_int_equal(control.data_tail, 900);
	assert_int_equal(control.aux_head, 70000);
	assert_int_equal(control.aux_tail, 60000);
	assert_int_equal(control.aux_offset, 12288);
	assert_int_equal(control.aux_size, 16384);
	assert_int_equal(tally_ring_page_time_conv(page, &conv), 0);
	assert_int_equal(conv.time_zero, 0xfffffff000000001);
	assert_int_equal(conv.cap_user_time_short, 1);
	/* Without the bit the fields are another kernel's reserved ones. */
	page->capabilities = 0x1e;
	assert_int_equal(tally_ring_page_time_conv(page, &conv), 0);
	assert_int_equal(conv.time_mask, 0);
	page->capabilities = 0xe;
	assert_int_equal(tally_ring_page_time_conv(page, &conv), -EOPNOTSUPP);
	page->capabilities = 0x1e;
	page->time_mult = 0;
	assert_int_equal(tally_ring_page_time_conv(page, &conv), -EOPNOTSUPP);
}

/* Values of a machine of 3.392 GHz whose recording is public (perf 4.14, Intel PT): its time_shift
 * is 31, so that a tick is time_mult / 2^31 ns. */
static void cycles_become_time_and_back(void **state)
{
	struct tally_record_time_conv conv = {
	    .time_shift = 31, .time_mult = 633061711, .time_zero = 18446744056529682432U};

	(void)state;
	/* 2^31 ticks are time_mult ns exactly; time_zero is 2^64 - 17179869184. */
	assert_int_equal(tally_time_conv_ns(&conv, 0), 18446744056529682432U);
	assert_int_equal(tally_time_conv_ns(&conv, 1ULL << 31), 18446744056529682432U + 633061711);
	assert_int_equal(tally_time_conv_ns(&conv, 100ULL << 31), 63306171100 - 17179869184);
	/* 3 * 633061711 / 2^31 = 0.88, 4: 1.18 */
	assert_int_equal(tally_time_conv_ns(&conv, (100ULL << 31) + 3), 46126301916);
	assert_int_equal(tally_time_conv_ns(&conv, (100ULL << 31) + 4), 46126301917);
	assert_int_equal(tally_time_conv_cycles(&conv, 46126301916), 100ULL << 31);
	/* 1 ns is 3.39 ticks */
	assert_int_equal(tally_time_conv_cycles(&conv, 46126301917), (100ULL << 31) + 3);
	for (uint64_t ns = 46126301916; ns < 46126301916 + 5000000000; ns += 12345677) {
		uint64_t cycles = tally_time_conv_cycles(&conv, ns);
		uint64_t back = tally_time_conv_ns(&conv, cycles);

		assert_in_range(back, ns - 1, ns);
		assert_true(tally_time_conv_ns(&conv, cycles + 1) >= ns);
	}
}

static void a_short_clock_continues(void **state)
{
	struct tally_record_time_conv conv = {.time_shift = 0,
					      .time_mult = 10,
					      .time_zero = 7,
					      .time_cycles = 0x1ffff0,
					      .time_mask = 0xffff,
					      .cap_user_time_short = 1};

	(void)state;
	/* The 16-bit clock went from 0xfff0 past its end to 0x10: 32 ticks later. */
	assert_int_equal(tally_time_conv_ns(&conv, 0x10), 7 + 10 * (0x1ffff0ULL + 32));
	assert_int_equal(tally_time_conv_ns(&conv, 0xfff0), 7 + 10 * 0x1ffff0ULL);
}

static void impossible_values_give_zero(void **state)
{
	struct tally_record_time_conv conv = {.time_shift = 64, .time_mult = 1};

	(void)state;
	assert_int_equal(tally_time_conv_ns(&conv, 5), 0);
	assert_int_equal(tally_time_conv_cycles(&conv, 5), 0);
	conv = (struct tally_record_time_conv){.time_shift = 3};
	assert_int_equal(tally_time_conv_cycles(&conv, 5), 0);
}

static struct tally_ring *ring_of(const struct tally_attr *attr, int *ret_fd)
{
	struct tally_ring_options options = {.size = sizeof(options), .pages = 4};
	struct tally_ring *ring = NULL;
	struct tally_error error;

	*ret_fd = must_open(attr, -1);
	if (tally_ring_open(*ret_fd, &options, NULL, &ring, &error))
		fail_msg("%s", error.text);
	return ring;
}

static void a_real_ring_shows_its_sizes(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct tally_ring_control control = {.size = sizeof(control)}, unset = {.size = 0};
	struct tally_ring *ring;
	int fd;

	(void)state;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	ring = ring_of(&attr, &fd);
	assert_int_equal(tally_ring_control(ring, &unset), -EINVAL);
	assert_int_equal(tally_ring_control(ring, &control), 0);
	assert_int_equal(control.data_size, 4 * sysconf(_SC_PAGESIZE));
	assert_int_equal(control.data_offset, sysconf(_SC_PAGESIZE));
	assert_int_equal(control.aux_size, 0);
	tally_ring_close(ring);
	close(fd);
}

#if defined(__x86_64__)
/* The TSC as time is between two readings of the clock that perf uses by default, which is near
 * CLOCK_MONOTONIC_RAW's rate but has a start of its own: so differences are compared. */
static void the_cpus_clock_is_perfs(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct tally_record_time_conv conv;
	struct tally_record record;
	struct tally_ring *ring;
	static volatile char memory[1 << 16];
	uint64_t before, after, time = 0;
	int fd;

	(void)state;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.disabled = 1;
	ring = ring_of(&attr, &fd);
	if (tally_ring_time_conv(ring, &conv)) {
		tally_ring_close(ring);
		close(fd);
		print_message("skipped: this machine's clock is not perf's time\n");
		skip();
	}
	assert_int_equal(tally_fd_enable(fd, false), 0);
	before = __builtin_ia32_rdtsc();
	for (size_t i = 0; i < sizeof(memory); i += 1024)
		memory[i] = 1;
	after = __builtin_ia32_rdtsc();
	assert_int_equal(tally_fd_disable(fd, false), 0);
	assert_int_equal(tally_ring_next(ring, &record), 1);
	memcpy(&time, record.bytes + 8, sizeof(time));
	assert_in_range(time, tally_time_conv_ns(&conv, before), tally_time_conv_ns(&conv, after));
	assert_in_range(tally_time_conv_cycles(&conv, time), before, after);
	tally_ring_close(ring);
	close(fd);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_read),
		cmocka_unit_test(cycles_become_time_and_back),
		cmocka_unit_test(a_short_clock_continues),
		cmocka_unit_test(impossible_values_give_zero),
		cmocka_unit_test(a_real_ring_shows_its_sizes),
#if defined(__x86_64__)
		cmocka_unit_test(the_cpus_clock_is_perfs),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
