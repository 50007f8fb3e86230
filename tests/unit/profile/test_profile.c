/* Rows and trees of made-up samples: known answers, and a plain model on random chains.
 *
 * Long because the made-up samples and the model serve all cases. */
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
#include "fake_session.h"

enum { MAIN = 1, A, B, C, KERNEL, NOWHERE, A_AGAIN, LEAF, FRAMES };

static struct tally_profile_event event_at(const struct tally_profile *profile, size_t index)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	tally_profile_event(profile, index, &event);
	return event;
}

static struct tally_profile_row row_at(const struct tally_profile *profile, size_t event,
				       uint64_t index)
{
	struct tally_profile_row row = {.size = sizeof(row)};

	tally_profile_row(profile, event, index, &row);
	return row;
}

static const struct tally_frame frames[FRAMES] = {
    [MAIN] = {"app", "/usr/bin/app", "main", 0x100, '.', 0},
    [A] = {"app", "/usr/bin/app", "a", 0x200, '.', 0},
    [B] = {"app", "/usr/bin/app", "b", 0x300, '.', 0},
    [C] = {"libc.so.6", "/lib/libc.so.6", "c", 0x400, '.', 1},
    [KERNEL] = {"[kernel.kallsyms]", "[kernel.kallsyms]", "k", 0x500, 'k', 2},
    [NOWHERE] = {"[unknown]", "[unknown]", NULL, 0x1234, '.', UINT32_MAX},
    /* The same symbol of a binary with the same short name, elsewhere. */
    [A_AGAIN] = {"app", "/container/app", "a", 0x200, '.', 3},
    [LEAF] = {"app", "/usr/bin/app", "leaf", 0x600, '.', 0},
};
static const char *const strings[] = {"app", "other"};
static const char *const usual[] = {"comm", "dso", "symbol"};

static struct tally_session session_of(const struct fake_sample *samples, size_t count)
{
	static struct tally_session session;

	fake_session_init(&session);
	session.frames = frames;
	session.frame_count = FRAMES;
	session.strings = strings;
	session.samples = samples;
	session.sample_count = count;
	return session;
}

static struct tally_profile *profile_of(struct tally_session *session, const char *const *keys,
					size_t key_count, bool callchains, bool children)
{
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = keys,
						.key_count = key_count,
						.callchains = callchains,
						.children = children};
	struct tally_profile *profile = NULL;
	struct tally_error error = {0};

	assert_int_equal(tally_profile_new(session, &options, &profile, &error), 0);
	return profile;
}

/* The row of a symbol (or binary); fails the test when there is none. */
static struct tally_profile_row row_of(const struct tally_profile *profile, const char *comm,
				       const char *symbol)
{
	struct tally_profile_event event = event_at(profile, 0);

	for (uint64_t i = 0; i < event.row_count; i++) {
		struct tally_profile_row row = row_at(profile, 0, i);

		if ((!comm || !strcmp(row.comm, comm)) && row.frame.symbol &&
		    !strcmp(row.frame.symbol, symbol))
			return row;
	}
	fail_msg("no row %s", symbol);
	return (struct tally_profile_row){0};
}

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
	struct tally_profile *profile = profile_of(&session, usual, 3, false, false);
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
	struct tally_profile *profile = profile_of(&session, usual, 3, true, true);
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

static struct tally_tree tree_of(const struct tally_profile *profile, struct tally_profile_row row,
				 enum tally_call_order order, uint64_t least)
{
	struct tally_tree_options options = {
	    .size = sizeof(options), .order = order, .least = least};
	struct tally_tree tree;

	assert_int_equal(tally_profile_tree(profile, 0, &row, &options, &tree), 0);
	return tree;
}

/* "a(172,12){b(110,10){...}...}" */
static void spell(const struct tally_tree *tree, uint32_t at, char *to, size_t room)
{
	const struct tally_tree_node *node = &tree->nodes[at];
	size_t used = strlen(to);

	snprintf(to + used, room - used, "%s(%llu,%llu)",
		 node->frame.symbol ? node->frame.symbol : "-", (unsigned long long)node->total,
		 (unsigned long long)node->self);
	for (uint32_t i = 0; i < node->child_count; i++) {
		used = strlen(to);
		snprintf(to + used, room - used, i ? " " : "{");
		spell(tree, node->first_child + i, to, room);
	}
	used = strlen(to);
	if (node->child_count)
		snprintf(to + used, room - used, "}");
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
	struct tally_profile *profile = profile_of(&session, usual, 3, true, true);
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
	struct tally_profile *profile = profile_of(&session, usual, 3, true, false);
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

static struct tally_profile *large_rows_of(struct tally_session *session, double least)
{
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = usual,
						.key_count = 3,
						.callchains = true,
						.tree_least = least};
	struct tally_profile *profile = NULL;

	assert_int_equal(tally_profile_new(session, &options, &profile, NULL), 0);
	return profile;
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
	    .size = sizeof(options), .keys = usual, .key_count = 3};
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
	memcpy(named, frames, sizeof(named));
	named[LEAF].inlined = named[B].inlined = true;
	named[LEAF].place = named[B].place = named[A].place;
	session.frames = named;
	profile = profile_of(&session, usual, 3, true, true);
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

	profile = profile_of(&session, usual, 3, true, false);
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
	memcpy(named, frames, sizeof(named));
	named[LEAF].inlined = named[B].inlined = true;
	named[LEAF].symbol = named[B].symbol = "a";
	session.frames = named;
	profile = profile_of(&session, usual, 3, true, true);
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

