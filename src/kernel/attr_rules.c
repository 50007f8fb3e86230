/* Rules that an attr must keep on every machine, in the order in which the kernel checks them.
 *
 * Source: perf_copy_attr(), perf_event_alloc() and perf_need_aux_event() of kernel/events/core.c,
 * Linux 6.18. */
#include "kernel/attr_rules.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/abi.h>

/* The bits behind the newest ones that are known: Linux 7.0. */
#define SAMPLE_END ((uint64_t)PERF_SAMPLE_WEIGHT_STRUCT << 1)
#define READ_END   ((uint64_t)PERF_FORMAT_LOST << 1)
#define BRANCH_END ((uint64_t)PERF_SAMPLE_BRANCH_COUNTERS << 1)

static bool asks_for_branches(const struct tally_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

/* What needs a group that an event with an AUX area leads. */
static const char *aux_field(const struct tally_attr *attr)
{
	return attr->aux_output        ? "aux_output"
	       : attr->aux_pause       ? "aux_pause"
	       : attr->aux_resume      ? "aux_resume"
	       : attr->aux_sample_size ? "aux_sample_size"
				       : NULL;
}

static bool break_value(const struct tally_attr *attr, char *to, size_t room)
{
	if (attr->reserved_1 || attr->reserved_2 || attr->reserved_3)
		snprintf(to, room,
			 "a reserved field of the attr is not 0: this program must not set it");
	else if (attr->sample_type & ~(SAMPLE_END - 1))
		snprintf(to, room,
			 "attr.sample_type has bits 0x%llx, which no kernel knows: clear them",
			 (unsigned long long)(attr->sample_type & ~(SAMPLE_END - 1)));
	else if (attr->read_format & ~(READ_END - 1))
		snprintf(to, room,
			 "attr.read_format has bits 0x%llx, which no kernel knows: clear them",
			 (unsigned long long)(attr->read_format & ~(READ_END - 1)));
	else if (asks_for_branches(attr) && attr->branch_sample_type & ~(BRANCH_END - 1))
		snprintf(
		    to, room,
		    "attr.branch_sample_type has bits 0x%llx, which no kernel knows: clear them",
		    (unsigned long long)(attr->branch_sample_type & ~(BRANCH_END - 1)));
	else if (asks_for_branches(attr) &&
		 !(attr->branch_sample_type & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		snprintf(
		    to, room,
		    "attr.branch_sample_type names no kind of branches: set PERF_SAMPLE_BRANCH_ANY "
		    "or another kind");
	else if (attr->sample_type & PERF_SAMPLE_STACK_USER && attr->sample_stack_user % 8)
		snprintf(to, room, "attr.sample_stack_user is %u bytes: it must be a multiple of 8",
			 attr->sample_stack_user);
	else if (attr->sample_type & PERF_SAMPLE_STACK_USER && attr->sample_stack_user > 65528)
		snprintf(
		    to, room,
		    "attr.sample_stack_user is %u bytes, more than a record holds: use at most "
		    "65528",
		    attr->sample_stack_user);
	else
		return false;
	return true;
}

static bool break_pair(const struct tally_attr *attr, const struct tally_open_target *target,
		       char *to, size_t room)
{
	const char *aux = aux_field(attr);

	if (attr->sample_type & PERF_SAMPLE_WEIGHT && attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		snprintf(to, room,
			 "PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT in attr.sample_type "
			 "exclude each other: set one of them");
	else if (attr->inherit_thread && !attr->inherit)
		snprintf(to, room, "attr.inherit_thread needs attr.inherit");
	else if (attr->remove_on_exec && attr->enable_on_exec)
		snprintf(to, room,
			 "attr.remove_on_exec and attr.enable_on_exec exclude each other");
	else if (attr->sigtrap && !attr->remove_on_exec)
		snprintf(to, room, "attr.sigtrap needs attr.remove_on_exec");
	else if (attr->sigtrap && target->pid == -1)
		snprintf(to, room,
			 "attr.sigtrap needs a thread that gets the signal: pid must not be -1");
	else if (attr->aux_pause && attr->aux_resume)
		snprintf(to, room, "attr.aux_pause and attr.aux_resume exclude each other");
	else if (aux && target->group_fd < 0)
		snprintf(
		    to, room,
		    "attr.%s needs a group that an event with an AUX area (intel_pt) leads: open "
		    "that first, and give its descriptor as group_fd",
		    aux);
	else
		return false;
	return true;
}

bool tally_attr_breaks_rule(const struct tally_attr *attr, const struct tally_open_target *target,
			    char *to, size_t room)
{
	return break_value(attr, to, room) || break_pair(attr, target, to, room);
}
