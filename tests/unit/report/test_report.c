/* The report's text, letter by letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tally/report.h>
#include "../profile/fake_session.h"
#include "base/cell.h"

enum { MAIN = 1, WORK, COPY, KERNEL, NOWHERE, STRIPPED, EVIL, FRAMES };

static const struct tally_frame frames[FRAMES] = {
    [MAIN] = {"app", "/usr/bin/app", "main", 0x100, '.', 0},
    [WORK] = {"app", "/usr/bin/app", "work", 0x200, '.', 0},
    [COPY] = {"libc.so.6", "/lib/libc.so.6", "copy", 0x300, '.', 1},
    [KERNEL] = {"[kernel.kallsyms]", "[kernel.kallsyms]", "clear_page", 0x400, 'k', 2},
    [NOWHERE] = {"[unknown]", "[unknown]", NULL, 0x7f00001234, '.', UINT32_MAX},
    [STRIPPED] = {"libx.so", "/lib/libx.so", NULL, 0x12345, '.', 3},
    [EVIL] = {"app", "/usr/bin/app", "evil\x1b[2J\nname", 0x500, '.', 0},
};
static const char *const strings[] = {"app", "sh"};
static const char *const usual[] = {"comm", "dso", "symbol"};

static const struct fake_sample samples[] = {
    {.period = 600, .depth = 3, .chain = {COPY, WORK, MAIN}},
    {.period = 200, .depth = 4, .chain = {KERNEL, COPY, WORK, MAIN}},
    {.period = 150, .depth = 2, .chain = {WORK, MAIN}},
    {.period = 30, .depth = 1, .chain = {STRIPPED}, .comm = 1},
    {.period = 16, .depth = 1, .chain = {NOWHERE}, .comm = 1},
    {.period = 4, .depth = 2, .chain = {EVIL, MAIN}},
};

struct made {
	struct tally_session session;
	struct tally_profile *profile;
};

static void make_of(struct made *made, const char *const *keys, size_t key_count, bool callchains,
		    bool children, const char *const *comms)
{
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = keys,
						.key_count = key_count,
						.callchains = callchains,
						.children = children};

	fake_session_init(&made->session);
	made->session.frames = frames;
	made->session.frame_count = FRAMES;
	made->session.strings = comms;
	made->session.samples = samples;
	made->session.sample_count = sizeof(samples) / sizeof(*samples);
	made->session.counts.samples = 6;
	made->session.counts.records = 9;
	assert_int_equal(tally_profile_new(&made->session, &options, &made->profile, NULL), 0);
}

static void make(struct made *made, const char *const *keys, size_t key_count, bool callchains,
		 bool children)
{
	make_of(made, keys, key_count, callchains, children, strings);
}

static void make_named(struct made *made, const char *const *keys, size_t key_count,
		       const char *const *comms)
{
	make_of(made, keys, key_count, false, false, comms);
}

static void text_is(struct made *made, const struct tally_report_options *options,
		    const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(tally_report_write(made->profile, options, to), 0);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
	tally_profile_free(made->profile);
}

static void flat(void **state)
{
	struct tally_report_options options = {.size = sizeof(options)};
	struct made made;

	(void)state;
	make(&made, usual, 3, false, false);
	text_is(&made, &options,
		"# Samples: 6 of event 'cpu-clock'\n"
		"# Event count (approx.): 1000\n"
		"#\n"
		"# Overhead  Command  Shared Object      Symbol\n"
		"# ........  .......  .................  .......................\n"
		"#\n"
		"    60.00%  app      libc.so.6          [.] copy\n"
		"    20.00%  app      [kernel.kallsyms]  [k] clear_page\n"
		"    15.00%  app      app                [.] work\n"
		"     3.00%  sh       libx.so            [.] 0x0000000000012345\n"
		"     1.60%  sh       [unknown]          [.] 0x0000007f00001234\n"
		"     0.40%  app      app                [.] evil\\x1b[2J\\x0aname\n");
}

static void losses_and_counts(void **state)
{
	static const char *const by_task[] = {"pid", "cpu"};
	struct tally_report_options options = {
	    .size = sizeof(options), .show_samples = true, .show_total_period = true};
	struct made made;

	(void)state;
	make(&made, by_task, 2, false, false);
	made.session.counts.lost = 2;
	made.session.counts.throttled = 1;
	text_is(&made, &options,
		"# Lost: 2, 25.00% of what was sampled: the rings were too small or read too late\n"
		"# Throttled: 1 time: samples came faster than " /* 13.21 */
		"kernel.perf_event_max_sample_rate allows\n"
		"#\n"
		"# Samples: 6 of event 'cpu-clock'\n"
		"# Event count (approx.): 1000\n"
		"#\n"
		"# Overhead       Samples        Period      Pid:Command  CPU\n"
		"# ........  ............  ............  ...............  ...\n"
		"#\n"
		"   100.00%             6          1000        0:app        -\n");
}

