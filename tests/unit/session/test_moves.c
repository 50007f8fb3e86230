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

struct moves {
	unsigned count, most; /* stops behind so many; 0: never */
	struct {
		uint32_t event;
		uint64_t id, by;
	} list[8];
};

static int note(void *context, uint32_t event, uint64_t id, uint64_t by)
{
	struct moves *moves = context;

	assert_true(moves->count < 8);
	moves->list[moves->count].event = event;
	moves->list[moves->count].id = id;
	moves->list[moves->count].by = by;
	return ++moves->count == moves->most;
}

static void expect(const struct moves *moves, unsigned at, uint32_t event, uint64_t by)
{
	assert_true(at < moves->count);
	assert_int_equal(moves->list[at].event, event);
	assert_int_equal(moves->list[at].id, event + 1);
	assert_int_equal(moves->list[at].by, by);
}

static void test_group(void **state)
{
	static const uint64_t first[] = {10, 1, 0, 2, 5, 9}; /* 9 is nobody's */
	static const uint64_t second[] = {15, 1, 7, 2, 6, 9};
	struct tally_read read = {
	    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID, .nr = 3, .group = first};
	struct tally_map counters = {0};
	struct moves moves = {0};

	(void)state;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, note, &moves), 0);
	assert_int_equal(moves.count, 1); /* the second did not move */
	expect(&moves, 0, 0, 10);
	read.group = second;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, note, &moves), 0);
	assert_int_equal(moves.count, 3);
	expect(&moves, 1, 0, 5);
	expect(&moves, 2, 1, 7);
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
	struct moves moves = {.most = 1};

	(void)state;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, note, &moves), 1); /* stopped */
	assert_int_equal(moves.count, 1);
	assert_int_equal(tally_moves_each(&counters, NULL, &read, note, &moves), 0);
	assert_int_equal(moves.count, 2);
	expect(&moves, 0, 0, 10);
	expect(&moves, 1, 2, 20);
	tally_map_done(&counters);
}

static void test_alone(void **state)
{
	struct tally_read read = {.read_format = PERF_FORMAT_ID, .nr = 1, .value = 4, .id = 2};
	struct tally_map counters = {0};
	struct moves moves = {0};

	(void)state;
	for (unsigned i = 0; i < 2; i++) /* the second time nothing moved */
		assert_int_equal(tally_moves_each(&counters, NULL, &read, note, &moves), 0);
	read.value = 9;
	assert_int_equal(tally_moves_each(&counters, NULL, &read, note, &moves), 0);
	assert_int_equal(moves.count, 2);
	expect(&moves, 0, 1, 4);
	expect(&moves, 1, 1, 5);
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
