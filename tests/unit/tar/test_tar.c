/* 15.6, 15.7: archives: what is written is read again; hostile ones end and give no more than they
 * hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/fs.h"
#include "tar/tar.h"
#include "tar/tar_header.h"

static int new_file(void)
{
	int fd = memfd_create("tar", 0);

	assert_true(fd >= 0);
	return fd;
}

/* A file of 10,000 bytes: 'a' in the first block, 'z' in the last part, a hole between. */
static int file_with_hole(void)
{
	int fd = new_file();
	char block[512];

	memset(block, 'a', sizeof(block));
	assert_int_equal(tally_fs_write_at(fd, block, 512, 0), 0);
	memset(block, 'z', sizeof(block));
	assert_int_equal(tally_fs_write_at(fd, block, 272, 9728), 0);
	return fd;
}

static int write_archive(bool compressed, const char *long_name)
{
	const struct tally_tar_run runs[] = {{0, 512}, {9728, 272}};
	struct tally_tar_writer *writer;
	int fd = new_file(), holes = file_with_hole();
	int code = tally_tar_writer_new(fd, compressed, 1700000000, &writer);

	if (code == -ENOTSUP) {
		close(fd);
		close(holes);
		return -1;
	}
	assert_int_equal(code, 0);
	assert_int_equal(tally_tar_add_bytes(writer, "perf.data", "PERFILE2 and more", 17), 0);
	assert_int_equal(tally_tar_add_file(writer, long_name, holes, 10000, runs, 2), 0);
	assert_int_equal(tally_tar_add_bytes(writer, long_name + 1, "x", 1), 0);
	assert_int_equal(tally_tar_add_bytes(writer, "empty", NULL, 0), 0);
	assert_int_equal(
	    tally_tar_add_bytes(writer, "usr/bin/x/0123456789abcdef0123/elf", "ELF", 3), 0);
	assert_int_equal(tally_tar_writer_end(writer), 0);
	tally_tar_writer_free(writer);
	close(holes);
	return fd;
}

static void check_archive(int fd, const char *long_name)
{
	const struct tally_tar_member *member;
	struct tally_error error;
	struct tally_tar *tar;
	char bytes[10000];
	int file;

	assert_int_equal(tally_tar_open(fd, "made", 0, &tar, &error), 0);
	assert_false(tally_tar_is_damaged(tar));
	assert_int_equal(tally_tar_count(tar), 5);
	member = tally_tar_find(tar, "perf.data");
	assert_non_null(member);
	assert_memory_equal(member->bytes, "PERFILE2 and more", 17);
	assert_int_equal(member->stored, 17);
	assert_int_equal(member->time, 1700000000);
	member = tally_tar_find(tar, long_name);
	assert_non_null(member);
	assert_int_equal(member->size, 10000);
	file = tally_tar_member_open(member);
	assert_true(file >= 0);
	assert_int_equal(read(file, bytes, sizeof(bytes)), 10000);
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], i < 512 ? 'a' : i < 9728 ? 0 : 'z');
	close(file);
	assert_int_equal(tally_tar_find(tar, long_name + 1)->size, 1);
	assert_int_equal(tally_tar_find(tar, "empty")->size, 0);
	/* as perf archive names files of its cache */
	assert_non_null(tally_tar_find(tar, ".build-id/01/23456789abcdef0123/elf"));
	assert_null(tally_tar_find(tar, "nothing"));
	tally_tar_close(tar);
	close(fd);
}

static void what_is_written_is_read_again(void **state)
{
	char name[301];
	int fd;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[300] = 0;
	check_archive(write_archive(false, name), name);
	fd = write_archive(true, name);
	if (fd >= 0)
		check_archive(fd, name);
}

/* An archive whose bytes are changed one after another opens or not, and its members are within. */
static void every_changed_byte_is_survived(void **state)
{
	int fd = write_archive(false, "holes");
	struct tally_mapped map;
	uint8_t *copy;

	(void)state;
	assert_int_equal(tally_fs_map(fd, &map), 0);
	copy = malloc(map.size);
	assert_non_null(copy);
	for (size_t at = 0; at < map.size; at += at < 1024 ? 1 : 7) {
		struct tally_tar *tar;
		int changed = new_file();

		memcpy(copy, map.data, map.size);
		copy[at] ^= 0x15;
		/* A sum that fits, so that more than the sum is looked at. */
		if (at % TAR_BLOCK < 148 || at % TAR_BLOCK > 155) {
			struct tar_header *header = (void *)(copy + at / TAR_BLOCK * TAR_BLOCK);

			if (!memcmp(header->magic, "ustar", 5))
				snprintf(header->checksum, 8, "%06o", tar_checksum(header));
		}
		assert_int_equal(tally_fs_write(changed, copy, map.size), 0);
		if (!tally_tar_open(changed, "changed", 0, &tar, NULL)) {
			for (size_t i = 0; i < tally_tar_count(tar); i++) {
				int file = tally_tar_member_open(tally_tar_member(tar, i));

				if (file >= 0)
					close(file);
			}
			tally_tar_close(tar);
		}
		close(changed);
	}
	free(copy);
	tally_fs_unmap(&map);
	close(fd);
}

static void what_is_no_archive_is_refused(void **state)
{
	struct tally_error error;
	struct tally_tar *tar;
	int fd = new_file();

	(void)state;
	assert_int_equal(tally_tar_open(fd, "empty", 0, &tar, &error), -ENOEXEC);
	assert_string_equal(error.text, "empty: is not an archive (tar)");
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(tally_tar_open(fd, "zeros", 0, &tar, &error), -ENOEXEC);
	close(fd);
}

static void what_expands_to_too_much_is_refused(void **state)
{
	struct tally_error error;
	struct tally_tar *tar;
	int fd = write_archive(true, "holes");

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(tally_tar_open(fd, "bomb", 100, &tar, &error), -EFBIG);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read_again),
	    cmocka_unit_test(every_changed_byte_is_survived),
	    cmocka_unit_test(what_is_no_archive_is_refused),
	    cmocka_unit_test(what_expands_to_too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
