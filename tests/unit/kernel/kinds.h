/* The kinds of event that there are, each with a way to cause a known number of it; on a machine
 * without a PMU those of hardware are left out. */
#ifndef TALLY_TESTS_KINDS_H
#define TALLY_TESTS_KINDS_H

#include "kernel_test.h"

#include <sys/syscall.h>
#include <tally/open.h>
#include <tally/fd.h>
#include <tally/ring.h>

struct kind {
	const char *name;
	/* Fills the attr; -errno when this machine lacks the event. */
	int (*attr)(struct tally_attr *ret);
	void (*cause)(unsigned times);
	unsigned unit; /* what one cause counts, and nothing else does; 0: not known */
	bool samples;  /* it can sample */
};

static inline int kind_faults(struct tally_attr *ret)
{
	*ret = software(PERF_COUNT_SW_PAGE_FAULTS);
	return 0;
}

static inline void cause_faults(unsigned times)
{
	struct pages pages = pages_new(times);

	pages_touch(&pages, times);
	pages_done(&pages);
}

static inline int read_number(const char *path, uint64_t *ret)
{
	FILE *file = fopen(path, "re");
	unsigned long long number;
	int got;

	if (!file)
		return -errno;
	got = fscanf(file, "%llu", &number);
	fclose(file);
	*ret = number;
	return got == 1 ? 0 : -EINVAL;
}

/* The tracepoint of a system call's entry; -ENOENT. */
static inline int syscall_tracepoint(const char *name, struct tally_attr *ret)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	uint64_t id = 0;
	char path[256];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/syscalls/sys_enter_%s/id", roots[i], name);
		if (!read_number(path, &id)) {
			*ret = (struct tally_attr){.type = PERF_TYPE_TRACEPOINT, .config = id};
			return 0;
		}
	}
	return -ENOENT;
}

static inline int kind_tracepoint(struct tally_attr *ret)
{
	return syscall_tracepoint("getppid", ret);
}

static inline void cause_tracepoint(unsigned times)
{
	for (; times; times--)
		syscall(SYS_getppid);
}

static volatile uint64_t kind_watched;

static inline int kind_breakpoint(struct tally_attr *ret)
{
	*ret = (struct tally_attr){.type = PERF_TYPE_BREAKPOINT,
				   .bp_type = HW_BREAKPOINT_W,
				   .bp_addr = (uintptr_t)&kind_watched,
				   .bp_len = HW_BREAKPOINT_LEN_8,
				   .exclude_kernel = 1,
				   .exclude_hv = 1};
	return breakpoints_fire() ? 0 : -ENOENT;
}

static inline void cause_breakpoint(unsigned times)
{
	for (; times; times--)
		kind_watched = times;
}

static inline int kind_msr(struct tally_attr *ret)
{
	uint64_t type = 0;
	int result = read_number("/sys/bus/event_source/devices/msr/type", &type);

	*ret = (struct tally_attr){.type = (uint32_t)type};
	return result;
}

static inline void cause_time(unsigned times)
{
	for (volatile unsigned i = 0; i < times * 1000; i++)
		;
}

#define INSTRUCTIONS_UNIT 100000 /* the little around them must not count */

static inline int kind_instructions(struct tally_attr *ret)
{
	*ret = (struct tally_attr){.type = PERF_TYPE_HARDWARE,
				   .config = PERF_COUNT_HW_INSTRUCTIONS,
				   .exclude_kernel = 1,
				   .exclude_hv = 1};
#if defined(__x86_64__) || defined(__aarch64__)
	return 0;
#else
	return -ENOENT; /* no loop of a known number is written for it */
#endif
}

static inline void cause_instructions(unsigned times)
{
	for (; times; times--) {
		uint64_t rounds = INSTRUCTIONS_UNIT / 2;

#if defined(__x86_64__)
		__asm__ volatile("1: dec %0\n"
				 "jnz 1b"
				 : "+r"(rounds)
				 :
				 : "cc");
#elif defined(__aarch64__)
		__asm__ volatile("1: subs %0, %0, #1\n"
				 "b.ne 1b"
				 : "+r"(rounds)
				 :
				 : "cc");
#endif
		/* An emulated processor sees overflows when it next enters the kernel. */
		syscall(SYS_getuid);
		(void)rounds;
	}
}

static const struct kind kinds[] = {
    {"page-faults", kind_faults, cause_faults, 1, true},
    {"syscalls:sys_enter_getppid", kind_tracepoint, cause_tracepoint, 1, true},
    {"mem:ADDRESS/8:w", kind_breakpoint, cause_breakpoint, 1, true},
    {"msr/tsc/", kind_msr, cause_time, 0, false},
    {"instructions:u", kind_instructions, cause_instructions, INSTRUCTIONS_UNIT, true},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* Opens an event of a kind; -1 and, once, a line where this machine or these rights have none. */
static inline int kind_open(const struct kind *kind, struct tally_attr *attr,
			    const struct tally_open_target *target)
{
	static bool reported[KIND_COUNT];
	struct tally_error error;
	int fd = tally_open(attr, target, NULL, &error);

	if (fd >= 0)
		return fd;
	if (!reported[kind - kinds])
		print_message("%s is left out: %s\n", kind->name, error.text);
	reported[kind - kinds] = true;
	return -1;
}

/* A count that `times` causes made. */
static inline void kind_check(const struct kind *kind, uint64_t value, unsigned times)
{
	uint64_t wanted = (uint64_t)times * kind->unit;

	/* Faults of the library's own pages may come in between. */
	if (times && kind->attr == kind_faults)
		assert_in_range(value, wanted, wanted + 30);
	else if (times && kind->attr == kind_instructions)
		assert_in_range(value, wanted, wanted + kind->unit / 2);
	else if (kind->unit)
		assert_int_equal(value, wanted);
	else
		assert_true(times ? value > times : value == 0);
}

/* Opens an event of a kind for a test that goes through all of them; -1: there is none here. */
static inline int kind_try(const struct kind *kind, struct tally_attr *attr,
			   const struct tally_open_target *target)
{
	int fd;

	if (kind->attr(attr))
		return -1;
	attr->disabled = 1;
	fd = kind_open(kind, attr, target);
	return fd;
}

/* The value of an event that is read alone. */
static inline uint64_t value_of(int fd)
{
	struct tally_read read;
	uint64_t word;

	assert_int_equal(tally_fd_read(fd, 0, &word, 1, &read), 0);
	return read.value;
}

/* How many samples were in the ring. */
static inline size_t drain(struct tally_ring *ring)
{
	struct tally_record record;
	size_t samples = 0;

	while (tally_ring_next(ring, &record) == 1)
		samples += record.type == PERF_RECORD_SAMPLE;
	return samples;
}

/* The kinds that this machine has. */
static inline void each_kind(void (*body)(const struct kind *kind, struct tally_attr attr))
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct tally_open_target target = this_thread();
		struct tally_attr attr;
		int fd;

		if (kinds[i].attr(&attr))
			continue;
		fd = kind_open(&kinds[i], &attr, &target);
		if (fd < 0)
			continue;
		close(fd);
		body(&kinds[i], attr);
	}
}

#endif
