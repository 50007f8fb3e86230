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

#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640) /* Linux 6.19 */

#ifdef __cplusplus
}
#endif

#endif
