/* Calls that the processor's registers have lost, taken from the sample before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* After the headers it needs. */
#include <cmocka.h>
#include <tally/abi.h>
#include "callchain/lbr_stitch.h"

#define REGISTERS 4U

struct machine {
	struct tally_lbr_stitches *stitches;
	const uint64_t *calls;
};

static int begin(void **state)
{
	static struct machine machine;

	*state = &machine;
	return tally_lbr_stitches_new(REGISTERS, &machine.stitches);
}

static int end(void **state)
{
	struct machine *machine = *state;

	tally_lbr_stitches_free(machine->stitches);
	return 0;
}

/* A thread that has called so many times, each from a place of the number of the call: the newest
 * are in the registers. */
static int64_t sample_at(struct machine *machine, uint32_t tid, uint64_t depth, uint64_t kept)
{
	struct tally_branch branches[REGISTERS];
	const struct tally_sample sample = {
	    .branch_flags_present = PERF_SAMPLE_BRANCH_HW_INDEX,
	    .branch_nr = kept,
	    .branch_hw_idx = depth % REGISTERS,
	    .branches = branches,
	};

	for (uint64_t i = 0; i < kept; i++)
		branches[i] = (struct tally_branch){.from = depth - i, .to = 1000 + depth - i};
	return tally_lbr_stitch(machine->stitches, 1, tid, &sample, &machine->calls);
}

static void assert_calls(const struct machine *machine, int64_t found, int64_t expected)
{
	assert_int_equal(found, expected);
	for (int64_t i = 0; i < expected; i++)
		assert_int_equal(machine->calls[i], i + 1);
}

static void test_deeper(void **state)
{
	struct machine *machine = *state;

	assert_calls(machine, sample_at(machine, 1, 4, 4), 0);
	assert_calls(machine, sample_at(machine, 1, 6, 4), 2);
	/* A return gives a register back; the callers beyond stay. */
	assert_calls(machine, sample_at(machine, 1, 5, 3), 2);
	assert_calls(machine, sample_at(machine, 1, 6, 4), 2);
	assert_calls(machine, sample_at(machine, 1, 8, 4), 4);
}

static void test_threads_are_apart(void **state)
{
	struct machine *machine = *state;

	assert_calls(machine, sample_at(machine, 1, 4, 4), 0);
	assert_calls(machine, sample_at(machine, 2, 6, 4), 0);
	assert_calls(machine, sample_at(machine, 1, 6, 4), 2);
	tally_lbr_stitches_forget(machine->stitches);
	assert_calls(machine, sample_at(machine, 1, 8, 4), 0);
}

static void test_nothing_in_common(void **state)
{
	struct machine *machine = *state;

	assert_calls(machine, sample_at(machine, 1, 4, 4), 0);
	assert_calls(machine, sample_at(machine, 1, 6, 4), 2);
	/* All registers are new, and so the callers are. */
	assert_calls(machine, sample_at(machine, 1, 10, 4), 0);
	assert_int_equal(sample_at(machine, 1, 11, 4), 1);
	assert_int_equal(machine->calls[0], 7);
	assert_int_equal(sample_at(machine, 1, 12, 0), 0);
	assert_int_equal(sample_at(machine, 1, 12, 4), 0);
}

/* Whatever a file says of its registers, a thread keeps a bounded number of calls: the innermost.
 */
static void test_bound(void **state)
{
	struct machine *machine = *state;
	uint64_t depth = 4;
	int64_t found = 0;

	for (; depth < 3ULL * LBR_STITCH_MOST; depth += 2)
		found = sample_at(machine, 1, depth, 4);
	assert_int_equal(found, LBR_STITCH_MOST);
	assert_int_equal(machine->calls[found - 1], depth - 2 - 4);
}

static void test_wrong_indices(void **state)
{
	struct machine *machine = *state;
	const uint64_t indices[] = {UINT64_MAX, 0, 5000, UINT64_MAX - 3, INT64_MAX, 3};
	struct tally_branch branch = {.from = 1, .to = 2};
	struct tally_sample sample = {.branch_flags_present = PERF_SAMPLE_BRANCH_HW_INDEX,
				      .branch_nr = 1,
				      .branches = &branch};

	for (size_t i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
		for (size_t k = 0; k < sizeof(indices) / sizeof(*indices); k++) {
			sample.branch_hw_idx = indices[i];
			assert_int_equal(
			    tally_lbr_stitch(machine->stitches, 1, 1, &sample, &machine->calls), 0);
			sample.branch_hw_idx = indices[k];
			assert_int_equal(
			    tally_lbr_stitch(machine->stitches, 1, 1, &sample, &machine->calls), 0);
		}
	}
	sample.branch_flags_present = 0;
	assert_int_equal(tally_lbr_stitch(machine->stitches, 1, 1, &sample, &machine->calls), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_deeper, begin, end),
	    cmocka_unit_test_setup_teardown(test_threads_are_apart, begin, end),
	    cmocka_unit_test_setup_teardown(test_nothing_in_common, begin, end),
	    cmocka_unit_test_setup_teardown(test_bound, begin, end),
	    cmocka_unit_test_setup_teardown(test_wrong_indices, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
