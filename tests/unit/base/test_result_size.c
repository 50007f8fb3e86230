/* 14.5: results carry their size: what the caller's size does not hold is not written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include <tally/limits.h>
#include <tally/record.h>
#include <tally/stat.h>
#include <tally/topology.h>

#define UNTOUCHED 0x5a

static bool is_untouched(const void *result, size_t from, size_t to)
{
	const uint8_t *bytes = result;

	for (size_t i = from; i < to; i++)
		if (bytes[i] != UNTOUCHED)
			return false;
	return true;
}

/* A program of an earlier edition: its struct ends before the member `nofile_hard`. */
static void a_shorter_struct_is_filled_up_to_its_end(void **state)
{
	const size_t size = offsetof(struct tally_limits, nofile_hard);
	struct tally_limits all = {.size = sizeof(all)}, some;

	(void)state;
	memset(&some, UNTOUCHED, sizeof(some));
	some.size = size;
	assert_int_equal(tally_limits_read("/nonexistent", &all), 0);
	assert_int_equal(tally_limits_read("/nonexistent", &some), 0);
	assert_int_equal(some.size, size);
	assert_int_equal(some.mlock_kb, 516);
	assert_int_equal(some.nofile, all.nofile);
	assert_true(is_untouched(&some, size, sizeof(some)));
}

/* A program of a later edition: what this library does not know stays as the program set it. */
static void a_longer_struct_keeps_its_tail(void **state)
{
	struct {
		struct tally_topology_cpu known;
		uint8_t later[32];
	} longer;

	(void)state;
	memset(&longer, UNTOUCHED, sizeof(longer));
	longer.known.size = sizeof(longer);
	assert_int_equal(tally_topology_read("/nonexistent", 0, &longer.known), 0);
	assert_int_equal(longer.known.size, sizeof(longer));
	assert_int_equal(longer.known.socket, -1);
	assert_int_equal(longer.known.die, 0);
	assert_true(is_untouched(longer.later, 0, sizeof(longer.later)));
}

static void a_size_that_is_not_set_is_refused(void **state)
{
	const struct tally_stat_mean mean = {1, 0.1, 5};
	struct tally_stat_difference difference = {0};
	struct tally_limits limits = {0};
	struct tally_body body = {.type = PERF_RECORD_LOST};
	struct tally_layout layout = {0};
	struct tally_error error;
	uint64_t bytes[8] = {0};
	struct tally_record record = {
	    .bytes = (const uint8_t *)bytes, .type = PERF_RECORD_LOST, .size = 24};

	(void)state;
	assert_int_equal(tally_limits_read(NULL, &limits), -EINVAL);
	assert_int_equal(limits.max_stack, 0);
	assert_int_equal(tally_stat_welch(&mean, &mean, 0.95, &difference), -EINVAL);
	assert_int_equal(tally_record_decode(&layout, &record, &body, &error), -EINVAL);
	assert_int_equal(tally_record_encode(&layout, &body, bytes, sizeof(bytes)), -EINVAL);
}

static void a_sample_ends_where_the_caller_says(void **state)
{
	/* {u32 type, u16 misc, u16 size} {u64 ip} {u64 addr}; include/uapi/linux/perf_event.h */
	static const uint64_t bytes[] = {PERF_RECORD_SAMPLE | (uint64_t)24 << 48, 0x1234, 0x5678};
	const struct tally_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR};
	const struct tally_record record = {
	    .bytes = (const uint8_t *)bytes, .type = PERF_RECORD_SAMPLE, .size = 24};
	struct tally_layout layout;
	struct tally_sample sample;

	(void)state;
	tally_layout_init(&layout, &attr);
	memset(&sample, UNTOUCHED, sizeof(sample));
	sample.size = offsetof(struct tally_sample, addr);
	assert_int_equal(tally_sample_decode(&layout, &record, UINT64_MAX, &sample, NULL), 0);
	assert_int_equal(sample.ip, 0x1234);
	assert_true(is_untouched(&sample, offsetof(struct tally_sample, addr), sizeof(sample)));
	sample.size = sizeof(sample);
	assert_int_equal(tally_sample_decode(&layout, &record, UINT64_MAX, &sample, NULL), 0);
	assert_int_equal(sample.addr, 0x5678);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_shorter_struct_is_filled_up_to_its_end),
	    cmocka_unit_test(a_longer_struct_keeps_its_tail),
	    cmocka_unit_test(a_size_that_is_not_set_is_refused),
	    cmocka_unit_test(a_sample_ends_where_the_caller_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
