/* Filters of code: functions of this program and of a made-up kernel, to what the kernel takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "elf/place.h"
#include "probe/code_filter.h"

int filtered_function(int number);

__attribute__((noinline)) int filtered_function(int number)
{
	return number * 3 + getpid();
}

static char root[] = "/tmp/tally-code-filter-XXXXXX";

static int make_kernel(void **state)
{
	char path[64];
	FILE *file;

	(void)state;
	if (!mkdtemp(root))
		return 1;
	snprintf(path, sizeof(path), "%s/kallsyms", root);
	file = fopen(path, "w");
	if (!file)
		return 1;
	fputs("ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000140 t twice\n"
	      "ffffffff81000180 t twice\nffffffff810001a0 T last\nffffffff82000000 T _etext\n",
	      file);
	return fclose(file);
}

static int remove_kernel(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/kallsyms", root);
	return unlink(path) | rmdir(root);
}

static void assert_becomes(const char *text, const char *wanted)
{
	struct tally_error error = {0};
	char *made = NULL;

	if (tally_code_filter_resolve(text, root, &made, &error))
		fail_msg("%s: %s", text, error.text);
	assert_string_equal(made, wanted);
	free(made);
}

static void functions_of_the_kernel(void **state)
{
	(void)state;
	assert_becomes("filter do_work", "filter 0xffffffff81000100/0x40");
	assert_becomes("start do_work", "start 0xffffffff81000100");
	assert_becomes("stop do_work / 8", "stop 0xffffffff81000100/0x8");
	assert_becomes("tracestop do_work", "stop 0xffffffff81000100/0x40");
	assert_becomes("filter do_work/twice#2", "filter 0xffffffff81000100/0xa0");
	assert_becomes("filter twice #1, start twice #2",
		       "filter 0xffffffff81000140/0x40,start 0xffffffff81000180");
	assert_becomes("filter 0xffffffff81000100/0x10 stop 5",
		       "filter 0xffffffff81000100/0x10,stop 0x5");
}

static void functions_of_a_file(void **state)
{
	char self[PATH_MAX] = "", text[PATH_MAX + 64], wanted[PATH_MAX + 64];
	struct tally_symbol_list list = {0};
	uint64_t *offsets, end = 0;
	size_t count;
	struct stat status;

	(void)state;
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_int_equal(
	    tally_image_find_function(self, "filtered_function", &offsets, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(tally_image_symbols(self, &list, NULL), 0);
	for (size_t i = 0; i < list.count; i++)
		if (list.starts[i] == offsets[0])
			end = list.ends[i];
	assert_true(end > offsets[0]);
	snprintf(text, sizeof(text), "filter filtered_function @ %s", self);
	snprintf(wanted, sizeof(wanted), "filter 0x%llx/0x%llx@%s", (unsigned long long)offsets[0],
		 (unsigned long long)(end - offsets[0]), self);
	assert_becomes(text, wanted);
	snprintf(text, sizeof(text), "start filtered_function@%s , stop 0x10@%s", self, self);
	snprintf(wanted, sizeof(wanted), "start 0x%llx@%s,stop 0x10@%s",
		 (unsigned long long)offsets[0], self, self);
	assert_becomes(text, wanted);
	assert_int_equal(stat(self, &status), 0);
	snprintf(text, sizeof(text), "filter * @ %s", self);
	snprintf(wanted, sizeof(wanted), "filter 0x0/0x%llx@%s", (unsigned long long)status.st_size,
		 self);
	assert_becomes(text, wanted);
	tally_symbol_list_done(&list);
	free(offsets);
}

static void mistakes_name_the_place(void **state)
{
	static const struct {
		const char *text;
		int code;
		int64_t position;
		const char *words;
	} rows[] = {
	    {"drop main", -EINVAL, 0, "expected filter, start, stop or tracestop"},
	    {"filter", -EINVAL, 6, "a function or a number"},
	    {"filter missing", -ENOENT, 7, "the kernel has no function missing"},
	    {"filter twice", -EINVAL, 7, "there are 2 functions twice"},
	    {"filter twice #3", -EINVAL, 7, "there are 2 functions twice"},
	    {"filter twice #x", -EINVAL, 13, "number after #"},
	    {"filter do_work, start 0xzz", -EINVAL, 22, "expected a number"},
	    {"filter 0x10", -EINVAL, 7, "range is empty"},
	    {"filter 0x10/0", -EINVAL, 7, "range is empty"},
	    {"filter *", -EINVAL, 7, "all of a file"},
	    {"filter main @", -EINVAL, 13, "program or library"},
	    {"filter main @ /nonexistent/file", -ENOENT, 14, "/nonexistent/file"},
	};
	struct tally_error error;
	char *made;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (tally_code_filter_resolve(rows[i].text, root, &made, &error) != rows[i].code)
			fail_msg("%s: code %d", rows[i].text, error.code);
		if (error.position != rows[i].position || !strstr(error.text, rows[i].words))
			fail_msg("%s: %d %s", rows[i].text, (int)error.position, error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions_of_the_kernel),
	    cmocka_unit_test(functions_of_a_file),
	    cmocka_unit_test(mistakes_name_the_place),
	};

	return cmocka_run_group_tests(tests, make_kernel, remove_kernel);
}
