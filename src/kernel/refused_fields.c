/* Finds the fields of an attr that a PMU refuses, by opening it without them.
 *
 * Drivers return EINVAL or EOPNOTSUPP without a reason. All optional fields are removed until the
 * event opens, and then put back one by one: those that cannot be put back are refused. */
#include "kernel/refused_fields.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"

struct field {
	const char *name, *advice;
	struct tally_attr mask; /* bits that are cleared */
};

#define ALL UINT64_MAX
/* Likely ones first, so that few opens are needed. */
static const struct field fields[] = {
    {"attr.precise_ip", "leave the modifiers p and P out", {.precise_ip = 3}},
    {"attr.exclude_user, _kernel or _hv",
     "leave the modifiers u, k and h out",
     {.exclude_user = 1, .exclude_kernel = 1, .exclude_hv = 1}},
    {"attr.exclude_guest or _host",
     "write the modifiers GH",
     {.exclude_guest = 1, .exclude_host = 1}},
    {"attr.exclude_idle", "leave the modifier I out", {.exclude_idle = 1}},
    {"attr.sample_period (sampling)", "count it only", {.sample_period = ALL, .freq = 1}},
    {"attr.branch_sample_type",
     "take no branch stacks",
     {.sample_type = PERF_SAMPLE_BRANCH_STACK, .branch_sample_type = ALL}},
    {"attr.config1", "leave its terms out", {.config1 = ALL}},
    {"attr.config2", "leave its terms out", {.config2 = ALL}},
    {"attr.config3", "leave its terms out", {.config3 = ALL}},
    {"attr.config4", "leave its terms out", {.config4 = ALL}},
    {"attr.pinned", "leave the modifier D out", {.pinned = 1}},
    {"attr.exclusive", "leave the modifier e out", {.exclusive = 1}},
    {"attr.inherit", "do not measure children", {.inherit = 1}},
    {"attr.aux_output", "leave the term aux-output out", {.aux_output = 1}},
};

#define WORDS       8
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

/* The words of the attr that contain the fields; others are not changed. */
static void attr_words(struct tally_attr *attr, uint64_t *to[WORDS])
{
	to[0] = &attr->config1;
	to[1] = &attr->config2;
	to[2] = &attr->config3;
	to[3] = &attr->config4;
	to[4] = &attr->sample_period;
	to[5] = &attr->sample_type;
	to[6] = &attr->branch_sample_type;
	to[7] = &attr->flags;
}

static bool clear_field(struct tally_attr *attr, const struct field *field)
{
	struct tally_attr mask = field->mask;
	uint64_t *of[WORDS], *by[WORDS];
	bool any = false;

	attr_words(attr, of);
	attr_words(&mask, by);
	for (size_t i = 0; i < WORDS; i++) {
		any |= *of[i] & *by[i];
		*of[i] &= ~*by[i];
	}
	return any;
}

static bool opens_without(const struct tally_attr *attr, uint32_t left_out,
			  const struct tally_open_target *target, const struct tally_limits *limits)
{
	struct tally_attr less = *attr;
	int fd;

	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (left_out & 1u << i)
			clear_field(&less, &fields[i]);
	fd = tally_open(&less, target, limits, NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The fewest fields found without which it opens; 0: it never opens. */
static uint32_t find(const struct tally_attr *attr, const struct tally_open_target *target,
		     const struct tally_limits *limits)
{
	uint32_t left_out = 0;
	bool open = false;

	for (size_t i = 0; i < FIELD_COUNT && !open; i++) {
		struct tally_attr copy = *attr;

		if (!clear_field(&copy, &fields[i]))
			continue;
		left_out |= 1u << i;
		open = opens_without(attr, left_out, target, limits);
	}
	for (size_t i = 0; open && i < FIELD_COUNT; i++)
		if (left_out & 1u << i &&
		    opens_without(attr, left_out & ~(1u << i), target, limits))
			left_out &= ~(1u << i);
	return open ? left_out : 0;
}

static void add(char *to, size_t room, const char *text, bool first)
{
	size_t at = strlen(to);

	snprintf(to + at, room - at, "%s%s", first ? "" : ", ", text);
}

bool tally_open_find_refused_fields(int result, const struct tally_attr *attr,
				    const struct tally_open_target *target,
				    const struct tally_limits *limits, struct tally_error *error)
{
	char names[256] = "", advice[256] = "", event[256];
	uint32_t refused;

	if (!error || (result != -EINVAL && result != -EOPNOTSUPP) || target->group_fd >= 0 ||
	    attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	    attr->type == PERF_TYPE_BREAKPOINT)
		return false;
	refused = find(attr, target, limits);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!(refused & 1u << i))
			continue;
		add(advice, sizeof(advice), fields[i].advice, !*names);
		add(names, sizeof(names), fields[i].name, !*names);
	}
	if (!*names)
		return false;
	if (target->name)
		snprintf(event, sizeof(event), "%s", target->name);
	else
		snprintf(event, sizeof(event), "event 0x%llx of PMU type %u",
			 (unsigned long long)attr->config, attr->type);
	tally_fail(error, result, -1,
		   "cannot open %s: the PMU refuses %s; without that, it opens: %s", event, names,
		   advice);
	return true;
}
