/* The kernel's generic events: hardware and software, under perf's names for them. */
#include <linux/perf_event.h>
#include <string.h>
#include "event/family.h"

#ifndef PERF_COUNT_SW_CGROUP_SWITCHES
#define PERF_COUNT_SW_CGROUP_SWITCHES 11 /* Linux 5.13 */
#endif

/* Several names may share a config; the first is the canonical one.  Sources: enum perf_hw_id and
 * perf_sw_ids of include/uapi/linux/perf_event.h; the names: perf-list(1). */
static const struct {
	const char *name;
	uint32_t type, config;
} names[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
    {"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
    {"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

bool tally_generic_find(const struct event_word *word, struct tally_attr *ret)
{
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (!tally_word_is(word, names[i].name))
			continue;
		*ret = (struct tally_attr){.type = names[i].type, .config = names[i].config};
		return true;
	}
	return false;
}

enum tally_tool_event tally_generic_tool(const struct event_word *word)
{
	if (tally_word_is(word, "duration_time"))
		return TALLY_TOOL_DURATION_TIME;
	if (tally_word_is(word, "user_time"))
		return TALLY_TOOL_USER_TIME;
	return tally_word_is(word, "system_time") ? TALLY_TOOL_SYSTEM_TIME : TALLY_TOOL_NONE;
}

const char *tally_generic_name(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (names[i].type == type && names[i].config == config)
			return names[i].name;
	return NULL;
}

size_t tally_generic_names(const char **ret, size_t room)
{
	for (size_t i = 0; i < NAME_COUNT && i < room; i++)
		ret[i] = names[i].name;
	return NAME_COUNT;
}