static void limit_and_separator(void **state)
{
	struct tally_report_options options = {
	    .size = sizeof(options), .percent_limit = 15, .separator = "|", .trees = true};
	struct made made;

	(void)state;
	make(&made, usual, 3, true, false);
	text_is(&made, &options,
		"# Samples: 6 of event 'cpu-clock'\n"
		"# Event count (approx.): 1000\n"
		"#\n"
		"# Overhead|Command|Shared Object|Symbol\n"
		"60.00%|app|libc.so.6|[.] copy\n"
		"20.00%|app|[kernel.kallsyms]|[k] clear_page\n"
		"15.00%|app|app|[.] work\n");
}

static void callers_of_rows(void **state)
{
	struct tally_report_options options = {.size = sizeof(options),
					       .trees = true,
					       .order = TALLY_CALLEE,
					       .tree_least = 1.65, /* 16 whole periods */
					       .percent_limit = 1,
					       .quiet = true};
	struct made made;

	(void)state;
	make(&made, usual, 3, true, false);
	text_is(&made, &options,
		"    60.00%  app      libc.so.6          [.] copy\n"
		"            |\n"
		"            ---copy\n"
		"               work\n"
		"               main\n"
		"\n"
		"    20.00%  app      [kernel.kallsyms]  [k] clear_page\n"
		"            |\n"
		"            ---clear_page\n"
		"               copy\n"
		"               work\n"
		"               main\n"
		"\n"
		"    15.00%  app      app                [.] work\n"
		"            |\n"
		"            ---work\n"
		"               main\n"
		"\n"
		"     3.00%  sh       libx.so            [.] 0x0000000000012345\n"
		"            |\n"
		"            ---libx.so+0x12345\n"
		"\n"
		"     1.60%  sh       [unknown]          [.] 0x0000007f00001234\n"
		"            |\n"
		"            ---0x7f00001234\n"
		"\n");
}

static void children_and_callees(void **state)
{
	struct tally_report_options options = {.size = sizeof(options),
					       .trees = true,
					       .order = TALLY_CALLER,
					       .tree_least = 0.1,
					       .percent_limit = 90,
					       .quiet = true};
	struct made made;

	(void)state;
	make(&made, usual, 3, true, true);
	text_is(&made, &options,
		"    95.40%     0.00%  app      app            [.] main\n"
		"            |\n"
		"            ---main\n"
		"               |\n"
		"               |--95.00%--work\n"
		"               |          |\n"
		"               |           --80.00%--copy\n"
		"               |                     |\n"
		"               |                      --20.00%--clear_page\n"
		"               |\n"
		"                --0.40%--evil\\x1b[2J\\x0aname\n"
		"\n"
		"    95.00%    15.00%  app      app            [.] work\n"
		"            |\n"
		"            |--80.00%--work\n"
		"            |          copy\n"
		"            |          |\n"
		"            |           --20.00%--clear_page\n"
		"            |\n"
		"             --15.00%--main\n"
		"                       work\n"
		"\n");
}

static void narrow_and_coloured(void **state)
{
	struct tally_report_options options = {
	    .size = sizeof(options), .width = 50, .colour = true, .quiet = true};
	struct made made;

	(void)state;
	make(&made, usual, 3, false, false);
	text_is(&made, &options,
		"    \x1b[31m60.00%\x1b[m  app      libc.so.6    [.] copy\n"
		"    \x1b[31m20.00%\x1b[m  app      [kernel....  [k] clear_page\n"
		"    \x1b[31m15.00%\x1b[m  app      app          [.] work\n"
		"     \x1b[32m3.00%\x1b[m  sh       libx.so      [.] 0x0...012345\n"
		"     \x1b[32m1.60%\x1b[m  sh       [unknown]    [.] 0x0...001234\n"
		"     0.40%  app      app          [.] evi...0aname\n");
}

