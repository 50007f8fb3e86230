/* libpfm4's interface over libtally: programs written for <perfmon/pfmlib.h> build unchanged.
 *
 *	cc $(pkg-config --cflags tally-libpfm4) program.c $(pkg-config --libs tally-libpfm4)
 *
 * Each function calls one of <tally/pfm.h>; names, numbers and layouts are those of libpfm4 4.13.
 * The tables come from libpfm.so.4 at run time: where it is not installed pfm_initialize() returns
 * PFM_ERR_NOINIT. */
#ifndef TALLY_LIBPFM4_PFMLIB_H
#define TALLY_LIBPFM4_PFMLIB_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <tally/pfm.h>
#include <unistd.h>
#include "pfmlib_pmus.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LIBPFM_VERSION     (4 << 16 | 0)
#define LIBPFM_ABI_VERSION 0
#define PFM_MAJ_VERSION(v) ((v) >> 16)
#define PFM_MIN_VERSION(v) ((v)&0xffff)

#define PFM_PLM0 TALLY_PFM_PLM0
#define PFM_PLM1 TALLY_PFM_PLM1
#define PFM_PLM2 TALLY_PFM_PLM2
#define PFM_PLM3 TALLY_PFM_PLM3
#define PFM_PLMH TALLY_PFM_PLMH

#define PFM_SUCCESS      TALLY_PFM_SUCCESS
#define PFM_ERR_NOTSUPP  TALLY_PFM_NOTSUPP
#define PFM_ERR_INVAL    TALLY_PFM_INVAL
#define PFM_ERR_NOINIT   TALLY_PFM_NOINIT
#define PFM_ERR_NOTFOUND TALLY_PFM_NOTFOUND
#define PFM_ERR_FEATCOMB TALLY_PFM_FEATCOMB
#define PFM_ERR_UMASK    TALLY_PFM_UMASK
#define PFM_ERR_NOMEM    TALLY_PFM_NOMEM
#define PFM_ERR_ATTR     TALLY_PFM_ATTR
#define PFM_ERR_ATTR_VAL TALLY_PFM_ATTR_VAL
#define PFM_ERR_ATTR_SET TALLY_PFM_ATTR_SET
#define PFM_ERR_TOOMANY  TALLY_PFM_TOOMANY
#define PFM_ERR_TOOSMALL TALLY_PFM_TOOSMALL

typedef int pfm_err_t;
typedef int os_err_t;

typedef enum {
	PFM_PMU_TYPE_UNKNOWN = 0,
	PFM_PMU_TYPE_CORE = 1,
	PFM_PMU_TYPE_UNCORE = 2,
	PFM_PMU_TYPE_OS_GENERIC = 3,
	PFM_PMU_TYPE_MAX,
} pfm_pmu_type_t;

typedef enum {
	PFM_ATTR_NONE = 0,
	PFM_ATTR_UMASK = 1,
	PFM_ATTR_MOD_BOOL = 2,
	PFM_ATTR_MOD_INTEGER = 3,
	PFM_ATTR_RAW_UMASK = 4,
	PFM_ATTR_MAX,
} pfm_attr_t;

typedef enum {
	PFM_DTYPE_UNKNOWN = 0,
	PFM_DTYPE_UINT64 = 1,
	PFM_DTYPE_INT64 = 2,
	PFM_DTYPE_DOUBLE = 3,
	PFM_DTYPE_FIXED = 4,
	PFM_DTYPE_RATIO = 5,
	PFM_DTYPE_CHAR8 = 6,
	PFM_DTYPE_MAX,
} pfm_dtype_t;

typedef enum {
	PFM_ATTR_CTRL_UNKNOWN = 0,
	PFM_ATTR_CTRL_PMU = 1,
	PFM_ATTR_CTRL_PERF_EVENT = 2,
	PFM_ATTR_CTRL_MAX,
} pfm_attr_ctrl_t;

typedef enum {
	PFM_OS_NONE = TALLY_PFM_OS_NONE,
	PFM_OS_PERF_EVENT = TALLY_PFM_OS_PERF_EVENT,
	PFM_OS_PERF_EVENT_EXT = TALLY_PFM_OS_PERF_EVENT_EXT,
	PFM_OS_MAX,
} pfm_os_t;

