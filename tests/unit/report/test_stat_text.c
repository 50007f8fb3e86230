/* Texts of counts: of hardware that need not be here, with what perf 6.1 prints for the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <string.h>
#include <tally/stat.h>
#include "../profile/made_counts.h"

static const struct tally_stat_place task[] = {{-1, 100, -1, -1, -1, -1, -1, -1, "sh"}};
static const struct tally_stat_place cpus[] = {
    {0, -1, 0, 0, 0, 0, 0, 0, NULL},
    {1, -1, 0, 0, 0, 0, 1, 0, NULL},
};

static const struct tally_count unsupported = {.missing = 1, .quality = TALLY_COUNT_NOT_SUPPORTED};

typedef int (*writer)(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		      FILE *to);

/* The caller's to free(). */
static char *written(writer write, const struct tally_stat *stat,
		     const struct tally_stat_text_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(write(stat, options, to), 0);
	fclose(to);
	return text;
}

static void assert_written(writer write, const struct tally_stat *stat,
			   const struct tally_stat_text_options *options, const char *expected)
{
	char *text = written(write, stat, options);

	assert_string_equal(text, expected);
	free(text);
}

static struct tally_stat *make(const struct tally_stat_options *options)
{
	struct tally_stat *stat;

	assert_int_equal(tally_stat_new(options, &stat, NULL), 0);
	return stat;
}

static const struct tally_stat_times times = {1000000000, 600000000, 200000000};
static const struct tally_stat_event events[] = {
    {SOFTWARE(TASK_CLOCK), "task-clock"},
    {HARDWARE(CPU_CYCLES), "cycles"},
    {HARDWARE(INSTRUCTIONS), "instructions"},
    {HARDWARE(STALLED_CYCLES_FRONTEND), "stalled-cycles-frontend"},
    {HARDWARE(BRANCH_MISSES), "branch-misses", .why = "it is a test"},
};

static struct tally_stat *make_task(void)
{
	const struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = events,
	    .event_count = 5,
	    .places = task,
	    .place_count = 1,
	};
	const struct tally_count counts[] = {
	    counted(500000000, 500000000, 500000000), counted(1000000000, 500000000, 500000000),
	    counted(1000000, 400, 100), counted(600000000, 500000000, 500000000), unsupported};
	struct tally_stat *stat = make(&options);

	tally_stat_finish(stat, counts, &times);
	return stat;
}

static void csv_is_perfs(void **state)
{
	struct tally_stat_text_options options = {.size = sizeof(options)};
	struct tally_stat *stat = make_task();

	(void)state;
	assert_written(tally_stat_csv, stat, &options,
		       "500.00,msec,task-clock,500000000,100.00,0.500,CPUs utilized\n"
		       "1000000000,,cycles,500000000,100.00,2.000,GHz\n"
		       "4000000,,instructions,100,25.00,0.00,insn per cycle\n"
		       ",,,,150.00,stalled cycles per insn\n"
		       "600000000,,stalled-cycles-frontend,500000000,100.00,60.00,frontend cycles "
		       "idle\n"
		       "<not supported>,,branch-misses,0,100.00,,\n");
	options.repeated = true;
	options.separator = ";";
	options.summary = true;
	assert_written(
	    tally_stat_csv, stat, &options,
	    "         summary;500.00;msec;task-clock;0.00%;500000000;100.00;0.500;CPUs utilized\n"
	    "         summary;1000000000;;cycles;0.00%;500000000;100.00;2.000;GHz\n"
	    "         summary;4000000;;instructions;0.00%;100;25.00;0.00;insn per cycle\n"
	    ";;;;150.00;stalled cycles per insn\n"
	    "         summary;600000000;;stalled-cycles-frontend;0.00%;500000000;100.00;60.00;"
	    "frontend cycles idle\n"
	    "         summary;<not supported>;;branch-misses;0.00%;0;100.00;;\n");
	tally_stat_free(stat);
}