/* Shares that read the same make no fork on a terminal, but in a file, where perf has it. */
static void straight_on_terminals(void **state)
{
	static const struct fake_sample nearly[] = {
	    {.period = 999999, .depth = 3, .chain = {COPY, WORK, MAIN}},
	    {.period = 1, .depth = 2, .chain = {WORK, MAIN}},
	};
	struct tally_report_options options = {.size = sizeof(options),
					       .trees = true,
					       .order = TALLY_CALLER,
					       .tree_least = 0.5,
					       .width = 60,
					       .quiet = true};
	struct tally_profile_options plain = {.size = sizeof(plain),
					      .keys = usual + 2,
					      .key_count = 1,
					      .callchains = true,
					      .children = true};
	struct made made;

	(void)state;
	for (unsigned terminal = 0; terminal < 2; terminal++) {
		make(&made, usual, 3, false, false);
		tally_profile_free(made.profile);
		made.session.samples = nearly;
		made.session.sample_count = 2;
		assert_int_equal(tally_profile_new(&made.session, &plain, &made.profile, NULL), 0);
		options.width = terminal ? 60 : 0;
		options.percent_limit = 100;
		text_is(&made, &options,
			terminal ? "   100.00%     0.00%  [.] work\n"
				   "            |\n"
				   "            ---copy\n"
				   "\n"
				   "   100.00%     0.00%  [.] main\n"
				   "            |\n"
				   "            ---work\n"
				   "               copy\n"
				   "\n"
				 : "   100.00%     0.00%  [.] work\n"
				   "            |\n"
				   "             --100.00%--work\n"
				   "                       copy\n"
				   "\n"
				   "   100.00%     0.00%  [.] main\n"
				   "            |\n"
				   "            ---work\n"
				   "               |\n"
				   "                --100.00%--copy\n"
				   "\n");
	}
}

/* Rows that begin with the symbol have it once, and nothing where nothing but it would stand. */
static void rows_of_symbols(void **state)
{
	struct tally_report_options options = {.size = sizeof(options),
					       .trees = true,
					       .order = TALLY_CALLEE,
					       .tree_least = 2,
					       .percent_limit = 3,
					       .quiet = true};
	struct made made;

	(void)state;
	make(&made, usual + 2, 1, true, false);
	text_is(&made, &options,
		"    60.00%  [.] copy\n"
		"            |\n"
		"            ---work\n"
		"               main\n"
		"\n"
		"    20.00%  [k] clear_page\n"
		"            |\n"
		"            ---copy\n"
		"               work\n"
		"               main\n"
		"\n"
		"    15.00%  [.] work\n"
		"            |\n"
		"            ---main\n"
		"\n"
		"     3.00%  [.] 0x0000000000012345\n");
	/* Whole paths start elsewhere. */
	options.order = TALLY_CALLER;
	options.percent_limit = 60;
	make(&made, usual + 2, 1, true, false);
	text_is(&made, &options,
		"    60.00%  [.] copy\n"
		"            |\n"
		"            ---main\n"
		"               work\n"
		"               copy\n"
		"\n");
}

static void says_why_nothing(void **state)
{
	struct tally_report_options options = {.size = sizeof(options)};
	struct tally_profile_options plain = {.size = sizeof(plain), .keys = usual, .key_count = 3};
	struct made made;
	char *text = NULL;
	size_t size = 0;
	FILE *to;

	(void)state;
	make(&made, usual, 3, false, false);
	tally_profile_free(made.profile);
	made.session.sample_count = 0;
	made.session.counts.samples = 0;
	assert_int_equal(tally_profile_new(&made.session, &plain, &made.profile, NULL), 0);
	to = open_memstream(&text, &size);
	assert_int_equal(tally_report_write(made.profile, &options, to), 0);
	made.session.counts.lost = 9;
	assert_int_equal(tally_report_write(made.profile, &options, to), 0);
	fclose(to);
	assert_non_null(strstr(text, "# No samples: the recorded program may have ended"));
	assert_non_null(strstr(text, "# No samples: all of them were lost"));
	free(text);
	tally_profile_free(made.profile);
}

/* 13.15: a chain of which each function has samples of its own forks at each call. */
enum { DEEP = 40 };

