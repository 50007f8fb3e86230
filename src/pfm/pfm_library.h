/* libpfm.so.4, loaded at the first use: its functions and the layout of their structures.
 *
 * Nothing else of the library is used, and only the files pfm_*.c use it. Source of names, numbers
 * and layouts: perfmon/pfmlib.h of libpfm4 4.13. */
#ifndef TALLY_PFM_PFM_LIBRARY_H
#define TALLY_PFM_PFM_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/error.h>
#include <tally/pfm.h>

enum pfm_pmu_type { PFM_TYPE_CORE = 1, PFM_TYPE_UNCORE = 2, PFM_TYPE_OS = 3 };
enum pfm_attr_type {
	PFM_ATTR_IS_UMASK = 1,
	PFM_ATTR_IS_BOOL = 2,
	PFM_ATTR_IS_INTEGER = 3,
	PFM_ATTR_IS_RAW_UMASK = 4
};
enum pfm_attr_ctrl { PFM_CTRL_PMU = 1, PFM_CTRL_PERF_EVENT = 2 };

#define PFM_PMU_IDS 4096 /* more than any version has; an unused id costs nothing */

struct pfm_library {
	void *handle;
	int (*initialize)(void);
	int (*find_event)(const char *text);
	int (*event_next)(int idx);
	int (*pmu_info)(unsigned pmu, struct tally_pfm_pmu_info *ret);
	int (*event_info)(int idx, unsigned os, struct tally_pfm_event_info *ret);
	int (*attr_info)(int idx, int attr, unsigned os, struct tally_pfm_attr_info *ret);
	int (*encode)(const char *text, int plm, unsigned os, void *arg);
	int (*validate)(unsigned pmu, FILE *file);
	int (*version)(void);
	void (*terminate)(void);
};

/* Loads without initializing: the library's functions return PFM_ERR_NOINIT until then. */
int tally_pfm_library_load(struct pfm_library *library);

/* Loads and initializes; enum tally_pfm_code. `all_pmus`: also those of other machines, unless the
 * program initialized the library before. */
int tally_pfm_library_open(struct pfm_library *ret, int all_pmus, struct tally_error *error);
void tally_pfm_library_close(struct pfm_library *library);

/* Sets `ret`, with its size; 0 when there is one. `id` in 0..PFM_PMU_IDS. */
int tally_pfm_pmu(const struct pfm_library *library, unsigned id, struct tally_pfm_pmu_info *ret);
int tally_pfm_event_of(const struct pfm_library *library, int idx, unsigned os,
		       struct tally_pfm_event_info *ret);
int tally_pfm_attr(const struct pfm_library *library, int idx, int at, unsigned os,
		   struct tally_pfm_attr_info *ret);
/* The PMU of that name, in any case. */
int tally_pfm_pmu_named(const struct pfm_library *library, const char *name, size_t length,
			struct tally_pfm_pmu_info *ret);

#endif
