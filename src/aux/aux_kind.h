/* Hardware that writes a trace to an AUX area, a row each: what perf's decoders must know of it,
 * and what its event needs.
 *
 * Source: the AUXTRACE_INFO records that perf 4.14 to 6.1 writes, as their readers take them apart
 * (tools/perf/util/intel-pt.h, intel-bts.h, arm-spe.h, cs-etm.h, hisi-ptt.h, s390-cpumsf.c);
 * perf-intel-pt(1), perf-arm-spe(1), perf-arm-coresight(1); the drivers' files in sysfs. */
#ifndef TALLY_AUX_AUX_KIND_H
#define TALLY_AUX_AUX_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>
#include <tally/error.h>
#include <tally/record.h>
#include "base/buf.h"

/* The type of an AUXTRACE_INFO record. */
enum tally_aux_type {
	TALLY_AUX_NONE,
	TALLY_AUX_INTEL_PT,
	TALLY_AUX_INTEL_BTS,
	TALLY_AUX_CS_ETM,
	TALLY_AUX_ARM_SPE,
	TALLY_AUX_S390_SF,
	TALLY_AUX_HISI_PTT,
};

enum tally_aux_mode {
	TALLY_AUX_WHOLE,    /* all of it is drained */
	TALLY_AUX_SNAPSHOT, /* the newest bytes, when a person asks */
	TALLY_AUX_SAMPLED,  /* each sample of other events has the newest bytes */
};

/* How the trace is recorded. */
struct tally_aux_plan {
	const struct tally_aux_kind *kind; /* NULL: there is none */
	const char *root;                  /* the folder that holds sys; "" for / */
	char pmu[64];                      /* its folder in sysfs */
	enum tally_aux_mode mode;
	size_t event;         /* index of its event */
	size_t pages;         /* of each area, a power of two */
	size_t snapshot_size; /* bytes; 0: all */
	bool per_cpu;         /* an area for each CPU, not for each thread */
	bool by_task;         /* the targets are threads, not all that runs */
	bool wants_switches;  /* decoders need records of context switches */
	const uint32_t *cpus;
	size_t cpu_count;
	uint32_t tsc_ctc[2]; /* CPUID leaf 0x15, ebx and eax; 0: unknown */
};

/* What an event asked for besides its attr. */
struct tally_aux_event {
	const char *name;   /* as a person wrote it */
	const char *driver; /* the terms with @, or NULL */
	bool period_given;
};

struct tally_aux_kind {
	enum tally_aux_type type;
	const char *pmu; /* folder in sysfs; '*' at its end: a number */
	/* Whether an attr of the PMU has a trace; NULL: all have. */
	bool (*traces)(const struct tally_attr *attr);
	/* Completes the attr, checks it, sets wants_switches.  0 or -errno with words. */
	int (*prepare)(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		       struct tally_attr *attr, struct tally_error *error);
	/* Adds the private words of AUXTRACE_INFO; conv NULL: the CPU's clock is not perf's time.
	 */
	void (*info)(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		     const char *filter, const struct tally_record_time_conv *conv,
		     struct tally_buf *to);
	uint64_t (*reference)(
	    void);          /* a word of each AUXTRACE record: no two takes have the same */
	size_t align;       /* bytes of an entry of the trace; 1: anything */
	size_t least_bytes; /* of an area */
	bool samples;       /* may be sampled */
	bool per_thread_only, per_cpu_only;
	bool no_clockid;
};

extern const struct tally_aux_kind tally_aux_intel_pt, tally_aux_intel_bts, tally_aux_cs_etm,
    tally_aux_arm_spe, tally_aux_s390_sf, tally_aux_hisi_ptt;

/* The kind of an event of the PMU `pmu` (a folder of sysfs), or NULL: it has no trace. */
const struct tally_aux_kind *tally_aux_kind_find(const char *pmu, const struct tally_attr *attr);
/* What a person who asked for a trace may record with, "intel_pt, arm_spe_0": the PMUs with traces
 * that the machine has; "" when there is none.  Returns `to`. */
const char *tally_aux_kinds_here(const char *root, char *to, size_t room);

/* A number in a file of the plan's PMU; false: there is none. */
bool tally_aux_read(const struct tally_aux_plan *plan, const char *file, int base, uint64_t *ret);
/* The bits of attr.config that a field has; 0: the PMU has no such field. */
uint64_t tally_aux_field(const struct tally_aux_plan *plan, const char *name);
/* The value of a field in a config. */
uint64_t tally_aux_field_of(uint64_t config, uint64_t field);

#endif
