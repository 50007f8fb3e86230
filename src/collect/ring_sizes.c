/* How large the rings are.
 *
 * What the kernel allows: perf_event_mlock_kb for each CPU, shared by all rings of a user, and
 * RLIMIT_MEMLOCK more; no limit with CAP_IPC_LOCK or perf_event_paranoid -1. Source: perf_mmap() of
 * kernel/events/core.c, perf_event_open(2). */
#include <sys/param.h>
#include <unistd.h>
#include "collect/openset.h"
#include "collect/plan_terms.h"

#define MOST_BYTES     (16ULL << 20) /* 100 ms of very many system calls */
#define COPIES         500           /* of stacks: 32 MiB of the greatest ones */
#define MOST_AT_RATES  (128ULL << 20)
#define FULL_AFTER     25 /* of a second: rings with copies hold as much, where these are many */
#define LEAST_BYTES    (512ULL << 10)
#define SIDEBAND_BYTES (2ULL << 20) /* with a sample ring of the greatest size */
#define MEMORY_SHARE   64           /* all rings use at most this part of the memory */

static uint64_t power_below(uint64_t value)
{
	return value ? 1ULL << (63 - __builtin_clzll(value)) : 0;
}

static uint64_t power_above(uint64_t value)
{
	uint64_t below = power_below(value);

	return below == value ? below : below << 1;
}

/* At high rates the recorder is woken less often, and what it copies meanwhile has more room. */
static uint64_t most_of_stacks(uint64_t rate, uint64_t copy)
{
	uint64_t bytes = MAX(power_above(rate / FULL_AFTER), power_above(copy * COPIES));

	return MIN(MAX(bytes, LEAST_BYTES), MOST_AT_RATES);
}

/* What a ring gets of what is left beside the side-band's. Each ring has one page more, for the
 * kernel's header. */
static uint64_t share_of(uint64_t budget, uint64_t sideband, bool off_cpu)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), rings = 1 + off_cpu;
	uint64_t used = sideband + (rings + 1) * page;

	return budget > used + page ? MAX(power_below((budget - used) / rings), page) : page;
}

struct tally_ring_sizes tally_ring_sizes_choose(const struct tally_limits *limits,
						const struct tally_plan *plan, size_t cpus,
						size_t asked, uint64_t memory)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), rate = tally_plan_rate(plan);
	uint64_t copy = 0, bytes, sideband, most;
	struct tally_ring_sizes sizes = {0};
	bool off_cpu = false;

	for (size_t i = 0; i < plan->count; i++) {
		const struct tally_planned *event = &plan->events[i];

		if (event->unwinds)
			copy = MAX(copy, event->attr.sample_stack_user);
		off_cpu |= event->off_cpu;
	}
	bytes = most = copy ? most_of_stacks(rate, TALLY_STACK_USUAL) : MOST_BYTES;
	/* A second of samples, by the events' frequencies: rings are drained at least that often.
	 */
	if (rate)
		bytes = MIN(copy ? most_of_stacks(rate, copy) : most,
			    MAX(power_above(rate), LEAST_BYTES));
	if (memory && cpus)
		bytes = MIN(bytes, MAX(power_below(memory / MEMORY_SHARE / cpus), LEAST_BYTES));
	sideband = MIN(SIDEBAND_BYTES, MAX(bytes / 4, LEAST_BYTES / 2));
	if (memory && cpus)
		most = MIN(most, MAX(power_below(memory / MEMORY_SHARE / cpus), LEAST_BYTES));
	if (asked)
		bytes = power_above(asked) * page;
	if (!limits->ipc_lock && limits->paranoid > -1) {
		uint64_t budget = limits->mlock_kb > 0 ? (uint64_t)limits->mlock_kb << 10 : 0;

		/* All of RLIMIT_MEMLOCK: a recorder locks no other memory. Each ring has one page
		 * more, for the kernel's header. */
		if (limits->memlock < (1ULL << 40))
			budget += limits->memlock / MAX(cpus, 1);
		else
			budget = 1ULL << 40;
		/* An AUX area of a fixed size takes its part first. */
		if (plan->aux.kind)
			budget -= MIN(budget, plan->aux.pages * page);
		sideband = MIN(sideband, MAX(power_below(budget / 6), page));
		if (!asked)
			bytes = MIN(bytes, share_of(budget, sideband, off_cpu));
		most = MIN(most, share_of(budget, sideband, off_cpu));
	}
	sizes.pages[TALLY_RING_SAMPLES] = (size_t)(bytes / page);
	sizes.pages[TALLY_RING_SIDEBAND] = (size_t)MAX(sideband / page, 1);
	/* Nobody knows how often threads block: as large as rings are at most. */
	if (off_cpu)
		sizes.pages[TALLY_RING_OFF_CPU] = (size_t)((asked ? bytes : most) / page);
	return sizes;
}
