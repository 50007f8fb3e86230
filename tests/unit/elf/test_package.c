/* The packages that files belong to, by dpkg's lists below a folder of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "elf/package.h"

#define OTHERS 300 /* lists without the files that are looked for */

static const char root[] = "root/var/lib/dpkg/info";

static void write_list(const char *name, const char *before, size_t times, const char *lines)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	for (size_t i = 0; i < times; i++)
		fputs(before, file);
	fputs(lines, file);
	assert_int_equal(fclose(file), 0);
}

static int make_lists(void **state)
{
	char folder[] = "/tmp/tally-test-package-XXXXXX", name[32];

	if (!mkdtemp(folder) || chdir(folder) || mkdir("root", 0700) || mkdir("root/var", 0700) ||
	    mkdir("root/var/lib", 0700) || mkdir("root/var/lib/dpkg", 0700) || mkdir(root, 0700))
		return -1;
	*state = strdup(folder);
	for (int i = 0; i < OTHERS; i++) {
		snprintf(name, sizeof(name), "other-%d.list", i);
		write_list(name, "/usr/share/doc/x\n", 10, "/usr/lib/a.so.1\n");
	}
	write_list("liba:amd64.list", "/.\n", 1, "/usr/lib/a.so\n");
	write_list("old.list", "/lib\n", 1, "/lib/b.so\n");
	write_list("opt.list", "/opt\n", 1, "/opt/c.so\n");
	/* Its room grows while it is read, and the path is its last line. */
	write_list("long.list", "/usr/share/locale/xx/LC_MESSAGES/long.mo\n", 50000,
		   "/usr/bin/long\n");
	write_list("parts.list", "/x/usr/lib/d.so\n", 1, "/usr/lib/d.sox\n/d.so\n");
	write_list("end.list", "/usr\n", 1, "/usr/bin/end");
	write_list("a.md5sums", "/usr/bin/sums\n", 1, "");
	return 0;
}

static int remove_lists(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return chdir("/") || system(command) ? -1 : 0;
}

static void each_file_has_its_package(void **state)
{
	static const struct {
		const char *path, *package;
	} wanted[] = {
	    {"/usr/lib/a.so", "liba"},
	    {"/usr/lib/b.so", "old"}, /* its list has /lib for /usr/lib */
	    {"/lib/a.so", NULL},
	    {"/opt/c.so", "opt"},
	    {"/usr/bin/long", "long"},
	    {"/usr/lib/d.so", NULL}, /* a part of other lines */
	    {"/usr/bin/end", NULL},  /* a line that has no end */
	    {"/usr/bin/sums", NULL},
	    {"", NULL},
	};
	enum { COUNT = sizeof(wanted) / sizeof(*wanted) };
	const char *paths[COUNT];
	char *packages[COUNT];

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		paths[i] = wanted[i].path;
	assert_int_equal(tally_package_find("root", paths, COUNT, packages), 0);
	for (size_t i = 0; i < COUNT; i++) {
		if (wanted[i].package)
			assert_string_equal(packages[i], wanted[i].package);
		else
			assert_null(packages[i]);
		free(packages[i]);
	}
}

static void nothing_is_found_without_lists(void **state)
{
	const char *path = "/usr/lib/a.so";
	char *package = (char *)"unset";

	(void)state;
	assert_int_equal(tally_package_find("nowhere", &path, 1, &package), 0);
	assert_null(package);
	assert_int_equal(tally_package_find("root", NULL, 0, NULL), 0);
}

static void symbols_are_in_a_package_of_their_own(void **state)
{
	char *name = tally_package_symbols("libc6");

	(void)state;
	assert_string_equal(name, "libc6-dbg");
	free(name);
	name = tally_package_symbols("cpp-12");
	assert_string_equal(name, "cpp-12-dbgsym");
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_file_has_its_package),
	    cmocka_unit_test(nothing_is_found_without_lists),
	    cmocka_unit_test(symbols_are_in_a_package_of_their_own),
	};

	return cmocka_run_group_tests(tests, make_lists, remove_lists);
}
