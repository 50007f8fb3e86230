/* 15.JIT: dumps of compilers, as the specification has them and as nobody should write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <errno.h>
#include "jit/jit_file.h"
#include "jit/jitdump.h"

struct made {
	int fd;
	bool swapped;
};

static void put(struct made *made, uint64_t value, size_t size)
{
	if (made->swapped)
		value = size == 8 ? __builtin_bswap64(value) : __builtin_bswap32((uint32_t)value);
	assert_int_equal(write(made->fd, &value, size), size);
}

static void put_bytes(struct made *made, const void *bytes, size_t size)
{
	assert_int_equal(write(made->fd, bytes, size), size);
}

static struct made begin(bool swapped, uint64_t flags)
{
	struct made made = {.fd = memfd_create("dump", MFD_CLOEXEC), .swapped = swapped};
	const uint32_t words[] = {0x4A695444, 1, 40, 62, 0, 123};

	assert_true(made.fd >= 0);
	for (size_t i = 0; i < 6; i++)
		put(&made, words[i], 4);
	put(&made, 1000, 8);
	put(&made, flags, 8);
	return made;
}

static void prefix(struct made *made, uint32_t id, uint32_t size, uint64_t time)
{
	put(made, id, 4);
	put(made, size, 4);
	put(made, time, 8);
}

static void load(struct made *made, uint64_t time, uint64_t address, const char *name,
		 uint64_t index, uint32_t size)
{
	prefix(made, 0, (uint32_t)(56 + strlen(name) + 1 + size), time);
	put(made, 123, 4);
	put(made, 124, 4);
	put(made, address, 8);
	put(made, address, 8);
	put(made, size, 8);
	put(made, index, 8);
	put_bytes(made, name, strlen(name) + 1);
	for (uint32_t i = 0; i < size; i++)
		put_bytes(made, &(uint8_t){(uint8_t)(index + i)}, 1);
}

static void move(struct made *made, uint64_t time, uint64_t to, uint64_t index, uint64_t size)
{
	prefix(made, 1, 64, time);
	put(made, 123, 4);
	put(made, 124, 4);
	put(made, to, 8);
	put(made, 0, 8);
	put(made, to, 8);
	put(made, size, 8);
	put(made, index, 8);
}

static void line(struct made *made, uint64_t address, uint32_t number, const char *file)
{
	put(made, address, 8);
	put(made, number, 4);
	put(made, 0, 4);
	put_bytes(made, file, strlen(file) + 1);
}

static struct tally_jitdump *open_made(const struct made *made)
{
	struct tally_jitdump *dump = NULL;

	assert_int_equal(tally_jitdump_open(dup(made->fd), &dump), 0);
	return dump;
}

static void check_whole(bool swapped)
{
	struct made made = begin(swapped, 0);
	struct tally_jit_unwind unwind;
	struct tally_jit_lines lines;
	struct tally_jitdump *dump;
	uint8_t byte;

	prefix(&made, 2, 32 + 2 * 16 + 5 + 2, 1001);
	put(&made, 0x1000, 8);
	put(&made, 2, 8);
	line(&made, 0x1000, 7, "a.js");
	line(&made, 0x1004, 8, "\xff");
	prefix(&made, 4, 40 + 12, 1001);
	put(&made, 12, 8);
	put(&made, 4, 8);
	put(&made, 0, 8);
	put_bytes(&made, "framesframes", 12);
	load(&made, 1002, 0x1000, "first", 5, 16);
	prefix(&made, 77, 24, 1002); /* of a kind that is not known */
	put(&made, 0, 8);
	load(&made, 1003, 0x1000, "second", 6, 8);
	move(&made, 1004, 0x3000, 5, 16);
	prefix(&made, 3, 16, 1005);
	load(&made, 1006, 0x5000, "behind the end", 7, 8);

	dump = open_made(&made);
	assert_int_equal(dump->swapped, swapped);
	assert_int_equal(dump->pid, 123);
	assert_int_equal(dump->machine, 62);
	assert_int_equal(dump->started, 1000);
	assert_true(dump->closed);
	assert_int_equal(dump->wrong, 0);
	assert_int_equal(dump->code_count, 2);
	assert_int_equal(dump->load_count, 3);
	assert_string_equal(dump->codes[0].name, "first");
	assert_string_equal(dump->codes[1].name, "second");
	assert_int_equal(dump->loads[1].time, 1003);
	assert_int_equal(dump->loads[1].tid, 124);
	assert_int_equal(dump->loads[2].code, 0);
	assert_int_equal(dump->loads[2].address, 0x3000);
	assert_int_equal(tally_jitdump_read(dump, dump->codes[1].place, &byte, 1), 0);
	assert_int_equal(byte, 6);
	assert_int_equal(tally_jitdump_find(dump, dump->codes[0].place + 15), 0);
	assert_true(tally_jitdump_find(dump, dump->codes[0].place + 16) < 0);

	assert_int_equal(tally_jitdump_lines(dump, 0, &lines), 0);
	assert_int_equal(lines.count, 2);
	assert_int_equal(lines.lines[0].offset, 0);
	assert_int_equal(lines.lines[1].offset, 4);
	assert_int_equal(lines.lines[1].line, 8);
	assert_string_equal(lines.lines[1].file, "a.js");
	tally_jit_lines_done(&lines);
	assert_int_equal(tally_jitdump_unwind(dump, 0, &unwind), 0);
	assert_int_equal(unwind.frame_size, 8);
	assert_int_equal(unwind.header_size, 4);
	assert_memory_equal(unwind.bytes, "framesfr", 8);
	free(unwind.bytes);
	/* of the next code alone */
	assert_int_equal(tally_jitdump_lines(dump, 1, &lines), 0);
	assert_int_equal(lines.count, 0);
	assert_int_equal(tally_jitdump_unwind(dump, 1, &unwind), 0);
	assert_int_equal(unwind.frame_size, 0);
	tally_jitdump_free(dump);
	close(made.fd);
}

