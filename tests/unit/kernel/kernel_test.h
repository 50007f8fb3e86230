/* What the kernel's tests share: events that any machine has, and a child without rights. */
#ifndef TALLY_TESTS_KERNEL_TEST_H
#define TALLY_TESTS_KERNEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/open.h>
#include <tally/record.h>
#include <unistd.h>
#include "as_nobody.h"

/* PERF_FORMAT_LOST, newer than Debian 12's headers. */
#define TEST_FORMAT_LOST (1ULL << 4)

static inline struct tally_open_target this_thread(void)
{
	return (struct tally_open_target){.pid = 0, .cpu = -1, .group_fd = -1};
}

static inline struct tally_attr software(uint64_t config)
{
	return (struct tally_attr){
	    .type = PERF_TYPE_SOFTWARE, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
}

/* Opens or says why not; skips the test where the machine lets nothing be opened. */
static inline int must_open(const struct tally_attr *attr, int group_fd)
{
	struct tally_open_target target = this_thread();
	struct tally_error error;
	int fd;

	target.group_fd = group_fd;
	fd = tally_open(attr, &target, NULL, &error);
	if (fd == -EACCES || fd == -ENOSYS || fd == -EPERM) {
		print_message("skipped: %s\n", error.text);
		skip();
	}
	if (fd < 0)
		fail_msg("%s", error.text);
	return fd;
}

/* Whether breakpoints count: hypervisors that do not deliver them let them be opened, too. */
static inline bool breakpoints_fire(void)
{
	static volatile uint64_t watched;
	const struct tally_attr attr = {.type = PERF_TYPE_BREAKPOINT,
					.bp_type = HW_BREAKPOINT_W,
					.bp_addr = (uintptr_t)&watched,
					.bp_len = HW_BREAKPOINT_LEN_8,
					.exclude_kernel = 1,
					.exclude_hv = 1};
	const struct tally_open_target target = this_thread();
	static int known = -1;
	uint64_t count = 1; /* not known: the test finds out why */
	int fd;

	if (known >= 0)
		return known;
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd < 0)
		return true;
	watched = 1;
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	close(fd);
	known = count != 0;
	if (!known)
		print_message("breakpoints are left out: they open on this machine, and never "
			      "fire\n");
	return known;
}

/* Pages that fault once each when touched: one sample of page-faults with period 1. */
struct pages {
	uint8_t *at;
	size_t count, touched;
};

static inline struct pages pages_new(size_t count)
{
	size_t size = count * (size_t)sysconf(_SC_PAGESIZE);
	struct pages pages = {.count = count};

	pages.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages.at, MAP_FAILED);
	madvise(pages.at, size, MADV_NOHUGEPAGE);
	return pages;
}

static inline void pages_touch(struct pages *pages, size_t count)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	for (; count; count--)
		*(volatile uint8_t *)(pages->at + pages->touched++ * size) = 1;
}

/* The page's number of an address, or -1 when no page has it. */
static inline int64_t pages_index(const struct pages *pages, uint64_t address)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)pages->at;

	if (address < start || address >= start + pages->count * size)
		return -1;
	return (int64_t)((address - start) / size);
}

static inline void pages_done(struct pages *pages)
{
	munmap(pages->at, pages->count * (size_t)sysconf(_SC_PAGESIZE));
}

#endif
