/* Rows and trees of made-up samples: known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <tally/profile.h>
#include "made_profile.h"

static const struct fake_sample few[] = {
    {.period = 10, .depth = 3, .chain = {B, A, MAIN}},
    {.period = 20, .depth = 3, .chain = {C, A, MAIN}},
    {.period = 5, .depth = 2, .chain = {A, MAIN}},
    {.period = 7, .depth = 2, .chain = {A_AGAIN, MAIN}},
    /* a calls itself through b */
    {.period = 100, .depth = 5, .chain = {C, A, B, A, MAIN}},
    {.period = 1, .depth = 1, .chain = {NOWHERE}, .comm = 1},
    /* the sampled place is not in the chain */
    {.period = 30, .depth = 2, .chain = {A, MAIN}, .ip = KERNEL},
};

static void flat_rows(void **state)
{
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile *profile = profile_of(&session, usual_keys, 3, false, false);
	struct tally_profile_event event = event_at(profile, 0);
	struct tally_profile_row row;

	(void)state;
	assert_string_equal(event.name, "cpu-clock");
	assert_int_equal(event.samples, 7);
	assert_int_equal(event.total, 173);
	assert_false(event.has_callchains);
	assert_int_equal(event.row_count, 5);
	row = row_at(profile, 0, 0);
	assert_string_equal(row.frame.symbol, "c");
	assert_string_equal(row.frame.image_name, "libc.so.6");
	assert_string_equal(row.comm, "app");
	assert_int_equal(row.self, 120);
	assert_int_equal(row.children, 120);
	assert_int_equal(row.samples, 2);
	assert_int_equal(row_of(profile, NULL, "k").self, 30);
	/* one place under one short name */
	assert_int_equal(row_of(profile, NULL, "a").self, 12);
	row = row_at(profile, 0, 4);
	assert_null(row.frame.symbol);
	assert_int_equal(row.frame.place, 0x1234);
	assert_string_equal(row.comm, "other");
	/* beyond the end */
	assert_int_equal(row_at(profile, 0, 5).self, 0);
	assert_int_equal(row_at(profile, 9, 0).self, 0);
	tally_profile_free(profile);
}

static void children_count_once(void **state)
{
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile *profile = profile_of(&session, usual_keys, 3, true, true);
	struct tally_profile_row row = row_at(profile, 0, 0);

	(void)state;
	assert_string_equal(row.frame.symbol, "a"); /* ties go by text */
	assert_int_equal(row.children, 172);
	assert_int_equal(row.self, 12);
	assert_int_equal(row_of(profile, "app", "main").children, 172);
	assert_int_equal(row_of(profile, "app", "main").self, 0);
	assert_int_equal(row_of(profile, "app", "b").children, 110);
	assert_int_equal(row_of(profile, "app", "c").children, 120);
	assert_int_equal(row_of(profile, "app", "k").children, 30);
	tally_profile_free(profile);
}

static void tree_is(const struct tally_profile *profile, struct tally_profile_row row,
		    enum tally_call_order order, uint64_t least, const char *expected)
{
	struct tally_tree tree = tree_of(profile, row, order, least);
	char text[2048] = "";

	spell(&tree, 0, text, sizeof(text));
	assert_string_equal(text, expected);
	tally_tree_done(&tree);
}

static void trees_with_children(void **state)
{
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile *profile = profile_of(&session, usual_keys, 3, true, true);
	struct tally_profile_row bad = row_of(profile, "app", "a");
	struct tally_tree_options options = {.size = sizeof(options)};
	struct tally_tree tree = {.count = 77};

	(void)state;
	tree_is(profile, row_of(profile, "app", "a"), TALLY_CALLER, 0,
		"a(172,0){a(160,30){b(110,10){a(100,0){c(100,100)}} c(20,20)} "
		"main(12,0){a(12,12)}}");
	tree_is(profile, row_of(profile, "app", "a"), TALLY_CALLER, 30,
		"a(172,0){a(160,30){b(110,10){a(100,0){c(100,100)}}}}");
	tree_is(profile, row_of(profile, "app", "c"), TALLY_CALLEE, 0,
		"c(120,0){a(120,0){b(100,0){a(100,0){main(100,100)}} main(20,20)}}");
	tree_is(profile, row_of(profile, "app", "c"), TALLY_CALLEE, 21,
		"c(120,0){a(120,0){b(100,0){a(100,0){main(100,100)}}}}");
	/* A function that called itself: the callers of its innermost call. */
	tree_is(profile, row_of(profile, "app", "a"), TALLY_CALLEE, 0,
		"a(172,0){b(100,0){a(100,0){main(100,100)}} main(72,72)}");
	bad.handle = 1000;
	assert_int_equal(tally_profile_tree(profile, 0, &bad, &options, &tree), -EINVAL);
	assert_int_equal(tree.count, 77);
	tally_profile_free(profile);
}