static void reads_each_record_in_both_byte_orders(void **state)
{
	(void)state;
	check_whole(false);
	check_whole(true);
}

static void invalid_records_are_skipped(void **state)
{
	struct made made = begin(false, 1);
	struct tally_jitdump *dump;

	(void)state;
	load(&made, 1, 0x1000, "first", 1, 16);
	move(&made, 2, 0x2000, 9, 16); /* nothing has that number */
	prefix(&made, 0, 56 + 4, 3);   /* the code would be longer than its record */
	put(&made, 0, 8);
	put(&made, 0x3000, 8);
	put(&made, 0x3000, 8);
	put(&made, 1 << 20, 8);
	put(&made, 2, 8);
	put_bytes(&made, "abc", 4);
	prefix(&made, 2, 32, 4); /* more lines than fit */
	put(&made, 0x3000, 8);
	put(&made, 1000, 8);
	prefix(&made, 4, 40, 5); /* more bytes than there are */
	put(&made, 8, 8);
	put(&made, 4, 8);
	put(&made, 0, 8);
	move(&made, 6, UINT64_MAX - 4, 1, 16); /* beyond the last address */
	prefix(&made, 1, 16, 7);               /* without what a move has */
	load(&made, 8, 0x4000, "last", 2, 16);
	dump = open_made(&made);
	assert_true(dump->own_clock);
	assert_int_equal(dump->wrong, 6);
	assert_int_equal(dump->code_count, 2);
	assert_string_equal(dump->codes[1].name, "last");
	tally_jitdump_free(dump);

	/* behind a size that is invalid nothing can be found */
	prefix(&made, 0, 8, 9);
	load(&made, 10, 0x5000, "lost", 3, 16);
	dump = open_made(&made);
	assert_int_equal(dump->code_count, 2);
	assert_int_equal(dump->wrong, 7);
	tally_jitdump_free(dump);
	close(made.fd);
}

static void a_growing_dump_is_read_on(void **state)
{
	struct made made = begin(false, 0);
	struct tally_jitdump *dump;
	const char *name;

	(void)state;
	dump = open_made(&made);
	assert_int_equal(tally_jitdump_read_on(dump), 0);
	load(&made, 1, 0x1000, "first", 1, 16);
	prefix(&made, 0, 72, 2); /* the start of a record */
	put(&made, 0, 8);
	assert_int_equal(tally_jitdump_read_on(dump), 1);
	assert_int_equal(dump->code_count, 1);
	assert_int_equal(dump->wrong, 0);
	name = dump->codes[0].name;
	put(&made, 0x2000, 8);
	put(&made, 0x2000, 8);
	put(&made, 8, 8);
	put(&made, 2, 8);
	put_bytes(&made, "new", 4);
	put_bytes(&made, "codecode....", 12);
	assert_int_equal(tally_jitdump_read_on(dump), 1);
	assert_int_equal(dump->code_count, 2);
	assert_string_equal(dump->codes[1].name, "new");
	assert_ptr_equal(dump->codes[0].name, name);
	tally_jitdump_free(dump);
	close(made.fd);
}

static void lines_of_v8_are_moved_back(void **state)
{
	struct made made = begin(false, 0);
	struct tally_jit_lines lines;
	struct tally_jitdump *dump;

	(void)state;
	prefix(&made, 2, 32 + 16 + 5, 1);
	put(&made, 0x1000, 8);
	put(&made, 1, 8);
	line(&made, 0x1040, 7, "a.js");
	load(&made, 2, 0x1000, "JS:*f", 1, 16);
	dump = open_made(&made);
	assert_int_equal(tally_jitdump_lines(dump, 0, &lines), 0);
	assert_int_equal(lines.lines[0].offset, 0);
	tally_jit_lines_done(&lines);
	tally_jitdump_free(dump);
	close(made.fd);
}

static void what_is_no_dump_is_refused(void **state)
{
	struct tally_jitdump *dump;
	int fd = memfd_create("no dump", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(tally_jitdump_open(dup(fd), &dump), -ENOEXEC);
	assert_int_equal(write(fd, "JiTDJiTDJiTDJiTDJiTDJiTDJiTDJiTDJiTDJiTDJiTD", 44), 44);
	assert_int_equal(tally_jitdump_open(fd, &dump), -ENOEXEC);
}

static void files_are_known_by_their_names(void **state)
{
	uint32_t pid;

	(void)state;
	assert_true(tally_jit_is_dump("/a/jit-12.dump", &pid));
	assert_int_equal(pid, 12);
	assert_true(tally_jit_is_dump("jit-1.dump", &pid));
	assert_false(tally_jit_is_dump("/a/jit-.dump", &pid));
	assert_false(tally_jit_is_dump("/a/jit-12.dump2", &pid));
	assert_false(tally_jit_is_dump("/a/jit-99999999999999999999.dump", &pid));
	assert_false(tally_jit_is_dump("/jit-12.dump/a", &pid));
	assert_true(tally_jit_is_map("/tmp/perf-7.map", &pid));
	assert_int_equal(pid, 7);
	assert_false(tally_jit_is_map("/tmp/perf-7.map.old", &pid));
	assert_false(tally_jit_is_map("/x/tmp/perf-7.map", &pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_each_record_in_both_byte_orders),
	    cmocka_unit_test(invalid_records_are_skipped),
	    cmocka_unit_test(a_growing_dump_is_read_on),
	    cmocka_unit_test(lines_of_v8_are_moved_back),
	    cmocka_unit_test(what_is_no_dump_is_refused),
	    cmocka_unit_test(files_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
