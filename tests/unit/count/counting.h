/* What the tests of counter sets and regions share. */
#ifndef TALLY_TESTS_COUNTING_H
#define TALLY_TESTS_COUNTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/counter.h>
#include <unistd.h>

/* A list of events by name; the caller's. */
static inline struct tally_event_list events_of(const char *text)
{
	struct tally_event_options options = {.size = sizeof(options)};
	struct tally_event_list list = {0};
	struct tally_error error;

	if (tally_event_list_parse(text, &options, &list, &error) < 0)
		fail_msg("%s: %s", text, error.text);
	return list;
}

static inline void touch_pages(size_t count)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *at =
	    mmap(NULL, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	madvise(at, count * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < count; i++)
		*(volatile uint8_t *)(at + i * size) = 1;
	munmap(at, count * size);
}

static inline void spin(unsigned times)
{
	for (volatile unsigned i = 0; i < times; i++)
		;
}

/* Skips where nothing may be counted. */
static inline void need_events(int result, const struct tally_error *error)
{
	if (result == -EACCES || result == -EPERM || result == -ENOSYS) {
		print_message("skipped: %s\n", error->text);
		skip();
	}
	if (result)
		fail_msg("%s", error->text);
}

#endif
