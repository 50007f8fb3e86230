/* What a flight recorder keeps of the side-band in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "record/side_kept.h"

static void add_comm(struct tally_buf *to, const struct tally_layout *layout, const char *name,
		     uint64_t time)
{
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_COMM,
				  .id = {.time = time},
				  .comm = {1, 1, name}};
	int size = tally_record_size(layout, &body);

	assert_true(size > 0);
	assert_int_equal(tally_buf_reserve(to, (size_t)size), 0);
	assert_int_equal(tally_record_encode(layout, &body, to->data + to->size, (size_t)size),
			 size);
	to->size += (size_t)size;
}

static void the_older_part_goes_when_the_newer_one_is_full(void **state)
{
	const struct tally_attr attr = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
					.sample_id_all = 1};
	struct tally_side_kept kept = {.most = 200};
	struct tally_buf running = {0};
	struct tally_layout layout;
	size_t first;

	(void)state;
	tally_layout_init(&layout, &attr);
	assert_int_equal(tally_side_kept_latest(&kept, &layout), 0);
	for (uint64_t time = 1; !tally_side_kept_is_full(&kept); time++)
		add_comm(&kept.newer, &layout, "first", time == 2 ? 90 : time);
	first = kept.newer.size;
	assert_true(first >= 200 && first < 300);
	assert_int_equal(tally_side_kept_latest(&kept, &layout), 90);

	add_comm(&running, &layout, "running", 90);
	tally_side_kept_turn(&kept, &running);
	assert_null(running.data);
	assert_int_equal(kept.older.size, first);
	/* a description does not count, and is not what happened */
	assert_false(tally_side_kept_is_full(&kept));
	assert_int_equal(tally_side_kept_latest(&kept, &layout), 0);
	while (!tally_side_kept_is_full(&kept))
		add_comm(&kept.newer, &layout, "second", 100);

	add_comm(&running, &layout, "again", 100);
	tally_side_kept_turn(&kept, &running);
	assert_non_null(memmem(kept.older.data, kept.older.size, "running", 7));
	assert_null(memmem(kept.older.data, kept.older.size, "first", 5));
	tally_side_kept_done(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_older_part_goes_when_the_newer_one_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
