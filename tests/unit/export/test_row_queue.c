/* Rows come to the queue's thread whole and in order; a failure there is met by who adds rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "export/row_queue.h"

enum { ROWS = 200000 };

struct taken {
	uint64_t rows, fail_at; /* 0: never */
};

static int take(void *context, const uint8_t *bytes, size_t size)
{
	struct taken *taken = context;
	const uint64_t *rows = (const uint64_t *)bytes;

	assert_int_equal(size % sizeof(*rows), 0);
	for (size_t i = 0; i < size / sizeof(*rows); i++) {
		assert_int_equal(rows[i], taken->rows);
		if (++taken->rows == taken->fail_at)
			return -ENOSPC;
	}
	return 0;
}

static int add(struct row_queue *queue, uint64_t row)
{
	tally_buf_u64(tally_row_queue_block(queue), row);
	return tally_row_queue_added(queue);
}

static void rows_come_in_order(void **state)
{
	struct taken taken = {0};
	struct row_queue *queue;

	(void)state;
	assert_int_equal(tally_row_queue_new(take, &taken, &queue), 0);
	for (uint64_t i = 0; i < ROWS; i++) {
		assert_int_equal(add(queue, i), 0);
		if (i % 70000)
			continue;
		assert_int_equal(tally_row_queue_drain(queue), 0);
		assert_int_equal(taken.rows, i + 1);
	}
	assert_int_equal(tally_row_queue_drain(queue), 0);
	assert_int_equal(taken.rows, ROWS);
	assert_int_equal(tally_row_queue_drain(queue), 0);
	tally_row_queue_free(queue);
}

static void a_failure_is_met(void **state)
{
	struct taken taken = {.fail_at = 50000};
	struct row_queue *queue;
	int result = 0;

	(void)state;
	assert_int_equal(tally_row_queue_new(take, &taken, &queue), 0);
	for (uint64_t i = 0; i < ROWS && !result; i++)
		result = add(queue, i);
	assert_int_equal(result, -ENOSPC);
	assert_int_equal(tally_row_queue_drain(queue), -ENOSPC);
	assert_int_equal(taken.rows, 50000);
	tally_row_queue_free(queue);
}

static void what_waits_may_be_dropped(void **state)
{
	struct taken taken = {0};
	struct row_queue *queue;

	(void)state;
	assert_int_equal(tally_row_queue_new(take, &taken, &queue), 0);
	for (uint64_t i = 0; i < 30000; i++)
		assert_int_equal(add(queue, i), 0);
	tally_row_queue_free(queue);
	tally_row_queue_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_come_in_order),
	    cmocka_unit_test(a_failure_is_met),
	    cmocka_unit_test(what_waits_may_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
