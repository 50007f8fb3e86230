/* The names of the kernel's own events: hardware, software and caches. */
#ifndef TALLY_ABI_EVENT_NAMES_H
#define TALLY_ABI_EVENT_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <tally/abi.h>

struct tally_abi_event {
	char name[24];
	uint32_t type, config; /* PERF_TYPE_HARDWARE or _SOFTWARE, PERF_COUNT_* */
};

/* Several names may have the same config; the first is the one to print. */
extern const struct tally_abi_event tally_abi_events[];
extern const size_t tally_abi_event_count;

/* The name to print; NULL: there is no such event. */
const char *tally_abi_event_name(uint32_t type, uint64_t config);

struct tally_abi_cache {
	unsigned operations;  /* that can be counted: a bit for each PERF_COUNT_HW_CACHE_OP_* */
	const char *words[6]; /* its names, the one to print first; then NULL */
};

/* By PERF_COUNT_HW_CACHE_*; and by operation and result, what stands behind the name. */
extern const struct tally_abi_cache tally_abi_caches[PERF_COUNT_HW_CACHE_MAX];
extern const char
    *const tally_abi_cache_counts[PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX];

#endif
