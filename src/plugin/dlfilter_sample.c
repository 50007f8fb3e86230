/* A sample as filters see it. */
#include <errno.h>
#include <string.h>
#include "plugin/dlfilter_host.h"

_Static_assert(sizeof(struct perf_dlfilter_sample) == 208, "the filters' sample");
_Static_assert(sizeof(struct perf_dlfilter_al) == 88, "the filters' address location");
_Static_assert(sizeof(struct perf_dlfilter_fns) == 1024, "the filters' table");
_Static_assert(sizeof(struct tally_branch) == sizeof(struct perf_branch_entry), "a branch");

/* perf's value for memory accesses without information: "not available" of operation, level, snoop,
 * lock and TLB.  Source: PERF_MEM_*_NA of perf_event.h. */
#define NO_DATA_SRC 0x5080021ULL

/* Events whose data address leads to code or to what was touched.  The test of one bit among
 * hardware events is perf's own, which is true for more than counted branches. */
static bool correlates(const struct tally_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_ADDR))
		return false;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
		       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	return attr->type == PERF_TYPE_HARDWARE &&
	       (attr->config & PERF_COUNT_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
}

int tally_dlfilter_facts(struct tally_dlfilters *host)
{
	struct tally_data *data = tally_session_data(host->session);

	host->event_count = tally_data_event_count(data);
	host->facts =
	    tally_arena_alloc(&host->arena, (host->event_count + 1) * sizeof(*host->facts));
	if (!host->facts)
		return -ENOMEM;
	for (size_t i = 0; i < host->event_count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);
		struct tally_attr *attr = tally_arena_alloc(&host->arena, sizeof(*attr));

		if (!attr)
			return -ENOMEM;
		*attr = event->attr;
		host->facts[i] = (struct dlfilter_event_facts){
		    .event = event,
		    .attr = (void *)attr,
		    .correlates = correlates(attr),
		};
	}
	return 0;
}

static void fill_weight(const struct tally_sample *sample, struct perf_dlfilter_sample *to)
{
	to->weight = sample->weight;
	if (!(sample->present & PERF_SAMPLE_WEIGHT_STRUCT))
		return;
	to->weight &= UINT32_MAX;
#if defined(__x86_64__) || defined(__i386__) || defined(__powerpc__)
	to->ins_lat = (uint16_t)(sample->weight >> 32);
#endif
#ifdef __powerpc__
	to->p_stage_cyc = (uint16_t)(sample->weight >> 48);
#endif
}

/* Fields that few samples have. */
static void fill_rare(const struct tally_sample *sample, struct perf_dlfilter_sample *to)
{
	uint64_t has = sample->present;

	if (has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		fill_weight(sample, to);
	if (has & PERF_SAMPLE_TRANSACTION)
		to->transaction = sample->transaction;
	if (has & PERF_SAMPLE_DATA_SRC)
		to->data_src = sample->data_src;
	if (has & PERF_SAMPLE_PHYS_ADDR)
		to->phys_addr = sample->phys_addr;
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		to->data_page_size = sample->data_page_size;
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		to->code_page_size = sample->code_page_size;
	if (has & PERF_SAMPLE_CGROUP)
		to->cgroup = sample->cgroup;
	if (has & PERF_SAMPLE_BRANCH_STACK) {
		to->brstack_nr = sample->branch_nr;
		to->brstack = (const void *)sample->branches;
	}
}

#define RARE                                                                         \
	(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION |  \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | \
	 PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_CGROUP | PERF_SAMPLE_BRANCH_STACK)

void tally_dlfilter_fill(struct tally_dlfilters *host, const struct tally_filter_call *call,
			 struct perf_dlfilter_sample *to)
{
	const struct tally_sample *sample = &call->sample->sample;
	const struct dlfilter_event_facts *facts = &host->facts[call->sample->event];
	uint64_t has = sample->present;

	*to = (struct perf_dlfilter_sample){
	    .size = sizeof(*to),
	    .ip = has & PERF_SAMPLE_IP ? sample->ip : 0,
	    .pid = has & PERF_SAMPLE_TID ? (int32_t)sample->pid : -1,
	    .tid = has & PERF_SAMPLE_TID ? (int32_t)sample->tid : -1,
	    .time = has & PERF_SAMPLE_TIME ? sample->time : UINT64_MAX,
	    .addr = has & PERF_SAMPLE_ADDR ? sample->addr : 0,
	    .id = has & PERF_SAMPLE_ID           ? sample->id
		  : has & PERF_SAMPLE_IDENTIFIER ? sample->identifier
						 : UINT64_MAX,
	    .stream_id = has & PERF_SAMPLE_STREAM_ID ? sample->stream_id : UINT64_MAX,
	    .period = has & PERF_SAMPLE_PERIOD ? sample->period : facts->event->attr.sample_period,
	    .cpu = has & PERF_SAMPLE_CPU ? (int32_t)sample->cpu : -1,
	    .data_src = NO_DATA_SRC,
	    .cpumode = call->sample->cpumode,
	    .addr_correlates_sym = facts->correlates,
	    .misc = call->record->misc,
	    .event = facts->event->name,
	    .vcpu = -1,
	};
	if (has & PERF_SAMPLE_RAW) {
		to->raw_size = sample->raw_size;
		to->raw_data = sample->raw;
	}
	if (has & PERF_SAMPLE_CALLCHAIN) {
		to->raw_callchain_nr = sample->callchain_nr;
		to->raw_callchain = (const void *)sample->callchain;
	}
	if (has & RARE)
		fill_rare(sample, to);
}