static void trees_without_children(void **state)
{
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile *profile = profile_of(&session, usual_keys, 3, true, false);
	struct tally_tree tree;

	(void)state;
	tree_is(profile, row_of(profile, "app", "c"), TALLY_CALLEE, 0,
		"c(120,0){a(120,0){b(100,0){a(100,0){main(100,100)}} main(20,20)}}");
	tree_is(profile, row_of(profile, "app", "a"), TALLY_CALLEE, 0, "a(12,0){main(12,12)}");
	/* The whole paths; the top node is the row, and no part of them. */
	tree_is(profile, row_of(profile, "app", "c"), TALLY_CALLER, 0,
		"c(120,0){main(120,0){a(120,0){b(100,0){a(100,0){c(100,100)}} c(20,20)}}}");
	tree = tree_of(profile, row_of(profile, "app", "c"), TALLY_CALLER, 0);
	assert_false(tree.row_is_frame);
	tally_tree_done(&tree);
	tally_profile_free(profile);
}

static void only_large_rows_have_trees(void **state)
{
	static const struct {
		bool sums_early;
		uint64_t undecoded; /* a chain that cannot be read: its sample counts nowhere */
		unsigned runs;
	} ways[] = {{false, 0, 1}, {true, 0, 2}, {true, 1, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
		struct tally_tree_options options = {.size = sizeof(options)};
		struct tally_profile *profile;
		struct tally_profile_row small;
		struct tally_tree tree;

		session.sums_early = ways[i].sums_early;
		session.counts.undecoded = ways[i].undecoded;
		profile = large_rows_of(&session, 10);
		assert_int_equal(session.runs, ways[i].runs);
		assert_int_equal(event_at(profile, 0).row_count, 5);
		assert_true(event_at(profile, 0).has_callchains);
		tree_is(profile, row_of(profile, "app", "c"), TALLY_CALLEE, 0,
			"c(120,0){a(120,0){b(100,0){a(100,0){main(100,100)}} main(20,20)}}");
		tree_is(profile, row_of(profile, "app", "c"), TALLY_CALLER, 0,
			"c(120,0){main(120,0){a(120,0){b(100,0){a(100,0){c(100,100)}} c(20,20)}}}");
		tree_is(profile, row_of(profile, "app", "k"), TALLY_CALLEE, 0,
			"k(30,0){a(30,0){main(30,30)}}");
		small = row_of(profile, "app", "a");
		assert_int_equal(small.self, 12);
		assert_int_equal(tally_profile_tree(profile, 0, &small, &options, &tree), -EINVAL);
		tally_profile_free(profile);
	}
}

static void rows_of_binaries(void **state)
{
	static const char *const by_dso[] = {"dso"};
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile *profile = profile_of(&session, by_dso, 1, true, true);
	struct tally_profile_row row = row_at(profile, 0, 0);

	(void)state;
	assert_int_equal(event_at(profile, 0).row_count, 4);
	assert_string_equal(row.frame.image_name, "app");
	assert_null(row.frame.symbol);
	assert_null(row.comm);
	assert_int_equal(row.self, 22);
	assert_int_equal(row.children, 172);
	tree_is(profile, row, TALLY_CALLER, 100,
		"-(172,0){main(172,0){a(172,42){b(110,10){a(100,0){c(100,100)}}}}}");
	tree_is(profile, row, TALLY_CALLEE, 30,
		"-(172,0){a(162,0){b(100,0){a(100,0){main(100,100)}} main(62,62)}}");
	tally_profile_free(profile);
}

static void filters_keep_the_total(void **state)
{
	static const char *const comms[] = {"other"}, *const symbols[] = {"c", "b"},
				 *const dsos[] = {"/lib/libc.so.6"};
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile_options options = {
	    .size = sizeof(options), .keys = usual_keys, .key_count = 3};
	struct tally_profile *profile;

	(void)state;
	options.comms = comms;
	options.comm_count = 1;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	assert_int_equal(event_at(profile, 0).samples, 1);
	assert_int_equal(event_at(profile, 0).all_samples, 7);
	assert_int_equal(event_at(profile, 0).total, 173);
	assert_int_equal(event_at(profile, 0).passed_total, 1);
	assert_int_equal(event_at(profile, 0).row_count, 1);
	tally_profile_free(profile);
	options.comm_count = 0;
	options.symbols = symbols;
	options.symbol_count = 2;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	assert_int_equal(event_at(profile, 0).passed_total, 130);
	tally_profile_free(profile);
	options.dsos = dsos;
	options.dso_count = 1;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	assert_int_equal(event_at(profile, 0).passed_total, 120);
	tally_profile_free(profile);
}

/* LEAF and B are parts of A, inlined: what samples in them cost is A's own, and trees show them. */
static void inlined_functions(void **state)
{
	static const struct fake_sample samples[] = {
	    {.depth = 3, .chain = {LEAF, A, MAIN}, .ip = A, .period = 10},
	    {.depth = 4, .chain = {LEAF, B, A, MAIN}, .ip = A, .period = 20},
	    {.depth = 2, .chain = {A, MAIN}, .ip = A, .period = 40},
	    {.depth = 5, .chain = {C, LEAF, B, A, MAIN}, .ip = C, .period = 80},
	    /* Not named by what it is in: the symbol is in no chain. */
	    {.depth = 2, .chain = {B, MAIN}, .ip = A, .period = 160},
	};
	struct tally_frame named[FRAMES];
	struct tally_session session = session_of(samples, 5);
	struct tally_tree_options options = {.size = sizeof(options), .order = TALLY_CALLEE};
	struct tally_profile *profile;
	struct tally_profile_row row;
	struct tally_tree tree;

	(void)state;
	memcpy(named, made_frames, sizeof(named));
	named[LEAF].inlined = named[B].inlined = true;
	named[LEAF].place = named[B].place = named[A].place;
	session.frames = named;
	profile = profile_of(&session, usual_keys, 3, true, true);
	row = row_of(profile, "app", "a");
	assert_int_equal(row.self, 230);
	assert_int_equal(row.children, 310);
	row = row_of(profile, "app", "leaf");
	assert_int_equal(row.self, 0);
	assert_int_equal(row.children, 110);
	row = row_of(profile, "app", "b");
	assert_int_equal(row.self, 0);
	assert_int_equal(row.children, 260);
	tally_profile_free(profile);

	profile = profile_of(&session, usual_keys, 3, true, false);
	row = row_of(profile, "app", "a");
	assert_int_equal(row.self, 230);
	assert_int_equal(tally_profile_tree(profile, 0, &row, &options, &tree), 0);
	assert_false(tree.row_is_frame);
	assert_int_equal(tree.nodes[0].child_count, 3);
	assert_string_equal(tree.nodes[1].frame.symbol, "b");
	assert_int_equal(tree.nodes[1].total, 160);
	assert_string_equal(tree.nodes[2].frame.symbol, "a");
	assert_int_equal(tree.nodes[2].total, 40);
	assert_string_equal(tree.nodes[3].frame.symbol, "leaf");
	assert_int_equal(tree.nodes[3].total, 30);
	assert_int_equal(tree.nodes[3].child_count, 2);
	tally_tree_done(&tree);
	options.order = TALLY_CALLER;
	assert_int_equal(tally_profile_tree(profile, 0, &row, &options, &tree), 0);
	assert_int_equal(tree.nodes[0].child_count, 1);
	assert_string_equal(tree.nodes[1].frame.symbol, "main");
	assert_int_equal(tree.nodes[1].child_count, 2);
	assert_string_equal(tree.nodes[2].frame.symbol, "b");
	assert_int_equal(tree.nodes[2].total, 160);
	assert_int_equal(tree.nodes[2].self, 160);
	assert_int_equal(tree.nodes[2].child_count, 0);
	assert_string_equal(tree.nodes[3].frame.symbol, "a");
	assert_int_equal(tree.nodes[3].total, 70);
	assert_int_equal(tree.nodes[3].self, 40);
	assert_int_equal(tree.nodes[3].child_count, 2);
	tally_tree_done(&tree);
	tally_profile_free(profile);
}

/* Calls of one name where one was inlined are one branch, called as the one that was not. */
static void inlined_and_not(void **state)
{
	static const struct fake_sample samples[] = {
	    {.depth = 3, .chain = {C, LEAF, MAIN}, .period = 10},
	    {.depth = 3, .chain = {C, B, MAIN}, .period = 20},
	    {.depth = 3, .chain = {C, A, MAIN}, .period = 40},
	};
	struct tally_frame named[FRAMES];
	struct tally_session session = session_of(samples, 3);
	struct tally_tree_options options = {.size = sizeof(options), .order = TALLY_CALLEE};
	struct tally_profile *profile;
	struct tally_profile_row row;
	struct tally_tree tree;

	(void)state;
	memcpy(named, made_frames, sizeof(named));
	named[LEAF].inlined = named[B].inlined = true;
	named[LEAF].symbol = named[B].symbol = "a";
	session.frames = named;
	profile = profile_of(&session, usual_keys, 3, true, true);
	row = row_of(profile, "app", "c");
	assert_int_equal(tally_profile_tree(profile, 0, &row, &options, &tree), 0);
	assert_true(tree.row_is_frame);
	assert_int_equal(tree.count, 3);
	assert_string_equal(tree.nodes[1].frame.symbol, "a");
	assert_false(tree.nodes[1].frame.inlined);
	assert_int_equal(tree.nodes[1].total, 70);
	tally_tree_done(&tree);
	/* Rows are of one place each. */
	assert_int_equal(event_at(profile, 0).row_count, 5);
	tally_profile_free(profile);
}

static void periods_and_tasks(void **state)
{
	static const char *const by_task[] = {"pid", "tid", "cpu"};
	static const uint32_t pids[] = {10};
	static const struct fake_sample samples[] = {
	    {.chain = {MAIN}, .pid = 10, .tid = 10, .comm = 0},
	    {.chain = {MAIN}, .pid = 10, .tid = 11, .comm = 0},
	    {.chain = {MAIN}, .pid = 10, .tid = 11, .comm = 1},
	    {.chain = {A}, .pid = 20, .tid = 20, .comm = 0},
	    {.chain = {A}, .pid = 10, .tid = 11, .comm = 1, .event = 1, .period = 3},
	};
	struct tally_session session = session_of(samples, 5);
	struct tally_profile_options options = {
	    .size = sizeof(options), .keys = by_task, .key_count = 3, .pids = pids, .pid_count = 1};
	struct tally_profile *profile;
	struct tally_profile_row row;

	(void)state;
	session.data.events[1] = session.data.events[0];
	session.data.event_count = 2;
	session.data.events[0].attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	session.data.events[0].attr.sample_period = 1000;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	assert_int_equal(event_at(profile, 0).total, 4000);
	assert_int_equal(event_at(profile, 1).total, 3);
	assert_int_equal(event_at(profile, 0).row_count, 2);
	row = row_at(profile, 0, 0);
	assert_int_equal(row.values[1], 11);
	assert_int_equal(row.self, 2000);
	assert_string_equal(row.comm, "other");      /* the last name it had */
	assert_int_equal(row.values[2], UINT64_MAX); /* the event's samples do not record it */
	tally_profile_free(profile);
	session.data.events[0].attr.freq = 1;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	assert_int_equal(event_at(profile, 0).total, 4);
	tally_profile_free(profile);
}

/* 14.3: keys whose values are not fields of a sample. */
static void sockets_periods_and_intervals(void **state)
{
	static const char *const keys[] = {"socket", "local_period", "time"};
	static const struct tally_data_cpu cpus[] = {{.socket = 0}, {.socket = 1}};
	static const struct fake_sample samples[] = {
	    {.chain = {MAIN}, .cpu = 1, .period = 5, .time = 1999},
	    {.chain = {A}, .cpu = 1, .period = 5, .time = 1000},
	    {.chain = {MAIN}, .cpu = 1, .period = 5, .time = 2000},
	    {.chain = {MAIN}, .cpu = 0, .period = 6, .time = 1000},
	    {.chain = {MAIN}, .cpu = 2, .period = 3, .time = 0},
	};
	static const uint64_t expected[][5] = {
	    /* socket, period, interval, sum, samples */
	    {1, 5, 1000, 10, 2},
	    {0, 6, 1000, 6, 1},
	    {1, 5, 2000, 5, 1},
	    {UINT64_MAX, 3, 0, 3, 1},
	};
	struct tally_session session = session_of(samples, 5);
	struct tally_profile_options options = {
	    .size = sizeof(options), .keys = keys, .key_count = 3, .time_quantum = 1000};
	struct tally_profile *profile;
	struct tally_profile_row row;

	(void)state;
	session.data.info.topology.cpus = cpus;
	session.data.info.topology.cpu_count = 2;
	session.data.events[0].attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						  PERF_SAMPLE_PERIOD;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	assert_int_equal(event_at(profile, 0).row_count, 4);
	for (size_t i = 0; i < 4; i++) {
		row = row_at(profile, 0, i);
		assert_memory_equal(row.values, expected[i], 3 * sizeof(uint64_t));
		assert_int_equal(row.self, expected[i][3]);
		assert_int_equal(row.samples, expected[i][4]);
	}
	tally_profile_free(profile);
	/* Without times and CPUs in the samples. */
	session.data.events[0].attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	assert_int_equal(tally_profile_new(&session, &options, &profile, NULL), 0);
	row = row_at(profile, 0, 0);
	assert_int_equal(row.self, 15);
	assert_int_equal(row.values[0], UINT64_MAX);
	assert_int_equal(row.values[1], 5);
	assert_int_equal(row.values[2], UINT64_MAX);
	tally_profile_free(profile);
}

static void options_are_checked(void **state)
{
	static const char *const wrong[] = {"comm", "none"};
	struct tally_session session = session_of(few, 1);
	struct {
		struct tally_profile_options known;
		uint64_t newer;
	} longer = {.known = {.size = sizeof(longer)}, .newer = 1};
	struct tally_profile_options options = {
	    .size = sizeof(options), .keys = wrong, .key_count = 2};
	struct tally_profile *profile = (void *)&session;
	struct tally_error error;

	(void)state;
	assert_int_equal(tally_profile_new(&session, &options, &profile, &error), -EINVAL);
	assert_int_equal(error.position, 1);
	assert_ptr_equal(profile, &session);
	assert_int_equal(tally_profile_new(&session, &longer.known, &profile, &error), -E2BIG);
}

/* Also without the key "parent". */
static void only_stacks_with_a_parent(void **state)
{
	struct tally_session session = session_of(few, sizeof(few) / sizeof(*few));
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = usual_keys,
						.key_count = 3,
						.exclude_other = true,
						.parent = "^b$"};
	struct tally_profile *profile = NULL;
	struct tally_error error = {0};

	(void)state;
	assert_int_equal(tally_profile_new(&session, &options, &profile, &error), 0);
	assert_int_equal(event_at(profile, 0).row_count, 2);
	assert_int_equal(row_of(profile, NULL, "b").self, 10);
	assert_int_equal(row_of(profile, NULL, "c").self, 100);
	tally_profile_free(profile);
	options.parent = "(";
	assert_int_equal(tally_profile_new(&session, &options, &profile, &error), -EINVAL);
	assert_non_null(strstr(error.text, "'(' is not a regular expression"));
}

static void nothing_sampled(void **state)
{
	struct tally_session session = session_of(few, 0);
	struct tally_profile *profile = profile_of(&session, usual_keys, 3, true, true);

	(void)state;
	assert_int_equal(event_at(profile, 0).samples, 0);
	assert_int_equal(event_at(profile, 0).row_count, 0);
	tally_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flat_rows),           cmocka_unit_test(children_count_once),
	    cmocka_unit_test(trees_with_children), cmocka_unit_test(trees_without_children),
	    cmocka_unit_test(rows_of_binaries),    cmocka_unit_test(filters_keep_the_total),
	    cmocka_unit_test(inlined_functions),   cmocka_unit_test(inlined_and_not),
	    cmocka_unit_test(periods_and_tasks),   cmocka_unit_test(sockets_periods_and_intervals),
	    cmocka_unit_test(options_are_checked), cmocka_unit_test(only_stacks_with_a_parent),
	    cmocka_unit_test(nothing_sampled),     cmocka_unit_test(only_large_rows_have_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
