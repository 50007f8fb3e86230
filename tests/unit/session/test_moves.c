/* What counters moved by between samples that read them, worked out by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <tally/abi.h>
#include <tally/record.h>
#include "session/moves.h"

/* Counters 1, 2 and 3 are of the events 0, 1 and 2. */
int tally_data_find_event(const struct tally_data *data, uint64_t id)
{
	(void)data;
	return id >= 1 && id <= 3 ? (int)id - 1 : -ENOENT;
}

struct told {
	unsigned count, most; /* stops behind so many; 0: never */
	struct {
		uint32_t event;
		uint64_t id, by;
	} list[8];
};

static int tell(void *context, uint32_t event, uint64_t id, uint64_t by)
{
	struct told *told = context;

	assert_true(told->count < 8);
	told->list[told->count].event = event;
	told->list[told->count].id = id;
	told->list[told->count].by = by;
	return ++told->count == told->most;
}

static void expect(const struct told *told, unsigned at, uint32_t event, uint64_t by)
{
	assert_true(at < told->count);
	assert_int_equal(told->list[at].event, event);
	assert_int_equal(told->list[at].id, event + 1);
	assert_int_equal(told->list[at].by, by);
}

static void test_group(void **state)
{
	static const uint64_t first[] = {10, 1, 0, 2, 5, 9}; /* 9 is nobody's */
	static const uint64_t second[] = {15, 1, 7, 2, 6, 9};
	struct tally_read read = {
	    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID, .nr = 3, .group = first};
	struct tally_map counters = {0};
	struct told told = {0};

	(void)state;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, tell, &told), 0);
	assert_int_equal(told.count, 1); /* the second has not moved */
	expect(&told, 0, 0, 10);
	read.group = second;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, tell, &told), 0);
	assert_int_equal(told.count, 3);
	expect(&told, 1, 0, 5);
	expect(&told, 2, 1, 7);
	tally_map_done(&counters);
}

static void test_group_with_lost(void **state)
{
	static const uint64_t words[] = {10, 1, 77, 20, 3, 88};
	const struct tally_read read = {.read_format =
					    PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST,
					.nr = 2,
					.group = words};
	struct tally_map counters = {0};
	struct told told = {.most = 1};

	(void)state;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, tell, &told), 1); /* stopped */
	assert_int_equal(told.count, 1);
	assert_int_equal(tally_moves_each(&counters, NULL, &read, tell, &told), 0);
	assert_int_equal(told.count, 2);
	expect(&told, 0, 0, 10);
	expect(&told, 1, 2, 20);
	tally_map_done(&counters);
}

static void test_alone(void **state)
{
	struct tally_read read = {.read_format = PERF_FORMAT_ID, .nr = 1, .value = 4, .id = 2};
	struct tally_map counters = {0};
	struct told told = {0};

	(void)state;
	for (unsigned i = 0; i < 2; i++) /* the second time nothing moved */
		assert_int_equal(tally_moves_each(&counters, NULL, &read, tell, &told), 0);
	read.value = 9;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, tell, &told), 0);
	assert_int_equal(told.count, 2);
	expect(&told, 0, 1, 4);
	expect(&told, 1, 1, 5);
	tally_map_done(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_group),
	    cmocka_unit_test(test_group_with_lost),
	    cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
