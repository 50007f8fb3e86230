/* Counts with their quality: what may be taken for a number, sums and differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <tally/count.h>

static struct tally_count reading(uint64_t raw, uint64_t enabled, uint64_t running)
{
	return (struct tally_count){
	    .raw = raw,
	    .time_enabled = enabled,
	    .time_running = running,
	    .id = 7,
	    .places = 1,
	    .quality = tally_count_judge(raw, enabled, running),
	};
}

static void quality_by_times(void **state)
{
	(void)state;
	assert_int_equal(tally_count_judge(5, 100, 100), TALLY_COUNT_COUNTED);
	assert_int_equal(tally_count_judge(5, 100, 99), TALLY_COUNT_SCALED);
	assert_int_equal(tally_count_judge(0, 100, 0), TALLY_COUNT_NEVER_RAN);
	assert_int_equal(tally_count_judge(0, 0, 0), TALLY_COUNT_IDLE);
	assert_int_equal(tally_count_judge(5, 0, 0), TALLY_COUNT_PARTIAL);
	assert_int_equal((struct tally_count){0}.quality, TALLY_COUNT_ELSEWHERE);
}

static void nothing_is_no_number(void **state)
{
	(void)state;
	for (int quality = TALLY_COUNT_ELSEWHERE; quality < TALLY_COUNT_PARTIAL; quality++) {
		struct tally_count count = {.raw = 5, .quality = (enum tally_count_quality)quality};
		uint64_t value = 77;

		assert_int_equal(tally_count_exact(&count, &value),
				 quality == TALLY_COUNT_NEVER_RAN ? -EAGAIN : -ENODATA);
		assert_int_equal(tally_count_estimate(&count, &value), quality);
		assert_int_equal(value, 77);
		assert_true(tally_count_share(&count) == 0);
		assert_non_null(tally_count_quality_name(count.quality));
	}
	assert_null(tally_count_quality_name((enum tally_count_quality)(TALLY_COUNT_COUNTED + 1)));
}

static void scaled_is_not_exact(void **state)
{
	struct tally_count all = reading(1000, 50, 50), part = reading(1001, 30, 20);
	struct tally_count large = reading(1ULL << 63, 1ULL << 62, 1ULL << 60);
	uint64_t value = 77;

	(void)state;
	assert_int_equal(tally_count_exact(&part, &value), -EAGAIN);
	assert_int_equal(value, 77);
	assert_int_equal(tally_count_exact(&all, &value), 0);
	assert_int_equal(value, 1000);
	assert_int_equal(tally_count_estimate(&part, &value), TALLY_COUNT_SCALED);
	assert_int_equal(value, 1502); /* 1501.5 */
	assert_true(tally_count_share(&part) > 0.666 && tally_count_share(&part) < 0.667);
	assert_int_equal(tally_count_estimate(&large, &value), TALLY_COUNT_SCALED);
	assert_true(value == UINT64_MAX);
	/* Beyond what a double holds: 2^60 + 1, twice as much. */
	large = reading((1ULL << 60) + 1, 2000000000000, 1000000000000);
	assert_int_equal(tally_count_estimate(&large, &value), TALLY_COUNT_SCALED);
	assert_true(value == (1ULL << 61) + 2);
}

static void sums(void **state)
{
	struct tally_count sum = {0}, all = reading(1000, 50, 50), half = reading(10, 50, 25);
	struct tally_count idle = reading(0, 0, 0), never = reading(0, 100, 0);
	struct tally_count refused = {.quality = TALLY_COUNT_NOT_SUPPORTED};
	struct tally_count gone = {.quality = TALLY_COUNT_GONE};
	uint64_t value;

	(void)state;
	tally_count_add(&sum, &gone);
	assert_int_equal(sum.quality, TALLY_COUNT_GONE);
	tally_count_add(&sum, &all);
	tally_count_add(&sum, &idle);
	assert_int_equal(sum.quality, TALLY_COUNT_COUNTED);
	assert_int_equal(sum.places, 2);
	assert_int_equal(sum.missing, 0);
	assert_int_equal(sum.id, 0);
	tally_count_add(&sum, &half);
	assert_int_equal(sum.quality, TALLY_COUNT_SCALED);
	assert_int_equal(tally_count_estimate(&sum, &value), TALLY_COUNT_SCALED);
	assert_int_equal(value, 1347); /* 1010 * 100 / 75 */
	tally_count_add(&sum, &never);
	assert_int_equal(sum.time_enabled, 200);
	assert_int_equal(sum.quality, TALLY_COUNT_SCALED);
	tally_count_add(&sum, &refused);
	assert_int_equal(sum.quality, TALLY_COUNT_PARTIAL);
	assert_int_equal(sum.missing, 1);
	assert_int_equal(tally_count_exact(&sum, &value), -EAGAIN);
	tally_count_add(&sum, &all);
	assert_int_equal(sum.quality, TALLY_COUNT_PARTIAL);
	assert_int_equal(sum.places, 5);

	/* The best reason of those that have none; and one of them first. */
	sum = (struct tally_count){0};
	tally_count_add(&sum, &refused);
	tally_count_add(&sum, &gone);
	assert_int_equal(sum.quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_int_equal(sum.missing, 1);
	tally_count_add(&sum, &all);
	assert_int_equal(sum.quality, TALLY_COUNT_PARTIAL);

	/* Sums of sums. */
	struct tally_count whole = {0};

	tally_count_add(&whole, &sum);
	tally_count_add(&whole, &sum);
	assert_int_equal(whole.missing, 2);
	assert_int_equal(whole.raw, 2000);
	assert_int_equal(whole.quality, TALLY_COUNT_PARTIAL);
}

static void differences(void **state)
{
	struct tally_count before = reading(100, 50, 25), now = reading(300, 70, 45), since;
	struct tally_count refused = {.quality = TALLY_COUNT_PINNED_ERROR};

	(void)state;
	since = tally_count_since(&now, &before);
	assert_int_equal(since.raw, 200);
	assert_int_equal(since.time_enabled, 20);
	assert_int_equal(since.quality, TALLY_COUNT_COUNTED); /* it ran all of these 20 ns */
	assert_int_equal(since.id, 7);
	since = tally_count_since(&now, &now);
	assert_int_equal(since.quality, TALLY_COUNT_IDLE);
	since = tally_count_since(&refused, &before);
	assert_int_equal(since.quality, TALLY_COUNT_PINNED_ERROR);
	since = tally_count_since(&now, &refused);
	assert_int_equal(since.raw, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quality_by_times),    cmocka_unit_test(nothing_is_no_number),
	    cmocka_unit_test(scaled_is_not_exact), cmocka_unit_test(sums),
	    cmocka_unit_test(differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
