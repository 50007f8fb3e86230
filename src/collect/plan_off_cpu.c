#include "collect/plan_off_cpu.h"

/* A ring of 32 MiB has room for 1,300 copies: each takes its whole size there, however short the
 * stack is. Event loops have a table of events on their stack, libuv's of 12 KiB. */
#define COPY_USUAL 24576

/* Source: perf_event_open(2), "PERF_EVENT_PARANOID"; perf_allow_kernel() of kernel/events/core.c.
 */
bool tally_off_cpu_sees_stacks(const struct tally_limits *limits)
{
	return limits->paranoid <= 1 ||
	       ((limits->perfmon || limits->sys_admin) && !limits->user_namespace);
}

struct tally_chain_plan tally_off_cpu_chain(const struct tally_chain_plan *chain)
{
	struct tally_chain_plan own = *chain;

	/* The processor's record of calls is of no use to the kernel's own events. */
	if (own.how == TALLY_CHAIN_NONE || own.how == TALLY_CHAIN_BRANCHES)
		own.how = TALLY_CHAIN_FRAME_POINTERS;
	if (!own.stack_size)
		own.stack_size = COPY_USUAL;
	own.keep = false; /* the recorder looks for the function that blocked, in the kernel's chain
			     of user space */
	return own;
}

void tally_off_cpu_attr(bool sees_stacks, uint64_t frequency, struct tally_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->context_switch = 1;
	attr->task = 1; /* for PERF_RECORD_EXIT: a thread that ended is not blocked */
	if (sees_stacks) {
		attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		attr->sample_period = 1;
		attr->exclude_callchain_kernel = 1; /* as perf's offcpu-time */
	} else {
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
		attr->freq = 1;
		attr->sample_freq = frequency;
		attr->exclude_kernel = attr->exclude_hv = 1;
	}
	/* The recorder keeps samples for a while: chains that come later as records of their own
	 * would miss them. */
	attr->defer_callchain = 0;
}

/* Source: off_cpu_config() of tools/perf/util/bpf_off_cpu.c: the event is an output of a BPF
 * program, of which each sample has its own period. */
void tally_off_cpu_file_attr(struct tally_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_BPF_OUTPUT;
	attr->freq = 1;
	attr->sample_freq = 1;
	attr->context_switch = attr->task = 0;
	attr->exclude_kernel = attr->exclude_hv = 0;
	attr->exclude_callchain_kernel = 0;
}
