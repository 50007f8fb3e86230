/* Ring sizes from limits, memory and rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "collect/openset.h"

static struct tally_ring_sizes choose(const struct tally_limits *limits, uint64_t frequency,
				      size_t cpus, size_t asked, uint64_t memory)
{
	struct tally_planned events[2] = {{.attr = {.freq = frequency != 0}}};
	struct tally_plan plan = {.events = events, .count = 2};

	if (frequency)
		events[0].attr.sample_freq = frequency;
	else
		events[0].attr.sample_period = 1;
	return tally_ring_sizes_choose(limits, &plan, cpus, asked, memory);
}

static uint64_t bytes_of(const struct tally_ring_sizes *sizes, enum tally_ring_kind kind)
{
	size_t pages = sizes->pages[kind];

	assert_true(pages && !(pages & (pages - 1)));
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_privileged(void **state)
{
	struct tally_limits limits = {.paranoid = 2, .ipc_lock = true, .mlock_kb = 516};
	struct tally_ring_sizes sizes = choose(&limits, 0, 2, 0, 24ULL << 30);

	(void)state;
	assert_int_equal(bytes_of(&sizes, TALLY_RING_SAMPLES), 16 << 20);
	/* 4 kHz of flat samples need no 16 MiB. */
	sizes = choose(&limits, 4000, 2, 0, 24ULL << 30);
	assert_int_equal(bytes_of(&sizes, TALLY_RING_SAMPLES), 512 << 10);
	/* Many CPUs and little memory: a 64th of it, but never below 512 KiB. */
	sizes = choose(&limits, 0, 64, 0, 16ULL << 30);
	assert_int_equal(bytes_of(&sizes, TALLY_RING_SAMPLES), 4 << 20);
	sizes = choose(&limits, 0, 256, 0, 1ULL << 30);
	assert_int_equal(bytes_of(&sizes, TALLY_RING_SAMPLES), 512 << 10);
}

/* With copies of stacks: 500 of them, or what comes in a 25th of a second, 128 MiB at most, and
 * still a 64th of the memory; of a rate that nobody knows 32 MiB. */
static void test_stacks(void **state)
{
	static const struct {
		uint32_t frequency, copy;
		uint64_t memory, mib;
	} rows[] = {{4000, 65528, 24ULL << 30, 32},    {10000, 65528, 24ULL << 30, 32},
		    {20000, 65528, 24ULL << 30, 64},   {50000, 65528, 24ULL << 30, 128},
		    {100000, 65528, 24ULL << 30, 128}, {50000, 65528, 4ULL << 30, 32},
		    {5000, 16384, 24ULL << 30, 8},     {5000, 8192, 24ULL << 30, 4},
		    {50000, 16384, 24ULL << 30, 32},   {99, 16384, 24ULL << 30, 2},
		    {0, 16384, 24ULL << 30, 32}};
	struct tally_limits limits = {.paranoid = 2, .ipc_lock = true};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tally_planned events[2] = {
		    {.attr = {.freq = rows[i].frequency != 0, .sample_stack_user = rows[i].copy},
		     .unwinds = true}};
		struct tally_plan plan = {.events = events, .count = 2};
		struct tally_ring_sizes sizes;

		events[0].attr.sample_freq = rows[i].frequency ? rows[i].frequency : 1000;
		sizes = tally_ring_sizes_choose(&limits, &plan, 2, 0, rows[i].memory);
		assert_int_equal(bytes_of(&sizes, TALLY_RING_SAMPLES), rows[i].mib << 20);
	}
}

static void test_asked(void **state)
{
	struct tally_limits limits = {.paranoid = 2, .ipc_lock = true};
	struct tally_ring_sizes sizes = choose(&limits, 4000, 2, 5, 24ULL << 30);

	(void)state;
	assert_int_equal(sizes.pages[TALLY_RING_SAMPLES], 8);
}

/* What both rings and their two control pages lock stays within what one user may lock on a CPU. */
static void test_unprivileged(void **state)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (int64_t mlock_kb = 64; mlock_kb <= 8192; mlock_kb += 60)
		for (uint64_t memlock = 0; memlock <= 8 << 20; memlock += 1 << 20) {
			struct tally_limits limits = {
			    .paranoid = 2, .mlock_kb = mlock_kb, .memlock = memlock};
			struct tally_ring_sizes sizes = choose(&limits, 0, 4, 0, 24ULL << 30);
			uint64_t locked = bytes_of(&sizes, TALLY_RING_SAMPLES) +
					  bytes_of(&sizes, TALLY_RING_SIDEBAND) + 2 * page;

			assert_true(locked <= (uint64_t)mlock_kb * 1024 + memlock / 4);
			assert_true(locked * 4 >= (uint64_t)mlock_kb * 1024 ||
				    bytes_of(&sizes, TALLY_RING_SAMPLES) == 16 << 20);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_privileged),
	    cmocka_unit_test(test_stacks),
	    cmocka_unit_test(test_asked),
	    cmocka_unit_test(test_unprivileged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