typedef enum {
	PFM_EVENT_INFO_SPEC_NA = 0,
	PFM_EVENT_INFO_SPEC_TRUE = 1,
	PFM_EVENT_INFO_SPEC_FALSE = 2,
} pfm_event_info_spec_t;

/* Laid out as the structs of <tally/pfm.h>, under libpfm4's member names. */

typedef struct {
	const char *name;
	const char *desc;
	size_t size;
	pfm_pmu_t pmu;
	pfm_pmu_type_t type;
	int nevents;
	int first_event;
	int max_encoding;
	int num_cntrs;
	int num_fixed_cntrs;
	struct {
		unsigned int is_present : 1;
		unsigned int is_dfl : 1;
		unsigned int reserved_bits : 30;
	};
} pfm_pmu_info_t;

typedef struct {
	const char *name;
	const char *desc;
	const char *equiv;
	size_t size;
	uint64_t code;
	pfm_pmu_t pmu;
	pfm_dtype_t dtype;
	int idx;
	int nattrs;
	int reserved;
	struct {
		unsigned int is_precise : 1;
		unsigned int is_speculative : 2;
		unsigned int support_hw_smpl : 1;
		unsigned int reserved_bits : 28;
	};
} pfm_event_info_t;

typedef struct {
	const char *name;
	const char *desc;
	const char *equiv;
	size_t size;
	uint64_t code;
	pfm_attr_t type;
	int idx;
	pfm_attr_ctrl_t ctrl;
	struct {
		unsigned int is_dfl : 1;
		unsigned int is_precise : 1;
		unsigned int is_speculative : 2;
		unsigned int support_hw_smpl : 1;
		unsigned int reserved_bits : 27;
	};
	union {
		uint64_t dfl_val64;
		const char *dfl_str;
		int dfl_bool;
		int dfl_int;
	};
} pfm_event_attr_info_t;

typedef struct {
	uint64_t *codes;
	char **fstr;
	size_t size;
	int count;
	int idx;
} pfm_pmu_encode_arg_t;

/* Sizes of the structs as first published. */
#if __SIZEOF_POINTER__ == 8
#define PFM_PMU_INFO_ABI0   56
#define PFM_EVENT_INFO_ABI0 64
#define PFM_ATTR_INFO_ABI0  64
#define PFM_RAW_ENCODE_ABI0 32
#else
#define PFM_PMU_INFO_ABI0   44
#define PFM_EVENT_INFO_ABI0 48
#define PFM_ATTR_INFO_ABI0  48
#define PFM_RAW_ENCODE_ABI0 20
#endif

#define pfm_for_each_event_attr(x, z) for ((x) = 0; (x) < (z)->nattrs; (x) = (x) + 1)
#define pfm_for_all_pmus(x)           for ((x) = PFM_PMU_NONE; (x) < PFM_PMU_MAX; (x)++)

static inline pfm_err_t pfm_initialize(void)
{
	return tally_pfm_initialize();
}

static inline void pfm_terminate(void)
{
	tally_pfm_terminate();
}

static inline const char *pfm_strerror(int code)
{
	return tally_pfm_strerror(code);
}

static inline int pfm_get_version(void)
{
	return tally_pfm_get_version();
}

static inline pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output)
{
	return tally_pfm_get_pmu_info(pmu, (struct tally_pfm_pmu_info *)output);
}

static inline int pfm_get_event_next(int idx)
{
	return tally_pfm_get_event_next(idx);
}

static inline int pfm_find_event(const char *str)
{
	return tally_pfm_find_event(str);
}

static inline pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output)
{
	return tally_pfm_get_event_info(idx, os, (struct tally_pfm_event_info *)output);
}

static inline pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os,
						pfm_event_attr_info_t *output)
{
	return tally_pfm_get_event_attr_info(eidx, aidx, os, (struct tally_pfm_attr_info *)output);
}

static inline pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os,
						  void *args)
{
	return tally_pfm_get_os_event_encoding(str, dfl_plm, os, args);
}

static inline pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx,
					       uint64_t **codes, int *count)
{
	return tally_pfm_get_event_encoding(str, dfl_plm, fstr, idx, codes, count);
}

static inline pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE *fp)
{
	return tally_pfm_pmu_validate(pmu_id, fp);
}

#ifdef __cplusplus
}
#endif

#endif
