/* Lines of source files by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* After the headers it needs. */
#include <cmocka.h>
#include "resolve/source_files.h"

static char folder[] = "/tmp/tally-source-files-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_line(struct tally_source_files *files, const char *path, uint32_t line,
			const char *expected)
{
	const char *text;
	size_t length;

	if (!expected) {
		assert_false(tally_source_files_line(files, path, line, &text, &length));
		return;
	}
	assert_true(tally_source_files_line(files, path, line, &text, &length));
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(text, expected, length);
}

static void test_lines_are_found_by_number(void **state)
{
	struct tally_source_files files = {.before = folder};

	(void)state;
	write_file("whole.c", "one\n\n\tthree\n");
	write_file("cut.c", "one\ntwo");
	write_file("empty.c", "");
	assert_line(&files, "/whole.c", 1, "one");
	assert_line(&files, "/whole.c", 2, "");
	assert_line(&files, "/whole.c", 3, "\tthree");
	assert_line(&files, "/whole.c", 4, NULL);
	assert_line(&files, "/whole.c", 0, NULL);
	assert_line(&files, "/cut.c", 2, "two");
	assert_line(&files, "/cut.c", 3, NULL);
	assert_line(&files, "/empty.c", 1, NULL);
	assert_line(&files, "/none.c", 1, NULL);
	assert_line(&files, "relative.c", 1, NULL);
	assert_line(&files, "/.", 1, NULL);
	assert_line(&files, "/whole.c", UINT32_MAX, NULL);
	tally_source_files_done(&files);
}

static void test_as_many_files_are_kept_as_the_bound_says(void **state)
{
	struct tally_source_files files = {.before = folder};
	char name[32], text[32];

	(void)state;
	for (unsigned i = 0; i < 3 * SOURCE_FILES_MOST; i++) {
		snprintf(name, sizeof(name), "/many%u.c", i);
		snprintf(text, sizeof(text), "first\nnumber %u\n", i);
		write_file(name + 1, text);
		snprintf(text, sizeof(text), "number %u", i);
		assert_line(&files, name, 2, text);
		assert_line(&files, "/many0.c", 2, "number 0"); /* asked for again: it stays */
		assert_true(files.count <= SOURCE_FILES_MOST);
	}
	assert_line(&files, "/many5.c", 2, "number 5");
	tally_source_files_done(&files);
	assert_int_equal(files.count, 0);
	assert_int_equal(files.bytes, 0);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines_are_found_by_number),
	    cmocka_unit_test(test_as_many_files_are_kept_as_the_bound_says),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