static void nothing_sampled(void **state)
{
	struct tally_session session = session_of(few, 0);
	struct tally_profile *profile = profile_of(&session, usual, 3, true, true);

	(void)state;
	assert_int_equal(event_at(profile, 0).samples, 0);
	assert_int_equal(event_at(profile, 0).row_count, 0);
	tally_profile_free(profile);
}

#define RANDOM_SAMPLES 6000
#define RANDOM_FRAMES  40

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static bool in_chain(const struct fake_sample *sample, uint32_t frame)
{
	for (uint32_t i = 0; i < sample->depth; i++)
		if (sample->chain[i] == frame)
			return true;
	return false;
}

/* What the samples say of a path below the row of a frame: of samples that end in it the path
 * starts at the outermost frame, of others at the row's outermost frame. */
static uint64_t model_below(const struct fake_sample *samples, uint32_t row, const uint32_t *path,
			    uint32_t length)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < RANDOM_SAMPLES; i++) {
		const struct fake_sample *sample = &samples[i];
		uint32_t at = sample->depth, k = 0;

		if (sample->comm || !in_chain(sample, row))
			continue;
		while (sample->chain[0] != row && sample->chain[at - 1] != row)
			at--;
		for (; at && k < length && sample->chain[at - 1] == path[k]; at--)
			k++;
		sum += k == length ? sample->period : 0;
	}
	return sum;
}

/* The same of who called the row: all samples start at its innermost frame. */
static uint64_t model_above(const struct fake_sample *samples, uint32_t row, const uint32_t *path,
			    uint32_t length)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < RANDOM_SAMPLES; i++) {
		const struct fake_sample *sample = &samples[i];
		uint32_t at = 0, k = 0;

		if (sample->comm || !in_chain(sample, row))
			continue;
		while (sample->chain[at] != row)
			at++;
		while (k < length && ++at < sample->depth && sample->chain[at] == path[k])
			k++;
		sum += k == length ? sample->period : 0;
	}
	return sum;
}

typedef uint64_t model(const struct fake_sample *samples, uint32_t row, const uint32_t *path,
		       uint32_t length);

/* Node 0 is the row; the paths start with its children. */
static void tree_follows_model(model *sum, const struct tally_tree *tree, uint32_t at,
			       const struct fake_sample *samples, uint32_t row, uint32_t *path,
			       uint32_t length)
{
	const struct tally_tree_node *node = &tree->nodes[at];
	uint64_t below = node->self;

	assert_int_equal(node->total, sum(samples, row, path, length));
	for (uint32_t i = 0; i < node->child_count; i++) {
		const struct tally_tree_node *child = &tree->nodes[node->first_child + i];

		below += child->total;
		if (i)
			assert_true(child->total <= child[-1].total);
		path[length] = (uint32_t)child->frame.place;
		if (length < 4)
			tree_follows_model(sum, tree, node->first_child + i, samples, row, path,
					   length + 1);
	}
	assert_int_equal(below, node->total);
}

static void make_random(struct fake_sample *samples, struct tally_frame *all, char (*names)[8])
{
	uint32_t seed = 7;

	for (uint32_t i = 1; i < RANDOM_FRAMES; i++) {
		snprintf(names[i], sizeof(*names), "f%u", i);
		all[i] = (struct tally_frame){"app", "/app", names[i], i, '.', 0};
	}
	for (uint32_t i = 0; i < RANDOM_SAMPLES; i++) {
		struct fake_sample *sample = &samples[i];

		if (i && next_random(&seed) % 3 == 0) { /* repeats, and chains alike in part */
			*sample = samples[next_random(&seed) % i];
			if (next_random(&seed) % 2)
				sample->chain[0] = 1 + next_random(&seed) % (RANDOM_FRAMES - 1);
			continue;
		}
		sample->comm = next_random(&seed) % 4 == 0;
		sample->period = next_random(&seed) % 50;
		sample->depth = 1 + next_random(&seed) % 12;
		for (uint32_t k = 0; k < sample->depth; k++)
			sample->chain[k] = 1 + next_random(&seed) %
						   (k + 3 > sample->depth ? 4 : RANDOM_FRAMES - 1);
	}
}

