/* The kernel's perf_event constants, newest kernel, under the kernel's own names.
 *
 * The system's <linux/perf_event.h> gives what it knows; what came later than Linux 6.1 (Debian
 * 12's headers) is a macro here, of the same name and value, so that both may be included. */
#ifndef TALLY_ABI_H
#define TALLY_ABI_H

#include <linux/perf_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* attr.size by kernel; source: PERF_ATTR_SIZE_VER* of include/uapi/linux/perf_event.h */
#ifndef PERF_ATTR_SIZE_VER8
#define PERF_ATTR_SIZE_VER8 136 /* config3, Linux 6.3 */
#endif
#ifndef PERF_ATTR_SIZE_VER9
#define PERF_ATTR_SIZE_VER9 144 /* config4, Linux 6.19 */
#endif

#define PERF_SAMPLE_BRANCH_COUNTERS_SHIFT 19
#define PERF_SAMPLE_BRANCH_COUNTERS       (1U << 19) /* Linux 6.8 */

/* AUX and callchain records after Linux 6.1 */
#define PERF_RECORD_CALLCHAIN_DEFERRED 22               /* Linux 6.19 */
#define PERF_CONTEXT_USER_DEFERRED     ((uint64_t)-640) /* Linux 6.19 */

/* Record types that the perf tool writes (they are not the kernel's).  Source: the perf.data
 * format as written by perf 2.6.32 to 7.0 (tools/lib/perf/include/perf/event.h). */
enum tally_tool_record {
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_EVENT_TYPE = 65, /* no longer written */
	PERF_RECORD_HEADER_TRACING_DATA = 66,
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_ID_INDEX = 69,
	PERF_RECORD_AUXTRACE_INFO = 70,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_AUXTRACE_ERROR = 72,
	PERF_RECORD_THREAD_MAP = 73,
	PERF_RECORD_CPU_MAP = 74,
	PERF_RECORD_STAT_CONFIG = 75,
	PERF_RECORD_STAT = 76,
	PERF_RECORD_STAT_ROUND = 77,
	PERF_RECORD_EVENT_UPDATE = 78,
	PERF_RECORD_TIME_CONV = 79,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_FINISHED_INIT = 82,
	PERF_RECORD_COMPRESSED2 = 83,
	PERF_RECORD_BPF_METADATA = 84,
	PERF_RECORD_SCHEDSTAT_CPU = 85,
	PERF_RECORD_SCHEDSTAT_DOMAIN = 86,
};

/* misc of HEADER_BUILD_ID: its size byte says how long the id is; else it is 20 bytes. */
#define PERF_RECORD_MISC_BUILD_ID_SIZE (1 << 15)

/* Record types that simpleperf writes.  Source: the files themselves and simpleperf's record.h. */
enum tally_simpleperf_record {
	SIMPLE_PERF_RECORD_KERNEL_SYMBOL = 32769,
	SIMPLE_PERF_RECORD_DSO,
	SIMPLE_PERF_RECORD_SYMBOL,
	SIMPLE_PERF_RECORD_SPLIT,
	SIMPLE_PERF_RECORD_SPLIT_END,
	SIMPLE_PERF_RECORD_EVENT_ID,
	SIMPLE_PERF_RECORD_CALLCHAIN,
	SIMPLE_PERF_RECORD_UNWINDING_RESULT,
	SIMPLE_PERF_RECORD_TRACING_DATA,
	SIMPLE_PERF_RECORD_DEBUG,
};

#ifdef __cplusplus
}
#endif

#endif