static void perfs_json_is_perfs(void **state)
{
	struct tally_stat_text_options options = {
	    .size = sizeof(options), .intervals = true, .time = 1000123456};
	struct tally_stat *stat = make_task();

	(void)state;
	assert_written(
	    tally_stat_perf_json, stat, &options,
	    "{\"interval\" : 1.000123456, \"counter-value\" : \"500.000000\", \"unit\" : \"msec\", "
	    "\"event\" : \"task-clock\", \"event-runtime\" : 500000000, \"pcnt-running\" : 100.00, "
	    "\"metric-value\" : 0.500000, \"metric-unit\" : \"CPUs utilized\"}\n"
	    "{\"interval\" : 1.000123456, \"counter-value\" : \"1000000000.000000\", \"unit\" : "
	    "\"\", "
	    "\"event\" : \"cycles\", \"event-runtime\" : 500000000, \"pcnt-running\" : 100.00, "
	    "\"metric-value\" : 2.000000, \"metric-unit\" : \"GHz\"}\n"
	    "{\"interval\" : 1.000123456, \"counter-value\" : \"4000000.000000\", \"unit\" : \"\", "
	    "\"event\" : \"instructions\", \"event-runtime\" : 100, \"pcnt-running\" : 25.00, "
	    "\"metric-value\" : 0.004000, \"metric-unit\" : \"insn per cycle\"}\n"
	    "{\"interval\" : 1.000123456, \"metric-value\" : 150.000000, \"metric-unit\" : "
	    "\"stalled cycles per insn\"}\n"
	    "{\"interval\" : 1.000123456, \"counter-value\" : \"600000000.000000\", \"unit\" : "
	    "\"\", "
	    "\"event\" : \"stalled-cycles-frontend\", \"event-runtime\" : 500000000, "
	    "\"pcnt-running\" : 100.00, \"metric-value\" : 60.000000, \"metric-unit\" : "
	    "\"frontend cycles idle\"}\n"
	    "{\"interval\" : 1.000123456, \"counter-value\" : \"<not supported>\", \"unit\" : "
	    "\"\", "
	    "\"event\" : \"branch-misses\", \"event-runtime\" : 0, \"pcnt-running\" : 100.00, "
	    "\"metric-value\" : 0.000000, \"metric-unit\" : \"\"}\n");
	tally_stat_free(stat);
}

static void parts_stand_in_front(void **state)
{
	static const struct tally_stat_event faults[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = faults,
	    .event_count = 1,
	    .places = cpus,
	    .place_count = 2,
	};
	static const struct {
		enum tally_stat_by by;
		const char *csv;
	} cases[] = {
	    {TALLY_STAT_CPU, "CPU0,3,,faults,9,100.00,,\nCPU1,4,,faults,9,100.00,,\n"},
	    {TALLY_STAT_CORE, "S0-D0-C0,1,3,,faults,9,100.00,,\nS0-D0-C1,1,4,,faults,9,100.00,,\n"},
	    {TALLY_STAT_DIE, "S0-D0,2,7,,faults,18,100.00,,\n"},
	    {TALLY_STAT_SOCKET, "S0,2,7,,faults,18,100.00,,\n"},
	    {TALLY_STAT_NODE, "N0,2,7,,faults,18,100.00,,\n"},
	    {TALLY_STAT_CLUSTER, "S0-D0-CLS0,2,7,,faults,18,100.00,,\n"},
	    {TALLY_STAT_CACHE, "S0-D0-L3-ID0,2,7,,faults,18,100.00,,\n"},
	};
	const struct tally_count counts[] = {counted(3, 9, 9), counted(4, 9, 9)};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_stat_text_options text = {.size = sizeof(text)};
		struct tally_stat *stat;

		options.by = cases[i].by;
		stat = make(&options);
		tally_stat_finish(stat, counts, &times);
		assert_written(tally_stat_csv, stat, &text, cases[i].csv);
		tally_stat_free(stat);
	}
}

static void threads_come_by_their_counts(void **state)
{
	static const struct tally_stat_event faults[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	static const struct tally_stat_place threads[] = {
	    {-1, 7, -1, -1, -1, -1, -1, -1, "few"},
	    {-1, 8, -1, -1, -1, -1, -1, -1, "many"},
	    {-1, 9, -1, -1, -1, -1, -1, -1, "none"},
	};
	const struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = faults,
	    .event_count = 1,
	    .places = threads,
	    .place_count = 3,
	    .by = TALLY_STAT_THREAD,
	};
	const struct tally_count counts[] = {counted(3, 9, 9), counted(40, 9, 9), counted(0, 9, 9)};
	struct tally_stat_text_options text = {.size = sizeof(text), .skip_zeros = true};
	struct tally_stat *stat = make(&options);

	(void)state;
	tally_stat_finish(stat, counts, &times);
	assert_written(tally_stat_csv, stat, &text,
		       "many-8,40,,faults,9,100.00,,\nfew-7,3,,faults,9,100.00,,\n");
	tally_stat_free(stat);
}