static void random_chains_follow_the_model(void **state)
{
	static struct fake_sample samples[RANDOM_SAMPLES];
	static struct tally_frame all[RANDOM_FRAMES];
	static char names[RANDOM_FRAMES][8];
	struct tally_session session = session_of(samples, RANDOM_SAMPLES);

	(void)state;
	make_random(samples, all, names);
	session.frames = all;
	session.frame_count = RANDOM_FRAMES;
	for (session.threads = 1; session.threads <= 5; session.threads++) {
		struct tally_profile *profile = profile_of(&session, usual, 3, true, true);
		struct tally_profile_event event = event_at(profile, 0);
		uint64_t selves = 0;

		assert_int_equal(event.samples, RANDOM_SAMPLES);
		for (uint64_t i = 0; i < event.row_count; i++) {
			struct tally_profile_row row = row_at(profile, 0, i);
			uint32_t frame = (uint32_t)row.frame.place;
			uint64_t self = 0, children = 0, count = 0;

			for (uint32_t k = 0; k < RANDOM_SAMPLES; k++) {
				if (strcmp(strings[samples[k].comm], row.comm) != 0)
					continue;
				if (samples[k].chain[0] == frame) {
					self += samples[k].period;
					count++;
				}
				if (in_chain(&samples[k], frame))
					children += samples[k].period;
			}
			assert_int_equal(row.self, self);
			assert_int_equal(row.samples, count);
			assert_int_equal(row.children, children);
			selves += self;
			if (i % 7 == 0 && !strcmp(row.comm, "app")) {
				struct tally_tree tree = tree_of(profile, row, TALLY_CALLER, 0);
				uint32_t path[8];

				tree_follows_model(model_below, &tree, 0, samples, frame, path, 0);
				tally_tree_done(&tree);
				tree = tree_of(profile, row, TALLY_CALLEE, 0);
				if (session.threads == 2)
					tree_follows_model(model_above, &tree, 0, samples, frame,
							   path, 0);
				tally_tree_done(&tree);
			}
		}
		assert_int_equal(selves, event.total);
		tally_profile_free(profile);
		/* Whole paths down to a row hold what the row holds. */
		profile = profile_of(&session, usual, 3, true, false);
		for (uint64_t i = 0; i < event_at(profile, 0).row_count; i += 5) {
			struct tally_profile_row row = row_at(profile, 0, i);
			struct tally_tree tree = tree_of(profile, row, TALLY_CALLER, 0);
			uint64_t ends = 0, sum = 0;

			for (uint32_t k = 1; k < tree.count; k++)
				ends += tree.nodes[k].self;
			for (uint32_t k = 0; k < tree.nodes[0].child_count; k++)
				sum += tree.nodes[tree.nodes[0].first_child + k].total;
			assert_int_equal(ends, row.self);
			assert_int_equal(sum, row.self);
			tally_tree_done(&tree);
		}
		tally_profile_free(profile);
	}
}

/* Chains of large rows alone lead to the trees that all chains lead to. */
static void few_chains_are_enough(void **state)
{
	static struct fake_sample samples[RANDOM_SAMPLES];
	static struct tally_frame all[RANDOM_FRAMES];
	static char names[RANDOM_FRAMES][8], whole[1 << 20], part[1 << 20];
	struct tally_session session = session_of(samples, RANDOM_SAMPLES);

	(void)state;
	make_random(samples, all, names);
	session.frames = all;
	session.frame_count = RANDOM_FRAMES;
	for (session.threads = 1; session.threads <= 5; session.threads += 2) {
		struct tally_profile *profile = profile_of(&session, usual, 3, true, false), *lean;
		struct tally_profile_event event = event_at(profile, 0);
		unsigned large = 0;

		session.sums_early = true;
		lean = large_rows_of(&session, 2);
		session.sums_early = false;
		assert_int_equal(event_at(lean, 0).row_count, event.row_count);
		for (uint64_t i = 0; i < event.row_count; i++) {
			struct tally_profile_row row = row_at(profile, 0, i);
			struct tally_profile_row same = row_at(lean, 0, i);

			assert_string_equal(row.comm, same.comm);
			assert_int_equal(row.frame.place, same.frame.place);
			assert_int_equal(row.self, same.self);
			assert_int_equal(row.samples, same.samples);
			if (100 * row.self < 2 * event.total)
				continue;
			large++;
			for (unsigned order = TALLY_CALLER; order <= TALLY_CALLEE; order++) {
				struct tally_tree one = tree_of(profile, row, order, 7);
				struct tally_tree other = tree_of(lean, same, order, 7);

				*whole = *part = 0;
				spell(&one, 0, whole, sizeof(whole));
				spell(&other, 0, part, sizeof(part));
				assert_string_equal(whole, part);
				tally_tree_done(&one);
				tally_tree_done(&other);
			}
		}
		assert_true(large > 3 && large < event.row_count);
		tally_profile_free(profile);
		tally_profile_free(lean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flat_rows),
	    cmocka_unit_test(children_count_once),
	    cmocka_unit_test(trees_with_children),
	    cmocka_unit_test(trees_without_children),
	    cmocka_unit_test(rows_of_binaries),
	    cmocka_unit_test(filters_keep_the_total),
	    cmocka_unit_test(inlined_functions),
	    cmocka_unit_test(inlined_and_not),
	    cmocka_unit_test(periods_and_tasks),
	    cmocka_unit_test(sockets_periods_and_intervals),
	    cmocka_unit_test(options_are_checked),
	    cmocka_unit_test(nothing_sampled),
	    cmocka_unit_test(random_chains_follow_the_model),
	    cmocka_unit_test(only_large_rows_have_trees),
	    cmocka_unit_test(few_chains_are_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
