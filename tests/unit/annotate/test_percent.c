/* What percents are of, and the lines of source files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "annotate/annotation.h"
#include "annotate/source_lines.h"

static void percents_are_of_periods_or_samples_of_the_function_or_the_event(void **state)
{
	struct event_total totals[] = {{.samples = 200, .period = 4000}, {0}};
	uint64_t samples[] = {50, 0}, periods[] = {500, 0};
	const struct tally_annotation annotation = {.sums.totals = totals, .event_count = 2};
	const struct annotated function = {.samples = samples, .periods = periods};

	(void)state;
#define PERCENT(of, type, event) tally_annotation_percent(&annotation, of, type, event, 10, 200)
	assert_true(PERCENT(&function, TALLY_PERCENT_LOCAL_PERIOD, 0) == 40);
	assert_true(PERCENT(&function, TALLY_PERCENT_GLOBAL_PERIOD, 0) == 5);
	assert_true(PERCENT(&function, TALLY_PERCENT_LOCAL_HITS, 0) == 20);
	assert_true(PERCENT(&function, TALLY_PERCENT_GLOBAL_HITS, 0) == 5);
	assert_true(PERCENT(NULL, TALLY_PERCENT_LOCAL_PERIOD, 0) == 5);
	assert_true(PERCENT(&function, TALLY_PERCENT_LOCAL_PERIOD, 1) == 0);
#undef PERCENT
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect(struct source_lines *texts, const char *path, uint32_t line, const char *text)
{
	size_t length;
	const char *found = tally_source_lines_find(texts, path, line, &length);

	if (!text) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(length, strlen(text));
	assert_memory_equal(found, text, length);
}

static void lines_of_a_file_with_and_without_a_last_end(void **state)
{
	char path[] = "/tmp/tally-source-XXXXXX";
	struct source_lines texts = {.prefix = NULL};

	(void)state;
	close(mkstemp(path));
	write_file(path, "one\r\n\nthree");
	expect(&texts, path, 1, "one");
	expect(&texts, path, 2, "");
	expect(&texts, path, 3, "three");
	expect(&texts, path, 4, NULL);
	expect(&texts, path, 0, NULL);
	expect(&texts, "/nowhere/at/all.c", 1, NULL);
	tally_source_files_done(&texts.files);
	write_file(path, "");
	expect(&texts, path, 1, NULL);
	tally_source_files_done(&texts.files);
	unlink(path);
}

static void a_prefix_takes_the_place_of_folders(void **state)
{
	char path[] = "/tmp/tally-source-XXXXXX", asked[64];
	struct source_lines texts = {.prefix = "/tmp", .prefix_strip = 2};

	(void)state;
	close(mkstemp(path));
	write_file(path, "here\n");
	snprintf(asked, sizeof(asked), "/build/dir%s", path + 4);
	expect(&texts, asked, 1, "here");
	tally_source_files_done(&texts.files);
	unlink(path);
}

static void tabs_become_blanks_and_control_characters_are_escaped(void **state)
{
	struct tally_buf text = {0};

	(void)state;
	tally_source_lines_put(&text, "a\tb\x1b[m", 6);
	assert_string_equal(tally_buf_str(&text), "a       b\\x1b[m");
	tally_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(percents_are_of_periods_or_samples_of_the_function_or_the_event),
	    cmocka_unit_test(lines_of_a_file_with_and_without_a_last_end),
	    cmocka_unit_test(a_prefix_takes_the_place_of_folders),
	    cmocka_unit_test(tabs_become_blanks_and_control_characters_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