static void the_table_shows_what_was_scaled_and_what_not_counted(void **state)
{
	struct tally_stat_text_options options = {
	    .size = sizeof(options), .title = "'x'", .command_times = true};
	struct tally_stat *stat = make_task();

	(void)state;
	assert_written(
	    tally_stat_text, stat, &options,
	    "\n Performance counter stats for 'x':\n\n"
	    "          500.00 msec  task-clock               #  0.500 CPUs utilized\n"
	    "   1,000,000,000       cycles                   #  2.000 GHz\n"
	    "       4,000,000       instructions             #   0.00 insn per cycle           "
	    "(scaled from 25.0%)\n"
	    "                                                # 150.00 stalled cycles per insn\n"
	    "     600,000,000       stalled-cycles-frontend  # 60.00% frontend cycles idle\n"
	    " <not supported>       branch-misses\n"
	    "\n       1.000000000 seconds time elapsed\n"
	    "\n       0.600000000 seconds user\n       0.200000000 seconds sys\n"
	    "\n Not counted: branch-misses: it is a test\n\n");
	tally_stat_free(stat);
}

static void names_are_cut_and_coloured_only_where_asked(void **state)
{
	static const struct tally_stat_event longest[] = {
	    {SOFTWARE(PAGE_FAULTS), "an/event,with=many,terms=0x1234567,and=more/\033[2J"}};
	const struct tally_stat_options of = {
	    .size = sizeof(of),
	    .events = longest,
	    .event_count = 1,
	    .places = task,
	    .place_count = 1,
	};
	const struct tally_count counts[] = {counted(3, 9, 9)};
	struct tally_stat_text_options options = {
	    .size = sizeof(options), .title = "'x'", .width = 50};
	struct tally_stat *stat = make(&of);
	char *text;

	(void)state;
	tally_stat_finish(stat, counts, &times);
	text = written(tally_stat_text, stat, &options);
	assert_non_null(strstr(text, "…\n"));
	assert_null(strchr(text, '\033'));
	free(text);
	options.width = 0;
	text = written(tally_stat_text, stat, &options);
	assert_non_null(strstr(text, "more/\\x1b[2J\n"));
	free(text);
	options.colour = true;
	text = written(tally_stat_text, stat, &options);
	assert_non_null(strstr(text, "\033[1m"));
	free(text);
	tally_stat_free(stat);
}

static void our_json_has_the_quality(void **state)
{
	struct tally_stat_text_options options = {.size = sizeof(options), .title = "'x'"};
	struct tally_stat *stat = make_task();
	char *text = written(tally_stat_json, stat, &options);

	(void)state;
	assert_non_null(
	    strstr(text, "{\"version\":2,\"target\":\"'x'\",\"aggregation\":\"global\",\"runs\":1,"
			 "\"elapsed\":{\"ns\":1e+09},"));
	assert_non_null(strstr(text,
			       "{\"event\":\"instructions\",\"counts\":[{\"quality\":\"scaled\","
			       "\"value\":4e+06,\"time_enabled\":400,\"time_running\":100,"));
	assert_non_null(strstr(text, "\"reason\":\"it is a test\",\"counts\":[{\"quality\":\"not "
				     "supported\",\"value\":null,"));
	free(text);
	tally_stat_free(stat);
}

static double seven(void *context, size_t metric, const double *values, int *ret_threshold)
{
	static const int thresholds[] = {1, 0, -1};

	(void)context;
	(void)values;
	*ret_threshold = thresholds[metric];
	return 7;
}

