/* Traces of which the reader needs to know little: ARM's statistical profiling, HiSilicon's of
 * PCIe, and the sampling facility of s390. */
#include <string.h>
#include <time.h>
#include <tally/abi.h>
#include "aux/aux_kind.h"

/* The largest that the hardware may demand (PMSIDR_EL1.Interval). */
#define SPE_INTERVAL 4096

static uint64_t clock_reference(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec ^ (uint64_t)now.tv_nsec;
}

static int prepare_spe(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		       struct tally_attr *attr, struct tally_error *error)
{
	uint64_t least = SPE_INTERVAL;

	(void)error;
	tally_aux_read(plan, "caps/min_interval", 10, &least);
	attr->freq = 0;
	if (!event->period_given || attr->sample_period < least)
		attr->sample_period = least;
	/* Times of the trace and of records are put together. */
	if (plan->per_cpu && !strstr(event->name, "ts_enable"))
		attr->config |= tally_aux_field(plan, "ts_enable");
	/* These make no difference to the kernel: they say what the decoded samples will have. */
	attr->sample_type |= PERF_SAMPLE_DATA_SRC;
	if (attr->config & tally_aux_field(plan, "pa_enable"))
		attr->sample_type |= PERF_SAMPLE_PHYS_ADDR;
	plan->wants_switches = plan->per_cpu;
	return 0;
}

static void info_spe(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		     const char *filter, const struct tally_record_time_conv *conv,
		     struct tally_buf *to)
{
	(void)filter;
	(void)conv;
	tally_buf_u64(to, attr->type);
	tally_buf_u64(to, plan->per_cpu);
}

const struct tally_aux_kind tally_aux_arm_spe = {
    .type = TALLY_AUX_ARM_SPE,
    .pmu = "arm_spe_*",
    .prepare = prepare_spe,
    .info = info_spe,
    .reference = clock_reference,
    .align = 1,
    .least_bytes = 8192,
};

/* --- HiSilicon's PCIe tune and trace --- */

static int prepare_ptt(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		       struct tally_attr *attr, struct tally_error *error)
{
	(void)plan;
	(void)event;
	(void)error;
	attr->freq = 0;
	attr->sample_period = 1;
	return 0;
}

static void info_ptt(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		     const char *filter, const struct tally_record_time_conv *conv,
		     struct tally_buf *to)
{
	(void)plan;
	(void)filter;
	(void)conv;
	tally_buf_u64(to, attr->type);
}

const struct tally_aux_kind tally_aux_hisi_ptt = {
    .type = TALLY_AUX_HISI_PTT,
    .pmu = "hisi_ptt*",
    .prepare = prepare_ptt,
    .info = info_ptt,
    .reference = clock_reference,
    .align = 1,
    .least_bytes = 4u << 20,
};

/* --- s390 --- */

/* Of all events of the facility only that of diagnostic samples has a trace. */
#define SF_DIAGNOSTIC 0xbd000

static bool traces_sf(const struct tally_attr *attr)
{
	return attr->config == SF_DIAGNOSTIC;
}

static int prepare_sf(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		      struct tally_attr *attr, struct tally_error *error)
{
	(void)plan;
	(void)event;
	(void)attr;
	(void)error;
	return 0; /* its frequency is the facility's */
}

static void info_sf(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		    const char *filter, const struct tally_record_time_conv *conv,
		    struct tally_buf *to)
{
	(void)plan;
	(void)attr;
	(void)filter;
	(void)conv;
	(void)to; /* no words: the type says all */
}

static uint64_t no_reference(void)
{
	return 0;
}

const struct tally_aux_kind tally_aux_s390_sf = {
    .type = TALLY_AUX_S390_SF,
    .pmu = "cpum_sf",
    .traces = traces_sf,
    .prepare = prepare_sf,
    .info = info_sf,
    .reference = no_reference,
    .align = 1,
    .least_bytes = 4096,
};
