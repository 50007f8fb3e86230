/* Files that get their names when they are complete, and what must not be replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/whole_file.h"

#define BOTH (WHOLE_FILE_REPLACE | WHOLE_FILE_DIRECT)

static int enter_folder(void **state)
{
	char name[] = "/tmp/tally-test-whole-XXXXXX";

	*state = mkdtemp(name) ? strdup(name) : NULL;
	return *state ? chdir(*state) : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"file", "link", "pipe"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	chdir("/");
	rmdir(*state); /* fails, and the next run finds it, if a file was left */
	free(*state);
	return 0;
}

static mode_t kind(const char *path)
{
	struct stat about;

	return lstat(path, &about) ? 0 : about.st_mode & S_IFMT;
}

static void put(const char *path, unsigned may, const char *text)
{
	struct whole_file file;

	assert_int_equal(tally_whole_file_open(path, may, 0600, &file, NULL), 0);
	assert_int_equal(write(file.fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(tally_whole_file_name(&file, NULL), 0);
	tally_whole_file_drop(&file);
}

static void assert_holds(const char *path, const char *text)
{
	char found[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_int_equal(read(fd, found, sizeof(found) - 1), (ssize_t)strlen(text));
	assert_string_equal(found, text);
	close(fd);
}

static void replaces_only_when_asked(void **state)
{
	struct whole_file file;
	struct tally_error error = {0};

	(void)state;
	put("file", 0, "one");
	assert_int_equal(tally_whole_file_open("file", 0, 0600, &file, &error), -EEXIST);
	assert_string_equal(error.text, "file exists; --force replaces it, or name another file");
	put("file", BOTH, "two");
	assert_holds("file", "two");
	/* One that was made meanwhile. */
	unlink("file");
	assert_int_equal(tally_whole_file_open("file", 0, 0600, &file, NULL), 0);
	assert_int_equal(kind("file"), 0);
	close(open("file", O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(tally_whole_file_name(&file, NULL), -EEXIST);
	tally_whole_file_drop(&file);
	assert_holds("file", "");
}

static void keeps_links(void **state)
{
	(void)state;
	put("file", BOTH, "one");
	assert_int_equal(symlink("file", "link"), 0);
	put("link", BOTH, "two");
	assert_int_equal(kind("link"), S_IFLNK);
	assert_holds("file", "two");
}

static void never_replaces_others(void **state)
{
	struct whole_file file;
	struct tally_error error = {0};
	char text[8] = "";
	int reader;

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	put("pipe", BOTH, "one");
	assert_int_equal(read(reader, text, sizeof(text)), 3);
	close(reader);
	assert_int_equal(tally_whole_file_open("pipe", WHOLE_FILE_REPLACE, 0600, &file, &error),
			 -ENODEV);
	assert_string_equal(error.text,
			    "pipe is not a regular file, which is needed here; name another file");
	assert_int_equal(kind("pipe"), S_IFIFO);

	assert_int_equal(tally_whole_file_open(".", BOTH, 0600, &file, &error), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(replaces_only_when_asked),
	    cmocka_unit_test(keeps_links),
	    cmocka_unit_test(never_replaces_others),
	};

	return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
