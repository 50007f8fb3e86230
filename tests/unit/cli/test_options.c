/* The option parser: every way of writing an option, and what is said of mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "command.h"
#include "options.h"

#define ARGS_MOST 12

struct values {
	bool all, quiet, no_inherit, callgraph;
	unsigned verbose;
	const char *input;
	uint64_t count;
	double limit;
	struct cli_list events, lines;
	char called[32];
};

static int call(void *to, const char *value, bool on, struct tally_error *error)
{
	char *called = to;

	if (value && !strcmp(value, "bad")) {
		snprintf(error->text, sizeof(error->text), "'%s' is neither fp nor lbr", value);
		return -EINVAL;
	}
	snprintf(called, 32, "%s:%s", value ? value : "(none)", on ? "on" : "off");
	return 0;
}

/* Parses a line of words; what was said to stderr goes to `said`. */
static int parse(struct values *values, const char *line, bool mixed, char *left, char *said)
{
	static const char *const forms[] = {"[OPTIONS]", NULL};
	const struct cli_usage usage = {"test", forms, "A test.", mixed};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "Group"},
	    {CLI_FLAG, 'a', "all", .help = "h", .to = &values->all},
	    {CLI_FLAG, 'q', "quiet", .help = "h", .to = &values->quiet},
	    {CLI_FLAG, 'i', "no-inherit", .help = "h", .to = &values->no_inherit},
	    {CLI_COUNT, 'v', "verbose", .help = "h", .to = &values->verbose},
	    {CLI_STRING, 'o', "output", "FILE", "h", &values->input},
	    {CLI_U64, 'c', "count", "N", "h", &values->count},
	    {CLI_DOUBLE, 0, "percent-limit", "P", "h", &values->limit},
	    {CLI_LIST, 'e', "event", "E", "h", &values->events},
	    {CLI_LIST, 0, "line", "L", "h", &values->lines, CLI_WHOLE},
	    {CLI_FLAG, 'g', .help = "h", .to = &values->callgraph, .with_value = "call-graph"},
	    {CLI_LIST, 0, "tid", "T", "h", &values->events},
	    {CLI_CALL, 'G', "call-graph", "HOW", "h", values->called, CLI_OPTIONAL, call},
	    {.kind = CLI_END},
	};
	static char words[ARGS_MOST][64];
	char *argv[ARGS_MOST + 2] = {(char *)"test"};
	int argc = 1, status = -1, at, saved = dup(STDERR_FILENO), fd;
	char name[] = "/tmp/tally-test-said-XXXXXX";
	ssize_t got;

	while (*line && argc <= ARGS_MOST) {
		size_t length = strcspn(line, " ");

		snprintf(words[argc - 1], sizeof(words[0]), "%.*s", (int)length, line);
		argv[argc] = words[argc - 1];
		argc++;
		line += length + (line[length] == ' ');
	}
	fd = mkstemp(name);
	assert_true(fd >= 0 && saved >= 0);
	unlink(name);
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	at = cli_parse(&usage, options, argc, argv, &status);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	got = pread(fd, said, 1023, 0);
	said[got > 0 ? got : 0] = 0;
	close(fd);
	left[0] = 0;
	if (at < 0) {
		assert_true(status > 0);
		return -status;
	}
	for (; at < argc; at++)
		snprintf(left + strlen(left), 256 - strlen(left), "%s%s", *left ? " " : "",
			 argv[at]);
	return 0;
}

static void done(struct values *values)
{
	cli_list_done(&values->events);
	cli_list_done(&values->lines);
	*values = (struct values){0};
}

static void every_way_of_writing(void **state)
{
	static const char *const ways[] = {
	    "-a -o f -c 7 -- x y",      "-ao f -c7 x y",
	    "-aof --count 7 x y",       "--all --output=f --count=7 x y",
	    "--al --out f --cou 7 x y", "-a --quiet --no-quiet -o g --output f -c 0x7 x y",
	};
	struct values values = {0};
	char left[256], said[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		assert_int_equal(parse(&values, ways[i], false, left, said), 0);
		assert_string_equal(said, "");
		assert_string_equal(left, "x y");
		assert_true(values.all);
		assert_false(values.quiet);
		assert_string_equal(values.input, "f");
		assert_int_equal(values.count, 7);
		done(&values);
	}
}

