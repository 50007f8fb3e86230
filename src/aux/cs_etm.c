/* CoreSight: the trace units of ARM processors (ETM 3 and 4, ETE). */
#include "aux/cs_etm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "aux/aux_kind.h"
#include "base/fail.h"

#define HEADER_VERSION 1

/* Bits of attr.config.  Source: include/linux/coresight-pmu.h. */
#define OPT_BRANCH_BROADCAST 8
#define OPT_CYCACC           12
#define OPT_CTXTID           14
#define OPT_CTXTID2          15
#define OPT_TS               28
#define OPT_RETSTK           29

/* A word in which a decoder finds the registers' version.  Source: tools/perf/util/cs-etm.h. */
static const struct {
	uint64_t magic;
	size_t registers;
} versions[] = {
    [TALLY_ETM_3] = {0x3030303030303030ULL, 4},
    [TALLY_ETM_4] = {0x4040404040404040ULL, 7},
    [TALLY_ETE] = {0x5050505050505050ULL, 8},
};

void tally_etm_words(uint32_t pmu_type, bool snapshot, const struct tally_etm_unit *units,
		     size_t count, struct tally_buf *to)
{
	tally_buf_u64(to, HEADER_VERSION);
	tally_buf_u64(to, (uint64_t)pmu_type << 32 | count);
	tally_buf_u64(to, snapshot);
	for (size_t i = 0; i < count; i++) {
		const struct tally_etm_unit *unit = &units[i];

		tally_buf_u64(to, versions[unit->version].magic);
		tally_buf_u64(to, unit->cpu);
		tally_buf_u64(to, versions[unit->version].registers);
		tally_buf_add(to, unit->registers,
			      versions[unit->version].registers * sizeof(*unit->registers));
	}
}

static bool read_register(const struct tally_aux_plan *plan, uint32_t cpu, const char *name,
			  uint64_t *ret)
{
	char file[64];

	snprintf(file, sizeof(file), "cpu%u/%s", cpu, name);
	return tally_aux_read(plan, file, 16, ret);
}

/* The options as the unit's own register has them.  Source: the TRCCONFIGR of ARM IHI 0064. */
static uint64_t trcconfigr(uint64_t config)
{
	static const struct {
		unsigned option;
		uint64_t bits;
	} map[] = {
	    {OPT_BRANCH_BROADCAST, 1 << 3},      {OPT_CYCACC, 1 << 4}, {OPT_CTXTID, 1 << 6},
	    {OPT_CTXTID2, (1 << 7) | (1 << 15)}, {OPT_TS, 1 << 11},    {OPT_RETSTK, 1 << 12},
	};
	uint64_t bits = 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (config >> map[i].option & 1)
			bits |= map[i].bits;
	return bits;
}

/* An architecture of version 5, of the part that ETM and ETE share. */
static bool is_ete(uint64_t devarch)
{
	return (devarch & 0xffff) == 0x5a13;
}

static void read_unit(const struct tally_aux_plan *plan, uint32_t cpu, uint64_t config,
		      struct tally_etm_unit *ret)
{
	/* The ids that kernels give before 6.2; newer ones say them in AUX_OUTPUT_HW_ID records,
	 * which come first for a decoder. */
	uint64_t id = 0x10 + 2 * (uint64_t)cpu;

	*ret = (struct tally_etm_unit){.cpu = cpu};
	if (!read_register(plan, cpu, "trcidr/trcidr0", &ret->registers[2])) {
		ret->registers[0] = config;
		ret->registers[1] = id;
		read_register(plan, cpu, "mgmt/etmccer", &ret->registers[2]);
		read_register(plan, cpu, "mgmt/etmidr", &ret->registers[3]);
		return;
	}
	ret->version = TALLY_ETM_4;
	ret->registers[0] = trcconfigr(config);
	ret->registers[1] = id;
	read_register(plan, cpu, "trcidr/trcidr1", &ret->registers[3]);
	read_register(plan, cpu, "trcidr/trcidr2", &ret->registers[4]);
	read_register(plan, cpu, "trcidr/trcidr8", &ret->registers[5]);
	read_register(plan, cpu, "mgmt/trcauthstatus", &ret->registers[6]);
	if (read_register(plan, cpu, "mgmt/trcdevarch", &ret->registers[7]) &&
	    is_ete(ret->registers[7]))
		ret->version = TALLY_ETE;
}

static void info_etm(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		     const char *filter, const struct tally_record_time_conv *conv,
		     struct tally_buf *to)
{
	struct tally_etm_unit *units = calloc(plan->cpu_count + 1, sizeof(*units));

