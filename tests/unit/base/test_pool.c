/* The pool: each piece once, failures stop the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <cmocka.h>
#include "base/pool.h"

#define PIECES 10000

struct job {
	atomic_uint times[PIECES];
	unsigned workers;
	atomic_bool wrong_worker;
	size_t fail_at; /* PIECES: never */
	atomic_size_t after;
};

static int work(void *context, unsigned worker, size_t piece)
{
	struct job *job = context;

	if (worker >= job->workers)
		atomic_store(&job->wrong_worker, true);
	atomic_fetch_add(&job->times[piece], 1);
	if (piece == job->fail_at)
		return -EIO;
	if (piece > job->fail_at)
		atomic_fetch_add(&job->after, 1);
	return 0;
}

static void every_piece_once(void **state)
{
	static const unsigned widths[] = {0, 1, 2, 7, 32};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		static struct job job;

		job = (struct job){.workers = widths[i] ? widths[i] : 1, .fail_at = PIECES};
		assert_int_equal(tally_pool_run(widths[i], PIECES, work, &job), 0);
		for (size_t k = 0; k < PIECES; k++)
			assert_int_equal(atomic_load(&job.times[k]), 1);
		assert_false(atomic_load(&job.wrong_worker));
	}
}

static void no_pieces_is_no_work(void **state)
{
	(void)state;
	assert_int_equal(tally_pool_run(4, 0, work, NULL), 0);
}

static void a_failure_stops_the_rest(void **state)
{
	static struct job job;

	(void)state;
	job = (struct job){.workers = 1, .fail_at = 10};
	assert_int_equal(tally_pool_run(1, PIECES, work, &job), -EIO);
	assert_int_equal(atomic_load(&job.after), 0);
	assert_int_equal(atomic_load(&job.times[11]), 0);
	job = (struct job){.workers = 4, .fail_at = 10};
	assert_int_equal(tally_pool_run(4, PIECES, work, &job), -EIO);
	for (size_t k = 0; k <= 10; k++)
		assert_int_equal(atomic_load(&job.times[k]), 1);
}

static void more_workers_than_pieces(void **state)
{
	static struct job job;

	(void)state;
	job = (struct job){.workers = 3, .fail_at = PIECES};
	assert_int_equal(tally_pool_run(100, 3, work, &job), 0);
	assert_false(atomic_load(&job.wrong_worker));
	for (size_t k = 0; k < 4; k++)
		assert_int_equal(atomic_load(&job.times[k]), k < 3);
}

struct turns {
	struct job job;
	size_t taken, fail_at; /* PIECES: never */
	bool wrong_order;
};

static int work_turn(void *context, unsigned worker, size_t piece)
{
	struct turns *turns = context;

	return work(&turns->job, worker, piece);
}

static int take(void *context, unsigned worker, size_t piece)
{
	struct turns *turns = context;

	turns->wrong_order |= piece != turns->taken++ || worker >= turns->job.workers ||
			      !atomic_load(&turns->job.times[piece]);
	return piece == turns->fail_at ? -ENOSPC : 0;
}

static void pieces_are_taken_in_turn(void **state)
{
	static const struct {
		unsigned workers;
		size_t fail_run, fail_take, taken;
		int result;
	} cases[] = {
	    {1, PIECES, PIECES, PIECES, 0}, {4, PIECES, PIECES, PIECES, 0},
	    {4, 10, PIECES, 10, -EIO},      {1, PIECES, 20, 21, -ENOSPC},
	    {4, PIECES, 20, 21, -ENOSPC},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static struct turns turns;

		turns = (struct turns){
		    .job = {.workers = cases[i].workers, .fail_at = cases[i].fail_run},
		    .fail_at = cases[i].fail_take,
		};
		assert_int_equal(
		    tally_pool_run_in_turn(cases[i].workers, PIECES, work_turn, take, &turns),
		    cases[i].result);
		assert_false(turns.wrong_order);
		/* Of pieces before one that cannot be made, some may not have been taken yet. */
		assert_true(turns.taken <= cases[i].taken);
		assert_true(cases[i].result == -EIO || turns.taken == cases[i].taken);
	}
}

static void width_is_at_least_one(void **state)
{
	(void)state;
	assert_true(tally_pool_width() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_piece_once),         cmocka_unit_test(no_pieces_is_no_work),
	    cmocka_unit_test(a_failure_stops_the_rest), cmocka_unit_test(more_workers_than_pieces),
	    cmocka_unit_test(pieces_are_taken_in_turn), cmocka_unit_test(width_is_at_least_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
