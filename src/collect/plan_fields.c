/* What a recorder's options mean for the attrs of events and of the side-band.
 *
 * Source: perf_event_open(2); for which bits an option stands, perf-record(1) and what perf 6.1
 * gives to the kernel. */
#include "collect/plan_fields.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <tally/abi.h>
#include <tally/open.h>
#include "base/fail.h"

/* A record has less than 64 KiB.  The kernel makes the copy of the stack smaller for all fields of
 * fixed size and for those before it, but does not count the registers behind it: the size would
 * wrap.  Source: perf_sample_ustack_size() and perf_prepare_sample() of kernel/events/core.c. */
#define STACK_WITH_REGISTERS 57344u /* 8 KiB for all that is before it and the registers */

int tally_plan_fields_check(const struct tally_recorder_options *options,
			    const struct tally_limits *limits, struct tally_error *error)
{
	uint64_t unknown = options->sample_type & ~(uint64_t)TALLY_RECORDER_FIELDS;
	uint64_t most = limits->max_sample_rate > 0 ? (uint64_t)limits->max_sample_rate : 1;

	if (unknown)
		return tally_fail(error, -EINVAL, -1,
				  "sample_type 0x%llx has bits that are not in "
				  "TALLY_RECORDER_FIELDS: other options ask for those fields",
				  (unsigned long long)unknown);
	if (options->all_user && options->all_kernel)
		return tally_fail(error, -EINVAL, -1,
				  "user space alone and the kernel alone exclude each other");
	if (options->no_user_chain && options->no_kernel_chain)
		return tally_fail(error, -EINVAL, -1,
				  "call chains of the kernel alone and of user space alone exclude "
				  "each other: neither would be recorded");
	if (options->realtime > 99)
		return tally_fail(error, -EINVAL, -1,
				  "a real-time priority is 1 to 99 (sched(7)), not %u",
				  options->realtime);
	if (options->strict_frequency && options->frequency > most)
		return tally_fail(error, -EINVAL, -1,
				  "%llu samples per second are more than the machine's limit, "
				  "%llu: `sudo sysctl kernel.perf_event_max_sample_rate=%llu` "
				  "raises it",
				  (unsigned long long)options->frequency, (unsigned long long)most,
				  (unsigned long long)options->frequency);
	return 0;
}

/* What a person asked for by name is not left out silently. */
static uint32_t kept_of(uint64_t sample_type)
{
	static const struct {
		uint64_t field;
		uint32_t relaxed;
	} rows[] = {
	    {PERF_SAMPLE_PHYS_ADDR, TALLY_RELAXED_PHYS_ADDR},
	    {PERF_SAMPLE_DATA_PAGE_SIZE, TALLY_RELAXED_DATA_PAGE_SIZE},
	    {PERF_SAMPLE_CODE_PAGE_SIZE, TALLY_RELAXED_CODE_PAGE_SIZE},
	    {PERF_SAMPLE_CGROUP, TALLY_RELAXED_CGROUP},
	};
	uint32_t kept = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (sample_type & rows[i].field)
			kept |= rows[i].relaxed;
	return kept;
}

void tally_plan_fields(const struct tally_recorder_options *options, struct tally_planned *event)
{
	struct tally_attr *attr = &event->attr;

	attr->sample_type |= options->sample_type;
	event->kept |= kept_of(options->sample_type);
	if (options->cgroups) {
		attr->sample_type |= PERF_SAMPLE_CGROUP;
		event->kept |= TALLY_RELAXED_CGROUP;
	}
	if (options->branch_filter) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = options->branch_filter;
		event->kept |= TALLY_RELAXED_BRANCH_COUNTERS | TALLY_RELAXED_BRANCH_HW_INDEX;
	}
	if (options->intr_registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = options->intr_registers;
	}
	if (options->user_registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= options->user_registers;
	}
	if (options->thread_counts) {
		attr->inherit_stat = 1;
		attr->read_format |=
		    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	if (options->read_times)
		attr->read_format |=
		    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (options->all_user || options->all_kernel) {
		attr->exclude_user = options->all_kernel;
		attr->exclude_kernel = options->all_user;
		event->privilege_given = true;
	}
	if (options->wake_each) {
		attr->watermark = 0;
		attr->wakeup_events = 1;
	}
	if (options->no_samples)
		attr->sample_period = 0;
}

void tally_plan_fields_chain(const struct tally_recorder_options *options,
			     struct tally_chain_plan *chain)
{
	/* The unwinder takes the registers out of samples, with the copies of the stack: where a
	 * person wants them, the copies stay in the file, or none are made. */
	if (options->user_registers)
		chain->keep = true;
	if ((options->user_registers && chain->how == TALLY_CHAIN_AUTO) ||
	    (options->no_user_chain && chain->how != TALLY_CHAIN_NONE))
		chain->how = TALLY_CHAIN_FRAME_POINTERS;
}

void tally_plan_fields_chained(const struct tally_recorder_options *options,
			       struct tally_attr *attr)
{
	if (options->no_user_chain) {
		attr->exclude_callchain_user = 1;
		attr->defer_callchain = 0;
	}
	if (options->no_kernel_chain)
		attr->exclude_callchain_kernel = 1;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		attr->sample_stack_user = MIN(attr->sample_stack_user, STACK_WITH_REGISTERS);
}

void tally_plan_fields_sideband(const struct tally_recorder_options *options,
				struct tally_planned *sideband)
{
	struct tally_attr *attr = &sideband->attr;

	attr->mmap_data |= options->data_maps;
	attr->context_switch = options->context_switches;
	attr->namespaces = options->namespaces;
	attr->cgroup = options->cgroups;
	attr->build_id |= options->build_id_maps;
	if (options->no_bpf_events)
		attr->bpf_event = 0;
	sideband->kept = (options->context_switches ? TALLY_RELAXED_CONTEXT_SWITCH : 0) |
			 (options->namespaces ? TALLY_RELAXED_NAMESPACES : 0) |
			 (options->cgroups ? TALLY_RELAXED_CGROUP : 0);
}
