/* Opens an event for the first time. What the kernel, the hardware or the rights do not allow is
 * given up, with a notice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include "base/fail.h"
#include "collect/event_plan.h"
#include "collect/plan_terms.h"

/* "cycles" -> "cycles:u", "cycles:P" -> "cycles:Pu". */
static int name_user_only(struct tally_planned *event)
{
	size_t length = strlen(event->name);
	char *name = malloc(length + 3);

	if (!name)
		return -ENOMEM;
	snprintf(name, length + 3, "%s%su", event->name, strchr(event->name, ':') ? "" : ":");
	free(event->name);
	event->name = name;
	return 0;
}

/* Without a PMU, or with one that cannot sample, the CPU's clock is the best replacement. */
static bool is_cycles_missing(const struct tally_planned *event, int result)
{
	return (result == -ENOENT || result == -EOPNOTSUPP || result == -ENODEV ||
		result == -ENXIO) &&
	       event->attr.type == PERF_TYPE_HARDWARE &&
	       event->attr.config == PERF_COUNT_HW_CPU_CYCLES;
}

static int use_cpu_clock(struct tally_planned *event, const struct tally_notice *notice)
{
	const char *modifiers = strchr(event->name, ':');
	char name[64];
	char *copy;

	/* The clock has no precision; u, k and h stay. */
	snprintf(name, sizeof(name), "cpu-clock");
	if (modifiers && strpbrk(modifiers, "ukh")) {
		size_t at = strlen(name);

		name[at++] = ':';
		for (; *modifiers && at + 1 < sizeof(name); modifiers++)
			if (strchr("ukh", *modifiers))
				name[at++] = *modifiers;
		name[at] = 0;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	tally_notice_send(notice,
			  "no hardware counter for %s here (a virtual machine without a PMU?): "
			  "sampling %s instead",
			  event->name, copy);
	free(event->name);
	event->name = copy;
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	event->attr.precise_ip = 0;
	event->attr.exclude_guest = 0;
	event->precise_max = false;
	return 0;
}

/* Not each event, and not each machine, can copy registers and stacks. */
static int open_without_stacks(struct tally_planned *event, const struct tally_open_target *target,
			       const struct tally_limits *limits, const struct tally_notice *notice,
			       uint32_t may, uint32_t *given_up, struct tally_error *error)
{
	struct tally_open_target other = *target;
	struct tally_attr with = event->attr;
	int result;

	other.name = event->name;
	tally_plan_frame_pointers(&event->attr);
	event->attr.defer_callchain = 1;
	result = tally_open_relaxed(&event->attr, &other, limits, may, given_up, error);
	if (result < 0) {
		event->attr = with;
		return result;
	}
	event->unwinds = false;
	if (event->chain_named)
		tally_notice_send(notice,
				  "%s: the kernel copies no stacks of this event: call chains are "
				  "by frame pointers",
				  event->name);
	return result;
}

int tally_plan_open_first(struct tally_planned *event, const struct tally_open_target *target,
			  const struct tally_limits *limits, const struct tally_notice *notice,
			  struct tally_error *error)
{
	uint32_t may = TALLY_RELAXED_ALL, given_up = 0;
	struct tally_open_target other;
	int result;

	/* A precision, a privilege or a clock that a person wrote is not given up. */
	may &= ~(TALLY_RELAXED_CLOCKID | event->kept);
	if (!event->precise_max)
		may &= ~(uint32_t)TALLY_RELAXED_PRECISE;
	if (event->privilege_given || event->attr.type == PERF_TYPE_TRACEPOINT)
		may &= ~(uint32_t)TALLY_RELAXED_KERNEL;
	event->precise_asked = event->attr.precise_ip;
	result = tally_open_relaxed(&event->attr, target, limits, may, &given_up, error);
	if (is_cycles_missing(event, result)) {
		result = use_cpu_clock(event, notice);
		if (result)
			return tally_fail(error, result, -1, "out of memory");
		other = *target;
		other.name = event->name; /* the old name was freed */
		result = tally_open_relaxed(&event->attr, &other, limits, may, &given_up, error);
	}
	if (result < 0 && event->unwinds && !event->stack_needed)
		result = open_without_stacks(event, target, limits, notice, may, &given_up, error);
	if (result < 0)
		return result;
	event->opened_once = true;
	event->given_up = given_up;
	/* The name is the only sign of it later; but a lack of memory for it is no reason to fail.
	 */
	if (given_up & TALLY_RELAXED_KERNEL)
		name_user_only(event);
	return result;
}