static void kinds(void **state)
{
	struct values values = {0};
	char left[256], said[1024];

	(void)state;
	assert_int_equal(
	    parse(&values, "-vv -v --percent-limit 0.5 -e a,b -e c --line p,q", false, left, said),
	    0);
	assert_int_equal(values.verbose, 3);
	assert_true(values.limit > 0.49 && values.limit < 0.51);
	assert_int_equal(values.events.count, 3);
	assert_string_equal(values.events.items[0], "a");
	assert_string_equal(values.events.items[2], "c");
	assert_int_equal(values.lines.count, 1);
	assert_string_equal(values.lines.items[0], "p,q");
	done(&values);
	assert_int_equal(
	    parse(&values, "-e a --no-event -e b --no-output -v --no-verbose", false, left, said),
	    0);
	assert_int_equal(values.events.count, 1);
	assert_string_equal(values.events.items[0], "b");
	assert_int_equal(values.verbose, 0);
	done(&values);
	/* A name that says no itself. */
	assert_int_equal(parse(&values, "--no-inherit", false, left, said), 0);
	assert_true(values.no_inherit);
	assert_int_equal(parse(&values, "--inherit", false, left, said), 0);
	assert_false(values.no_inherit);
}

/* As perf's -g of report: the next word is the value unless it is an option. */
static void values_that_may_be_missing(void **state)
{
	static const struct {
		const char *line, *called, *left;
	} cases[] = {
	    {"-G", "(none):on", ""},
	    {"-G fp x", "fp:on", "x"},
	    {"-Gfp x", "fp:on", "x"},
	    {"-G -a x", "(none):on", "x"},
	    {"--call-graph=fp x", "fp:on", "x"},
	    {"--call-graph fp x", "fp:on", "x"},
	    {"--no-call-graph x", "(none):off", "x"},
	};
	struct values values = {0};
	char left[256], said[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(&values, cases[i].line, false, left, said), 0);
		assert_string_equal(values.called, cases[i].called);
		assert_string_equal(left, cases[i].left);
		done(&values);
	}
}

static void where_options_end(void **state)
{
	static const struct {
		const char *line;
		bool mixed;
		const char *left;
		bool all;
	} cases[] = {
	    {"x -a", false, "x -a", false},       {"x -a", true, "x", true},
	    {"x -a y -q z", true, "x y z", true}, {"-a - x", false, "- x", true},
	    {"x -- -a", true, "x -a", false},     {"-- -a", false, "-a", false},
	    {"x -o f y -a", true, "x y", true},   {"", true, "", false},
	};
	struct values values = {0};
	char left[256], said[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(&values, cases[i].line, cases[i].mixed, left, said), 0);
		assert_string_equal(left, cases[i].left);
		assert_int_equal(values.all, cases[i].all);
		done(&values);
	}
}

static void mistakes(void **state)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
	    {"--outptu f", "unknown option '--outptu'; did you mean --output?"},
	    {"-z", "unknown option '-z'"},
	    {"-az", "unknown option '-z'"},
	    {"-o", "-o needs a value: FILE"},
	    {"--output", "--output needs a value: FILE"},
	    {"--all=1", "--all takes no value"},
	    {"-c x", "-c: 'x' is not a number"},
	    {"-c -1", "-c: '-1' is not a number"},
	    {"--count=99999999999999999999", "--count: 99999999999999999999 is too large"},
	    {"--percent-limit nan", "--percent-limit: 'nan' is not a number"},
	    {"-e a,,b", "-e: 'a,,b' is not names or numbers with commas between them"},
	    {"-G bad", "-G: 'bad' is neither fp nor lbr"},
	    {"--no-count", "--count: 'no' is not a number"},
	    {"--c 1", "--c is ambiguous: --count or --call-graph"},
	};
	struct values values = {0};
	char left[256], said[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse(&values, cases[i].line, false, left, said), -CLI_USAGE);
		assert_non_null(strstr(said, cases[i].said));
		assert_ptr_equal(strstr(said, "tally test: "), said);
		done(&values);
	}
}

/* 13.18: what people write from habit is answered with what they meant, or with no guess. */
static void hints_hit(void **state)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
	    {"-g=dwarf", "-g takes no value: write --call-graph=dwarf"},
	    {"-ag=fp", "-g takes no value: write --call-graph=fp"},
	    {"-a=1", "-a takes no value ("},
	    {"-a=", "-a takes no value ("},
	    {"-c=99",
	     "-c=99: after a letter there is no '=' before the value: write -c 99 or --count=99"},
	    {"-e=cycles", "write -e cycles or --event=cycles"},
	    {"--tui", "unknown option '--tui' ("},
	    {"--tdi 1", "unknown option '--tdi'; did you mean --tid?"},
	    {"--counts 1", "unknown option '--counts'; did you mean --count?"},
	    {"--gtk", "unknown option '--gtk' ("},
	};
	struct values values = {0};
	char left[256], said[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int result = parse(&values, cases[i].line, false, left, said);

		assert_int_equal(result, -CLI_USAGE);
		assert_non_null(strstr(said, cases[i].said));
		done(&values);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hints_hit),
	    cmocka_unit_test(every_way_of_writing),
	    cmocka_unit_test(kinds),
	    cmocka_unit_test(values_that_may_be_missing),
	    cmocka_unit_test(where_options_end),
	    cmocka_unit_test(mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
