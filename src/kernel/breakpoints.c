#include "kernel/breakpoints.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tally/open.h>
#include <unistd.h>

static volatile uint64_t watched;

static enum tally_breakpoints try_one(void)
{
	const struct tally_attr attr = {.type = PERF_TYPE_BREAKPOINT,
					.bp_type = HW_BREAKPOINT_W,
					.bp_addr = (uintptr_t)&watched,
					.bp_len = HW_BREAKPOINT_LEN_8,
					.exclude_kernel = 1,
					.exclude_hv = 1};
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	uint64_t count = 0;
	int fd = tally_open(&attr, &self, NULL, NULL);
	bool counted;

	if (fd < 0)
		return TALLY_BREAKPOINTS_UNKNOWN;
	watched = 1;
	counted = read(fd, &count, sizeof(count)) != sizeof(count) || count;
	close(fd);
	return counted ? TALLY_BREAKPOINTS_FIRE : TALLY_BREAKPOINTS_SILENT;
}

enum tally_breakpoints tally_breakpoints(void)
{
	static atomic_int known;
	int now = atomic_load_explicit(&known, memory_order_relaxed);

	if (now == TALLY_BREAKPOINTS_UNKNOWN) {
		now = (int)try_one();
		atomic_store_explicit(&known, now, memory_order_relaxed);
	}
	return (enum tally_breakpoints)now;
}
