/* The kernel's perf_event constants, newest kernel, under the kernel's own names.
 *
 * This header includes the system's <linux/perf_event.h>.  Constants that are newer than Linux 6.1
 * (the headers of Debian 12) are defined here too, with the same name and value, so that a program
 * can include both. */
#ifndef TALLY_ABI_H
#define TALLY_ABI_H

#include <linux/perf_event.h>
#include <stdint.h>

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

#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640) /* Linux 6.19 */

#ifdef __cplusplus
}
#endif

#endif
