/* Whole files: read, mapped, written. */
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
#include "base/fs.h"

static int make_folder(void **state)
{
	char name[] = "/tmp/tally-test-fs-XXXXXX";

	*state = mkdtemp(name) ? strdup(name) : NULL;
	return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/file", (char *)*state);
	unlink(path);
	rmdir(*state);
	free(*state);
	return 0;
}

/* Writes the file of the test's folder and gives its path. */
static const char *with(void **state, const void *bytes, size_t size, char path[128])
{
	int fd;

	snprintf(path, 128, "%s/file", (char *)*state);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(tally_fs_write(fd, bytes, size), 0);
	close(fd);
	return path;
}

static void read_gives_all_or_refuses(void **state)
{
	static char large[100000];
	char path[128], *text = (char *)state;
	size_t size = 99;

	memset(large, 'x', sizeof(large));
	assert_int_equal(tally_fs_read(with(state, "", 0, path), 10, &text, &size), 0);
	assert_int_equal(size, 0);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(tally_fs_read(with(state, "0123456789", 10, path), 10, &text, &size), 0);
	assert_int_equal(size, 10);
	assert_string_equal(text, "0123456789");
	free(text);
	text = (char *)state;
	size = 99;
	assert_int_equal(tally_fs_read(path, 9, &text, &size), -EFBIG);
	assert_int_equal(tally_fs_read("/nothing/there", 9, &text, &size), -ENOENT);
	assert_int_equal(tally_fs_read("/", 9, &text, &size), -EISDIR);
	assert_ptr_equal(text, state); /* untouched by failures */
	assert_int_equal(size, 99);
	with(state, large, sizeof(large), path);
	assert_int_equal(tally_fs_readf(1 << 20, &text, &size, "%s/%s", (char *)*state, "file"), 0);
	assert_int_equal(size, sizeof(large));
	assert_memory_equal(text, large, sizeof(large));
	free(text);
	assert_int_equal(tally_fs_readf(9, &text, NULL, "/%5000d", 1), -ENAMETOOLONG);
}

static void read_follows_files_without_a_size(void **state)
{
	char *text;
	size_t size;

	(void)state;
	assert_int_equal(tally_fs_read("/proc/self/stat", 1 << 16, &text, &size), 0);
	assert_true(size > 0);
	assert_int_equal(strtol(text, NULL, 10), getpid());
	free(text);
}

static void numbers_of_one_line_files(void **state)
{
	static const struct {
		const char *text;
		int result;
		int64_t value;
	} cases[] = {
	    {"4\n", 0, 4},          {"-1\n", 0, -1},
	    {"0x1f\n", 0, 31},      {"0010\n", 0, 10},
	    {" 7 and more", 0, 7},  {"\n", -EINVAL, 0},
	    {"none\n", -EINVAL, 0}, {"99999999999999999999\n", -EINVAL, 0},
	    {"", -EINVAL, 0},
	};
	char path[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t value = 99;

		with(state, cases[i].text, strlen(cases[i].text), path);
		assert_int_equal(tally_fs_read_number(path, &value), cases[i].result);
		assert_int_equal(value, cases[i].result ? 99 : cases[i].value);
	}
}

static void mapped_files(void **state)
{
	struct tally_mapped mapped = {.size = 99};
	char path[128];

	assert_int_equal(tally_fs_map_path("/nothing/there", &mapped), -ENOENT);
	assert_int_equal(tally_fs_map_path("/tmp", &mapped), -ESPIPE);
	assert_int_equal(mapped.size, 99);
	assert_int_equal(tally_fs_map_path(with(state, "", 0, path), &mapped), 0);
	assert_null(mapped.data);
	assert_int_equal(mapped.size, 0);
	tally_fs_unmap(&mapped);
	assert_int_equal(tally_fs_map_path(with(state, "bytes", 5, path), &mapped), 0);
	assert_int_equal(mapped.size, 5);
	assert_memory_equal(mapped.data, "bytes", 5);
	tally_fs_unmap(&mapped);
	assert_null(mapped.data);
}

static void writes_at_an_offset(void **state)
{
	char path[128], *text;
	size_t size;
	int fd;

	with(state, "0123456789", 10, path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(tally_fs_write_at(fd, "ab", 2, 4), 0);
	assert_int_equal(tally_fs_write_at(fd, "end", 3, 12), 0);
	close(fd);
	assert_int_equal(tally_fs_read(path, 100, &text, &size), 0);
	assert_int_equal(size, 15);
	assert_memory_equal(text, "0123ab6789\0\0end", 15);
	free(text);
	assert_int_equal(tally_fs_write(-1, "x", 1), -EBADF);
	assert_int_equal(tally_fs_write_at(-1, "x", 1, 0), -EBADF);
}

/* A pipe takes a megabyte only in parts: all of it arrives, in order. */
static void writes_over_short_writes(void **state)
{
	static uint8_t sent[1 << 20], got[1 << 20];
	int ends[2];
	pid_t pid;
	size_t have = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(ends[0]);
		_exit(tally_fs_write(ends[1], sent, sizeof(sent)) != 0);
	}
	close(ends[1]);
	for (;;) {
		ssize_t more = read(ends[0], got + have, sizeof(got) - have);

		if (more <= 0)
			break;
		have += (size_t)more;
	}
	close(ends[0]);
	assert_int_equal(have, sizeof(sent));
	assert_memory_equal(got, sent, sizeof(sent));
}

static void folders_with_those_above_them(void **state)
{
	static const char *const made[] = {"a/b/c", "a/b", "a"};
	char path[240], file[200];
	struct stat about;
	int fd;

	snprintf(path, sizeof(path), "%s/a/b/c", (const char *)*state);
	for (int again = 0; again < 2; again++)
		assert_int_equal(tally_fs_make_folders(path, 0700), 0);
	assert_int_equal(stat(path, &about), 0);
	assert_true(S_ISDIR(about.st_mode));
	/* Below a file there are none: the path says where it ended. */
	snprintf(file, sizeof(file), "%s/a/file", (const char *)*state);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/d/e", file);
	assert_int_equal(tally_fs_make_folders(path, 0700), -ENOTDIR);
	assert_int_equal(strlen(path), strlen(file) + strlen("/d"));
	assert_int_equal(unlink(file), 0);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		snprintf(path, sizeof(path), "%s/%s", (const char *)*state, made[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(tally_fs_make_folders((char[]){""}, 0700), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(read_gives_all_or_refuses),
	    cmocka_unit_test(read_follows_files_without_a_size),
	    cmocka_unit_test(numbers_of_one_line_files),
	    cmocka_unit_test(mapped_files),
	    cmocka_unit_test(writes_at_an_offset),
	    cmocka_unit_test(writes_over_short_writes),
	    cmocka_unit_test(folders_with_those_above_them),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