static void deep_trees_fit_the_terminal(void **state)
{
	static struct tally_frame deep[DEEP + 1];
	static struct fake_sample each[DEEP];
	static char names[DEEP + 1][48];
	struct tally_profile_options plain = {.size = sizeof(plain),
					      .keys = usual,
					      .key_count = 3,
					      .callchains = true,
					      .children = true};
	struct tally_report_options options = {
	    .size = sizeof(options), .trees = true, .order = TALLY_CALLER, .height = 24};
	struct made made;

	(void)state;
	for (uint32_t i = 1; i <= DEEP; i++) {
		snprintf(names[i], sizeof(names[i]), "function_%02u_with_a_name_of_some_length", i);
		deep[i] = (struct tally_frame){
		    "a-binary-with-a-long-name.so.1", "/lib/a", names[i], i, '.', 0};
		each[i - 1] = (struct fake_sample){.period = 1000 - i, .depth = i};
		for (uint32_t at = 0; at < i; at++)
			each[i - 1].chain[at] = i - at;
	}
	fake_session_init(&made.session);
	made.session.frames = deep;
	made.session.frame_count = DEEP + 1;
	made.session.strings = strings;
	made.session.samples = each;
	made.session.sample_count = DEEP;
	made.session.counts.samples = DEEP;
	made.session.counts.records = DEEP;
	made.session.counts.throttled = 1;
	assert_int_equal(tally_profile_new(&made.session, &plain, &made.profile, NULL), 0);
	for (options.width = 60; options.width <= 160; options.width += 20) {
		char *text = NULL, *line;
		size_t size = 0, rows = 0;
		FILE *to = open_memstream(&text, &size);
		bool trees = false;

		assert_int_equal(tally_report_write(made.profile, &options, to), 0);
		fclose(to);
		for (line = text; *line; line += strcspn(line, "\n") + 1) {
			assert_in_range(strcspn(line, "\n"), 0, options.width);
			trees |= !strncmp(line, "# Call trees of all rows", 24);
			rows += !trees && line[0] != '#' && line[0] != '\n';
		}
		/* The rest of the 24 lines are the header's, and the pager's. */
		assert_true(trees);
		assert_in_range(rows, 10, 16);
		free(text);
	}
	tally_profile_free(made.profile);
}

static void missing_symbols(void **state)
{
	struct tally_session session;
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	fake_session_init(&session);
	assert_int_equal(tally_report_missing(&session, to), 1);
	fclose(to);
	assert_string_equal(text, "/usr/bin/\\x1b[2Jx: stripped\n");
	free(text);
}

static void full_disk(void **state)
{
	struct tally_report_options options = {.size = sizeof(options)};
	struct made made;
	char small[8];
	FILE *to = fmemopen(small, sizeof(small), "w");

	(void)state;
	setvbuf(to, NULL, _IONBF, 0);
	make(&made, usual, 3, false, false);
	assert_true(tally_report_write(made.profile, &options, to) < 0);
	fclose(to);
	tally_profile_free(made.profile);
}

static void numbers(void **state)
{
	static const struct {
		uint64_t value;
		const char *text;
	} counts[] = {
	    {0, "0"},           {1000, "1000"},  {1001, "1K"},        {9768, "9K"},
	    {1000999, "1000K"}, {1001000, "1M"}, {2345678901u, "2G"}, {UINT64_MAX, "18446744073G"}};
	static const struct {
		uint64_t part, whole;
		const char *text;
	} shares[] = {{0, 0, "0.00%"},     {1, 3, "33.33%"},    {2, 3, "66.67%"},
		      {1, 20000, "0.01%"}, {1, 20001, "0.00%"}, {UINT64_MAX, UINT64_MAX, "100.00%"},
		      {3, 1, "300.00%"},   {21, 32, "65.62%"},  {3, 32, "9.38%"}};
	struct tally_buf text = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		tally_buf_clear(&text);
		tally_cell_count(&text, counts[i].value);
		assert_string_equal(tally_buf_str(&text), counts[i].text);
	}
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		tally_buf_clear(&text);
		tally_cell_percent(&text, tally_cell_share(shares[i].part, shares[i].whole));
		assert_string_equal(tally_buf_str(&text), shares[i].text);
	}
	assert_int_equal(tally_cell_columns("h\xc3\xa9llo", 6), 5);
	assert_int_equal(tally_cell_cut("h\xc3\xa9llo", 6, 2), 3);
	assert_int_equal(tally_cell_cut("abc", 3, 9), 3);
	tally_buf_done(&text);
}

