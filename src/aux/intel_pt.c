/* Intel's traces: Processor Trace, and the older Branch Trace Store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "aux/aux_kind.h"
#include "base/bytes.h"
#include "base/fail.h"

/* Words of AUXTRACE_INFO. */
enum pt_word {
	PT_PMU_TYPE,
	PT_TIME_SHIFT,
	PT_TIME_MULT,
	PT_TIME_ZERO,
	PT_CAP_USER_TIME_ZERO,
	PT_TSC_BIT,
	PT_NORETCOMP_BIT,
	PT_HAVE_SCHED_SWITCH,
	PT_SNAPSHOT_MODE,
	PT_PER_CPU_MMAPS,
	PT_MTC_BIT,
	PT_MTC_FREQ_BITS,
	PT_TSC_CTC_N,
	PT_TSC_CTC_D,
	PT_CYC_BIT,
	PT_MAX_NONTURBO_RATIO,
	PT_FILTER_STR_LEN,
	PT_WORDS
};

/* PT_HAVE_SCHED_SWITCH: where decoders find context switches. */
#define SWITCHES_NONE 0
#define SWITCHES_TASK 2 /* PERF_RECORD_SWITCH of the traced threads */
#define SWITCHES_CPU  3 /* PERF_RECORD_SWITCH_CPU_WIDE of all */

#if defined(__x86_64__) || defined(__i386__)
static uint64_t time_stamp(void)
{
	return __builtin_ia32_rdtsc();
}
#else
static uint64_t time_stamp(void)
{
	return 0;
}
#endif

/* The values that a mask has, "0,3-6". */
static void name_values(uint64_t mask, char *to, size_t room)
{
	size_t length = 0;

	*to = 0;
	for (unsigned from = 0; from < 64 && length < room; from++) {
		unsigned last = from;

		if (!(mask >> from & 1))
			continue;
		while (last < 63 && mask >> (last + 1) & 1)
			last++;
		length += (size_t)(last == from ? snprintf(to + length, room - length, "%s%u",
							   length ? "," : "", from)
						: snprintf(to + length, room - length, "%s%u-%u",
							   length ? "," : "", from, last));
		from = last;
	}
}

/* A field whose values the processor has only some of. */
static int check_field(const struct tally_aux_plan *plan, const char *event, uint64_t config,
		       const char *field, const char *values, const char *supported,
		       struct tally_error *error)
{
	uint64_t mask = 0, has = 1,
		 value = tally_aux_field_of(config, tally_aux_field(plan, field));
	char names[128];

	if (!tally_aux_read(plan, values, 16, &mask) ||
	    (tally_aux_read(plan, supported, 10, &has) && !has))
		mask = 0;
	mask |= 1;
	if (value < 64 && mask >> value & 1)
		return 0;
	name_values(mask, names, sizeof(names));
	return tally_fail(error, -EINVAL, -1,
			  "%s: this processor has no %s of %llu; its values are %s", event, field,
			  (unsigned long long)value, names);
}

static int prepare_pt(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		      struct tally_attr *attr, struct tally_error *error)
{
	uint64_t tsc = tally_aux_field(plan, "tsc");
	int result;

	attr->freq = 0;
	attr->sample_period = 1;
	/* Without the bit that makes the other ones valid the kernel refuses the config. */
	if (tally_aux_field(plan, "pt"))
		attr->config |= 1;
	result = check_field(plan, event->name, attr->config, "cyc_thresh", "caps/cycle_thresholds",
			     "caps/psb_cyc", error);
	if (!result)
		result = check_field(plan, event->name, attr->config, "mtc_period",
				     "caps/mtc_periods", "caps/mtc", error);
	if (!result)
		result = check_field(plan, event->name, attr->config, "psb_period",
				     "caps/psb_periods", "caps/psb_cyc", error);
	if (result)
		return result;
	/* Of a trace with times, switches say which thread runs on a CPU. */
	plan->wants_switches = plan->per_cpu && attr->config & tsc;
	return 0;
}

static void info_pt(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		    const char *filter, const struct tally_record_time_conv *conv,
		    struct tally_buf *to)
{
	size_t length = filter ? strlen(filter) : 0;
	uint64_t words[PT_WORDS] = {0}, event_trace;

	words[PT_PMU_TYPE] = attr->type;
	if (conv) {
		words[PT_TIME_SHIFT] = conv->time_shift;
		words[PT_TIME_MULT] = conv->time_mult;
		words[PT_TIME_ZERO] = conv->time_zero;
		words[PT_CAP_USER_TIME_ZERO] = 1;
	}
	words[PT_TSC_BIT] = tally_aux_field(plan, "tsc");
	words[PT_NORETCOMP_BIT] = tally_aux_field(plan, "noretcomp");
	words[PT_HAVE_SCHED_SWITCH] = !plan->wants_switches ? SWITCHES_NONE
				      : plan->by_task       ? SWITCHES_TASK
							    : SWITCHES_CPU;
	words[PT_SNAPSHOT_MODE] = plan->mode == TALLY_AUX_SNAPSHOT;
	words[PT_PER_CPU_MMAPS] = plan->per_cpu;
	words[PT_MTC_BIT] = tally_aux_field(plan, "mtc");
	words[PT_MTC_FREQ_BITS] = tally_aux_field(plan, "mtc_period");
	words[PT_TSC_CTC_N] = plan->tsc_ctc[0];
	words[PT_TSC_CTC_D] = plan->tsc_ctc[1];
	words[PT_CYC_BIT] = tally_aux_field(plan, "cyc");
	tally_aux_read(plan, "max_nonturbo_ratio", 10, &words[PT_MAX_NONTURBO_RATIO]);
	words[PT_FILTER_STR_LEN] = length;
	tally_buf_add(to, words, sizeof(words));
	if (length) {
		tally_buf_add(to, filter, length);
		tally_buf_zero(to, align_up(length + 1, 8) - length);
	}
	/* perf 5.18 and newer; their readers take a record without it. */
	if (tally_aux_read(plan, "caps/event_trace", 10, &event_trace))
		tally_buf_u64(to, event_trace);
}

const struct tally_aux_kind tally_aux_intel_pt = {
    .type = TALLY_AUX_INTEL_PT,
    .pmu = "intel_pt",
    .prepare = prepare_pt,
    .info = info_pt,
    .reference = time_stamp,
    .align = 1,
    .least_bytes = 8192,
    .samples = true,
    .no_clockid = true,
};

/* --- Branch Trace Store --- */

static int prepare_bts(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		       struct tally_attr *attr, struct tally_error *error)
{
	(void)plan;
	(void)event;
	(void)error;
	attr->freq = 0;
	attr->sample_period = 1;
	return 0;
}

static void info_bts(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		     const char *filter, const struct tally_record_time_conv *conv,
		     struct tally_buf *to)
{
	(void)filter;
	tally_buf_u64(to, attr->type);
	tally_buf_u64(to, conv ? conv->time_shift : 0);
	tally_buf_u64(to, conv ? conv->time_mult : 0);
	tally_buf_u64(to, conv ? conv->time_zero : 0);
	tally_buf_u64(to, conv != NULL);
	tally_buf_u64(to, plan->mode == TALLY_AUX_SNAPSHOT);
}

const struct tally_aux_kind tally_aux_intel_bts = {
    .type = TALLY_AUX_INTEL_BTS,
    .pmu = "intel_bts",
    .prepare = prepare_bts,
    .info = info_bts,
    .reference = time_stamp,
    .align = 24, /* from, to, flags */
    .least_bytes = 8192,
    .per_thread_only = true,
};
