/* 15.2: pages of a stack that were never used end the kernel's copy: they are made present, and
 * what is of a file, or of other memory, is left alone. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "stacks/stack_pages.h"

#define PAGE 4096U

/* Source: admin-guide/mm/pagemap.rst, bit 63. */
static bool is_present(const uint8_t *address)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(
	    pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)address / PAGE * sizeof(entry))),
	    sizeof(entry));
	close(fd);
	return entry >> 63 != 0;
}

static uint8_t *memory(size_t pages, int fd)
{
	uint8_t *ret = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(ret, MAP_FAILED);
	assert_int_equal(madvise(ret, pages * PAGE, MADV_NOHUGEPAGE), 0);
	return ret;
}

/* What copies do that end there: twice. */
static void end_copies(struct tally_stack_pages *pages, uint32_t pid, uint32_t tid, uint64_t from,
		       uint64_t until)
{
	tally_stack_pages_read(pages, pid, tid, from, until);
	tally_stack_pages_read(pages, pid, tid, from, until);
}

static void unused_pages_become_present(void **state)
{
	struct tally_stack_pages *pages = calloc(1, sizeof(*pages));
	uint8_t *stack = memory(8, -1);
	uint64_t from = (uintptr_t)stack + PAGE + 100;

	(void)state;
	assert_non_null(pages);
	stack[0] = 1;
	tally_stack_pages_read(pages, (uint32_t)getpid(), 1, from, from + 3 * PAGE);
	assert_false(is_present(stack + PAGE));
	end_copies(pages, (uint32_t)getpid(), 1, from, from + 3 * PAGE);
	for (unsigned i = 1; i < 5; i++)
		assert_true(is_present(stack + i * PAGE));
	assert_false(is_present(stack + 5 * PAGE));
	/* Its end is not passed. */
	from = (uintptr_t)stack + 7 * PAGE;
	end_copies(pages, (uint32_t)getpid(), 1, from, from + 65536);
	assert_true(is_present(stack + 7 * PAGE));
	munmap(stack, 8 * PAGE);
	free(pages);
}

static void a_place_is_asked_once(void **state)
{
	struct tally_stack_pages *pages = calloc(1, sizeof(*pages));
	uint8_t *stack = memory(2, -1);

	(void)state;
	assert_non_null(pages);
	end_copies(pages, (uint32_t)getpid(), 1, (uintptr_t)stack, (uintptr_t)stack + PAGE);
	assert_true(is_present(stack));
	assert_int_equal(madvise(stack, PAGE, MADV_DONTNEED), 0);
	end_copies(pages, (uint32_t)getpid(), 1, (uintptr_t)stack, (uintptr_t)stack + PAGE);
	assert_false(is_present(stack));
	end_copies(pages, (uint32_t)getpid(), 2, (uintptr_t)stack, (uintptr_t)stack + PAGE);
	assert_true(is_present(stack)); /* another thread */
	munmap(stack, 2 * PAGE);
	free(pages);
}

static void files_are_not_read(void **state)
{
	struct tally_stack_pages *pages = calloc(1, sizeof(*pages));
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint8_t *file = memory(2, fd);

	(void)state;
	assert_non_null(pages);
	assert_true(fd >= 0);
	end_copies(pages, (uint32_t)getpid(), 1, (uintptr_t)file, (uintptr_t)file + 2 * PAGE);
	assert_false(is_present(file));
	/* What is not there, and processes that are not. */
	end_copies(pages, (uint32_t)getpid(), 1, 0, PAGE);
	end_copies(pages, UINT32_MAX, 1, PAGE, 2 * PAGE);
	munmap(file, 2 * PAGE);
	close(fd);
	free(pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(unused_pages_become_present),
	    cmocka_unit_test(a_place_is_asked_once),
	    cmocka_unit_test(files_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