/* Whether a metric is worth a look is shown where the tables have a limit for it. */
static void our_json_has_thresholds(void **state)
{
	static const struct tally_stat_event faults[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	static const struct tally_stat_metric metrics[] = {
	    {"much", NULL, 0}, {"little", NULL, 0}, {"boundless", NULL, 0}};
	struct tally_stat_text_options options = {.size = sizeof(options)};
	const struct tally_stat_options of = {
	    .size = sizeof(of),
	    .events = faults,
	    .event_count = 1,
	    .places = task,
	    .place_count = 1,
	    .metrics = metrics,
	    .metric_count = 3,
	    .metric_value = seven,
	};
	const struct tally_count counts[] = {counted(7, 9, 9)};
	struct tally_stat_times run = {1000, 0, 0};
	struct tally_stat *stat = make(&of);
	char *text;

	(void)state;
	tally_stat_begin(stat);
	tally_stat_finish(stat, counts, &run);
	text = written(tally_stat_json, stat, &options);
	assert_non_null(
	    strstr(text, "{\"name\":\"much\",\"value\":7,\"metric\":true,\"threshold\":true},"
			 "{\"name\":\"little\",\"value\":7,\"metric\":true,\"threshold\":false},"
			 "{\"name\":\"boundless\",\"value\":7,\"metric\":true}"));
	free(text);
	tally_stat_free(stat);
}

static struct tally_stat *make_runs(const uint64_t *runs, size_t count)
{
	static const struct tally_stat_event faults[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	const struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = faults,
	    .event_count = 1,
	    .places = task,
	    .place_count = 1,
	};
	struct tally_stat *stat = make(&options);

	for (size_t i = 0; i < count; i++) {
		const struct tally_count counts[] = {counted(7, 9, 9)};
		struct tally_stat_times run = {runs[i], 0, 0};

		tally_stat_begin(stat);
		tally_stat_finish(stat, counts, &run);
	}
	return stat;
}

static char *compared(const struct tally_stat *first, const struct tally_stat *second)
{
	const struct tally_stat_compared all[] = {{"A", "one", first}, {"B", "two", second}};
	struct tally_stat_compare_options options = {.size = sizeof(options)};
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(tally_stat_compare_text(all, 2, &options, to), 0);
	fclose(to);
	return text;
}

static void commands_are_compared_in_words(void **state)
{
	static const uint64_t slow[] = {2000000000, 2010000000, 1990000000};
	static const uint64_t fast[] = {1000000000, 1010000000, 990000000};
	static const uint64_t wide[] = {1000000000, 3000000000, 2000000000};
	struct tally_stat *first = make_runs(slow, 3), *second = make_runs(fast, 3);
	struct tally_stat *third = make_runs(wide, 3), *fast_or_slow = make_runs(fast, 3);
	char *text = compared(first, second);

	(void)state;
	/* 13.3: half as much; the relative errors 0.2887 % and 0.5774 %, t of 2.94 degrees 3.219:
	 * 0.5 times e to the +-2.078 %. */
	assert_non_null(strstr(text, " B is faster than A: it takes 50.00% less time (48.95% to "
				     "51.03%, 95% confidence)\n"));
	assert_non_null(strstr(text, "same\n")); /* the counts */
	free(text);
	text = compared(second, first);
	assert_non_null(strstr(text, " B is slower than A: it takes 100.00% more time"));
	free(text);
	text = compared(first, third);
	/* 13.3: one sentence, without a limit beyond 100 % less, and with what would help. */
	assert_non_null(strstr(text, " Cannot tell whether A or B is faster: B takes between "));
	assert_non_null(strstr(text, "; the difference of 0.00%, if there is one, does not show in "
				     "10000 runs\n"));
	free(text);
	text = compared(third, fast_or_slow);
	assert_non_null(strstr(text, "if it is real, should show after"));
	assert_non_null(strstr(text, "more runs of each\n"));
	free(text);
	tally_stat_free(fast_or_slow);
	tally_stat_free(first);
	tally_stat_free(second);
	tally_stat_free(third);
}

static void no_line_wider_than(const char *text, size_t width)
{
	while (*text) {
		size_t length = strcspn(text, "\n"), columns = 0;

		for (size_t i = 0; i < length; i++)
			columns += (text[i] & 0xc0) != 0x80;
		if (columns > width)
			fail_msg("%zu columns: %.*s", columns, (int)length, text);
		text += length + (text[length] == '\n');
	}
}

/* Nothing is broken at the edge of a terminal of 80 columns. */
static void texts_fit_the_terminal(void **state)
{
	static const uint64_t slow[] = {2000000000, 2010000000, 1990000000};
	static const uint64_t wide[] = {1000000000, 3000000000, 2000000000};
	struct tally_stat_text_options options = {
	    .size = sizeof(options), .title = "'x'", .width = 80};
	struct tally_stat *stat = make_task(), *first = make_runs(slow, 3);
	struct tally_stat *second = make_runs(wide, 3);
	const struct tally_stat_compared all[] = {{"A", "one", first}, {"B", "two", second}};
	struct tally_stat_compare_options narrow = {.size = sizeof(narrow), .width = 80};
	char *text = written(tally_stat_text, stat, &options);
	size_t size = 0;
	FILE *to;

	(void)state;
	no_line_wider_than(text, 80);
	free(text);
	options.intervals = options.heading = true;
	options.width = 90;
	text = written(tally_stat_text, stat, &options);
	no_line_wider_than(text, 90);
	free(text);
	text = NULL;
	to = open_memstream(&text, &size);
	assert_non_null(to);
	assert_int_equal(tally_stat_compare_text(all, 2, &narrow, to), 0);
	fclose(to);
	no_line_wider_than(text, 80);
	assert_non_null(strstr(text, "\n  more time than A (95% confidence)"));
	free(text);
	tally_stat_free(stat);
	tally_stat_free(first);
	tally_stat_free(second);
}

/* 13.21: at 60 columns words are whole, and what there is no room for is left out, not broken. */
static void texts_fit_a_terminal_of_60_columns(void **state)
{
	static const uint64_t slow[] = {2000000000, 2010000000, 1990000000};
	static const uint64_t wide[] = {1000000000, 3000000000, 2000000000};
	struct tally_stat_text_options options = {
	    .size = sizeof(options), .title = "'x'", .width = 60, .repeated = true};
	struct tally_stat *stat = make_task(), *first = make_runs(slow, 3);
	struct tally_stat *second = make_runs(wide, 3);
	const struct tally_stat_compared all[] = {{"A", "one", first}, {"B", "two", second}};
	struct tally_stat_compare_options narrow = {.size = sizeof(narrow), .width = 60};
	char *text = written(tally_stat_text, second, &options);
	bool some_cut = false;
	size_t size = 0;
	FILE *to;

	(void)state;
	no_line_wider_than(text, 60);
	assert_non_null(strstr(text, "seconds time elapsed\n"));
	free(text);
	options.repeated = false;
	for (options.width = 60; options.width < 100; options.width++) {
		const char *at;

		text = written(tally_stat_text, stat, &options);
		no_line_wider_than(text, options.width);
		at = strstr(text, "CPUs u");
		assert_true(!at || !strncmp(at, "CPUs utilized", 13));
		some_cut |= strstr(text, " CPUs…") != NULL;
		free(text);
	}
	assert_true(some_cut);
	options.width = 60;
	options.intervals = options.heading = true;
	text = written(tally_stat_text, stat, &options);
	no_line_wider_than(text, 60);
	assert_null(strchr(text + 1, '#'));
	free(text);
	text = NULL;
	to = open_memstream(&text, &size);
	assert_non_null(to);
	assert_int_equal(tally_stat_compare_text(all, 2, &narrow, to), 0);
	fclose(to);
	no_line_wider_than(text, 60);
	free(text);
	tally_stat_free(stat);
	tally_stat_free(first);
	tally_stat_free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(csv_is_perfs),
	    cmocka_unit_test(perfs_json_is_perfs),
	    cmocka_unit_test(parts_stand_in_front),
	    cmocka_unit_test(threads_come_by_their_counts),
	    cmocka_unit_test(the_table_shows_what_was_scaled_and_what_not_counted),
	    cmocka_unit_test(names_are_cut_and_coloured_only_where_asked),
	    cmocka_unit_test(our_json_has_the_quality),
	    cmocka_unit_test(our_json_has_thresholds),
	    cmocka_unit_test(commands_are_compared_in_words),
	    cmocka_unit_test(texts_fit_the_terminal),
	    cmocka_unit_test(texts_fit_a_terminal_of_60_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
