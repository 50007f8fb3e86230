/* libpfm4's <perfmon/pfmlib_perf_event.h> over libtally: event names to attrs of
 * perf_event_open(2). */
#ifndef TALLY_LIBPFM4_PFMLIB_PERF_EVENT_H
#define TALLY_LIBPFM4_PFMLIB_PERF_EVENT_H

#include <perfmon/perf_event.h>
#include <perfmon/pfmlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As struct tally_pfm_perf_encode_arg. */
typedef struct {
	struct perf_event_attr *attr;
	char **fstr;
	size_t size;
	int idx;
	int cpu;
	int flags;
	int pad0;
} pfm_perf_encode_arg_t;

/* Its size as first published. */
#if __SIZEOF_POINTER__ == 8
#define PFM_PERF_ENCODE_ABI0 40
#else
#define PFM_PERF_ENCODE_ABI0 28
#endif

static inline pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm,
						    struct perf_event_attr *output, char **fstr,
						    int *idx)
{
	return tally_pfm_get_perf_event_encoding(str, dfl_plm, output, fstr, idx);
}

#ifdef __cplusplus
}
#endif

#endif