	(void)filter;
	(void)conv;
	if (!units) {
		to->failed = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < plan->cpu_count; i++)
		read_unit(plan, plan->cpus[i], attr->config, &units[i]);
	tally_etm_words(attr->type, plan->mode == TALLY_AUX_SNAPSHOT, units, plan->cpu_count, to);
	free(units);
}

/* --- the event --- */

static unsigned bits_of(uint64_t value, unsigned from, unsigned to)
{
	return (unsigned)(value >> from & ((1ULL << (to - from + 1)) - 1));
}

/* The thread's id in the trace: where the units can write it, by the kernel's choice of register.
 */
static int add_thread_ids(const struct tally_aux_plan *plan, const char *event,
			  struct tally_attr *attr, struct tally_error *error)
{
	uint64_t both = 1ULL << OPT_CTXTID | 1ULL << OPT_CTXTID2, asked = attr->config & both;

	if (!asked)
		asked = tally_aux_field(plan, "contextid");
	for (size_t i = 0; i < plan->cpu_count; i++) {
		uint64_t id;

		if (!read_register(plan, plan->cpus[i], "trcidr/trcidr2", &id))
			continue; /* ETM 3 has its own option */
		if (asked >> OPT_CTXTID & 1 && bits_of(id, 5, 9) != 4)
			return tally_fail(
			    error, -EOPNOTSUPP, -1,
			    "%s: the trace unit of CPU %u cannot write CONTEXTIDR_EL1: "
			    "add contextid=0, contextid1=0",
			    event, plan->cpus[i]);
		if (asked >> OPT_CTXTID2 & 1 && (!bits_of(id, 29, 30) || bits_of(id, 10, 14) < 4))
			return tally_fail(
			    error, -EOPNOTSUPP, -1,
			    "%s: the trace unit of CPU %u cannot write CONTEXTIDR_EL2: "
			    "add contextid2=0",
			    event, plan->cpus[i]);
	}
	attr->config |= asked & both;
	return 0;
}

/* Times in the trace, if all units have them. */
static void add_times(const struct tally_aux_plan *plan, struct tally_attr *attr)
{
	for (size_t i = 0; i < plan->cpu_count; i++) {
		uint64_t id;

		if (!read_register(plan, plan->cpus[i], "trcidr/trcidr0", &id) ||
		    !bits_of(id, 24, 28))
			return;
	}
	attr->config |= 1ULL << OPT_TS;
}

/* "@tmc_etr0": where the trace goes to, by a hash that sysfs has. */
static int choose_sink(const struct tally_aux_plan *plan, const struct tally_aux_event *event,
		       struct tally_attr *attr, struct tally_error *error)
{
	char file[128];
	uint64_t hash;

	if (!event->driver || attr->config2 & UINT32_MAX)
		return 0;
	if (strchr(event->driver, '/') ||
	    snprintf(file, sizeof(file), "sinks/%s", event->driver) >= (int)sizeof(file) ||
	    !tally_aux_read(plan, file, 16, &hash))
		return tally_fail(error, -ENOENT, -1,
				  "%s: there is no sink %s in "
				  "/sys/bus/event_source/devices/%s/sinks",
				  event->name, event->driver, plan->pmu);
	attr->config2 |= hash & UINT32_MAX;
	return 0;
}

static int prepare_etm(struct tally_aux_plan *plan, const struct tally_aux_event *event,
		       struct tally_attr *attr, struct tally_error *error)
{
	int result = choose_sink(plan, event, attr, error);

	if (result)
		return result;
	attr->freq = 0;
	attr->sample_period = 1;
	plan->wants_switches = true;
	if (!plan->per_cpu)
		return 0;
	if (!strstr(event->name, "contextid"))
		result = add_thread_ids(plan, event->name, attr, error);
	if (!result && !strstr(event->name, "timestamp"))
		add_times(plan, attr);
	return result;
}

/* Two takes of one area differ by it, which is all that decoders ask. */
static uint64_t any_reference(void)
{
	return (uint64_t)random() << 32 | (uint32_t)random();
}

const struct tally_aux_kind tally_aux_cs_etm = {
    .type = TALLY_AUX_CS_ETM,
    .pmu = "cs_etm",
    .prepare = prepare_etm,
    .info = info_etm,
    .reference = any_reference,
    .align = 1,
    .least_bytes = 4096,
    .samples = true,
    .no_clockid = true,
    .per_cpu_only = true, /* its description lists CPUs */
};