/* 14.3: csv and json are formats of their own, with the same rows. */
static void separated_values(void **state)
{
	static const char *const columns[] = {"symbol", "sample", "overhead"};
	struct tally_report_options options = {
	    .size = sizeof(options), .format = "csv", .percent_limit = 1};
	struct made made;

	(void)state;
	make(&made, usual, 3, false, false);
	text_is(&made, &options,
		"event,overhead,sample,period,comm,dso,symbol\n"
		"cpu-clock,60,1,600,app,libc.so.6,copy\n"
		"cpu-clock,20,1,200,app,[kernel.kallsyms],clear_page\n"
		"cpu-clock,15,1,150,app,app,work\n"
		"cpu-clock,3,1,30,sh,libx.so,libx.so+0x12345\n"
		"cpu-clock,1.6,1,16,sh,[unknown],0x7f00001234\n");
	/* A value with the separator in it is quoted; -q: no names. */
	options.percent_limit = 20;
	options.separator = "e";
	options.quiet = true;
	options.columns = options.order_by = columns;
	options.column_count = options.order_by_count = 3;
	make(&made, usual, 3, false, false);
	text_is(&made, &options,
		"cpu-clocke\"clear_page\"e1e20\n"
		"cpu-clockecopye1e60\n");
}

static void quotes_are_doubled(void **state)
{
	static const char *const names[] = {"a\"b,c", "x\ny"};
	static const char *const by_comm[] = {"comm"};
	struct tally_report_options options = {.size = sizeof(options), .format = "csv"};
	struct made made;

	(void)state;
	make_named(&made, by_comm, 1, names);
	text_is(&made, &options,
		"event,overhead,sample,period,comm\n"
		"cpu-clock,95.4,4,954,\"a\"\"b,c\"\n"
		"cpu-clock,4.6,2,46,x\\x0ay\n");
}

static void json_rows(void **state)
{
	static const char *const keys[] = {"comm", "cpu", "pid"};
	struct tally_report_options options = {.size = sizeof(options), .format = "json"};
	struct made made;

	(void)state;
	make(&made, keys, 3, false, false);
	text_is(&made, &options,
		"{\"version\":1,\"events\":[{\"event\":\"cpu-clock\",\"samples\":6,\"period\":1000,"
		"\"samples_passed\":6,\"period_passed\":1000,\"rows\":["
		"{\"overhead\":95.4,\"sample\":4,\"period\":954,\"comm\":\"app\",\"cpu\":null,"
		"\"pid\":0},"
		"{\"overhead\":4.6,\"sample\":2,\"period\":46,\"comm\":\"sh\",\"cpu\":null,"
		"\"pid\":0}]}]}\n");
}

static void formats_are_checked(void **state)
{
	static const char *const columns[] = {"cpu"}; /* no key of the profile */
	struct tally_report_options options = {.size = sizeof(options), .format = "none"};
	const char *help = NULL;
	struct made made;

	(void)state;
	make(&made, usual, 3, false, false);
	assert_int_equal(tally_report_write(made.profile, &options, stdout), -EINVAL);
	for (size_t i = 0; (options.format = tally_report_format_name(i, &help)); i++) {
		assert_non_null(help);
		options.columns = columns;
		options.column_count = 1;
		assert_int_equal(tally_report_write(made.profile, &options, stdout), -EINVAL);
	}
	assert_string_equal(tally_report_format_name(0, NULL), "text");
	assert_true(tally_report_format_has_trees("text"));
	assert_false(tally_report_format_has_trees("csv"));
	assert_string_equal(tally_report_field_find("sym", 3), "symbol");
	assert_string_equal(tally_report_field_find("symb", 4), "symbol");
	assert_null(tally_report_field_find("symx", 4));
	tally_profile_free(made.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flat),
	    cmocka_unit_test(losses_and_counts),
	    cmocka_unit_test(limit_and_separator),
	    cmocka_unit_test(callers_of_rows),
	    cmocka_unit_test(children_and_callees),
	    cmocka_unit_test(narrow_and_coloured),
	    cmocka_unit_test(straight_on_terminals),
	    cmocka_unit_test(rows_of_symbols),
	    cmocka_unit_test(says_why_nothing),
	    cmocka_unit_test(deep_trees_fit_the_terminal),
	    cmocka_unit_test(missing_symbols),
	    cmocka_unit_test(full_disk),
	    cmocka_unit_test(separated_values),
	    cmocka_unit_test(quotes_are_doubled),
	    cmocka_unit_test(json_rows),
	    cmocka_unit_test(formats_are_checked),
	    cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
