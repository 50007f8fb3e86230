/* What an event is to derived values.  Source of the names: perf 6.1's stat, which knows the events
 * of transactions, slots and SMIs by them. */
#include <linux/perf_event.h>
#include <string.h>
#include "stat/stat.h"

#define CACHE(cache, result) \
	(PERF_COUNT_HW_CACHE_##cache | (uint32_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

struct by_config {
	uint32_t config;
	enum stat_kind kind;
};

static const struct by_config hardware[] = {
    {PERF_COUNT_HW_CPU_CYCLES, STAT_CYCLES},
    {PERF_COUNT_HW_INSTRUCTIONS, STAT_INSTRUCTIONS},
    {PERF_COUNT_HW_CACHE_REFERENCES, STAT_CACHE_REFS},
    {PERF_COUNT_HW_CACHE_MISSES, STAT_CACHE_MISSES},
    {PERF_COUNT_HW_BRANCH_INSTRUCTIONS, STAT_BRANCHES},
    {PERF_COUNT_HW_BRANCH_MISSES, STAT_BRANCH_MISSES},
    {PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, STAT_STALLED_FRONT},
    {PERF_COUNT_HW_STALLED_CYCLES_BACKEND, STAT_STALLED_BACK},
};

/* Of reads. */
static const struct by_config caches[] = {
    {CACHE(L1D, ACCESS), STAT_L1D},   {CACHE(L1D, MISS), STAT_L1D_MISSES},
    {CACHE(L1I, ACCESS), STAT_L1I},   {CACHE(L1I, MISS), STAT_L1I_MISSES},
    {CACHE(LL, ACCESS), STAT_LL},     {CACHE(LL, MISS), STAT_LL_MISSES},
    {CACHE(DTLB, ACCESS), STAT_DTLB}, {CACHE(DTLB, MISS), STAT_DTLB_MISSES},
    {CACHE(ITLB, ACCESS), STAT_ITLB}, {CACHE(ITLB, MISS), STAT_ITLB_MISSES},
};

static const struct {
	const char *name;
	enum stat_kind kind;
} names[] = {
    {"cpu/cycles-t/", STAT_TX_CYCLES},
    {"cpu/tx-start/", STAT_TX_STARTS},
    {"cpu/el-start/", STAT_TX_ELISIONS},
    {"cpu/cycles-ct/", STAT_TX_CYCLES_CP},
    {"topdown-total-slots", STAT_TD_TOTAL},
    {"topdown-slots-issued", STAT_TD_ISSUED},
    {"topdown-slots-retired", STAT_TD_RETIRED},
    {"topdown-fetch-bubbles", STAT_TD_FETCH},
    {"topdown-recovery-bubbles", STAT_TD_RECOVERY},
    {"topdown-retiring", STAT_TD_RETIRING},
    {"topdown-bad-spec", STAT_TD_BAD},
    {"topdown-fe-bound", STAT_TD_FRONT},
    {"topdown-be-bound", STAT_TD_BACK},
    {"topdown-heavy-ops", STAT_TD_HEAVY},
    {"topdown-br-mispredict", STAT_TD_MISPREDICT},
    {"topdown-fetch-lat", STAT_TD_LATENCY},
    {"topdown-mem-bound", STAT_TD_MEMORY},
    {"msr/smi/", STAT_SMI},
    {"msr/aperf/", STAT_APERF},
};

static enum stat_kind find(const struct by_config *rows, size_t count, uint32_t config)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].config == config)
			return rows[i].kind;
	return STAT_OTHER;
}

enum stat_kind tally_stat_kind(const struct tally_stat_event *event)
{
	const struct tally_attr *attr = &event->attr;
	/* Where there are several kinds of core, the upper half is the PMU's type. */
	uint32_t config = (uint32_t)attr->config;
	const char *name = event->name ? event->name : "";

	if (event->tool)
		return STAT_OTHER;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config == PERF_COUNT_SW_CPU_CLOCK ||
			       attr->config == PERF_COUNT_SW_TASK_CLOCK
			   ? STAT_CLOCK
			   : STAT_OTHER;
	if (attr->type == PERF_TYPE_HARDWARE)
		return find(hardware, sizeof(hardware) / sizeof(*hardware), config);
	if (attr->type == PERF_TYPE_HW_CACHE)
		return find(caches, sizeof(caches) / sizeof(*caches), config);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i].name) ||
		    (event->pmu && strstr(name, names[i].name) && strstr(name, event->pmu)))
			return names[i].kind;
	return STAT_OTHER;
}
