/* The parts of encoding a libpfm4 string; see pfm.h for the whole. */
#ifndef TALLY_PFM_PFM_ENCODE_H
#define TALLY_PFM_PFM_ENCODE_H

#include <tally/pfm.h>
#include "pfm/pfm_library.h"
#include "pfm/pfm_text.h"

struct tally_pfm {
	struct pfm_library library;
	char *sysfs;
	char *pmu;          /* NULL: none */
	bool no_hypervisor; /* the CPU has no such level, whatever this machine has */
};

/* One string while it is encoded. */
struct pfm_request {
	const struct tally_pfm *pfm;
	const char *text; /* with `pmu::`, if there is one */
	size_t shift;     /* bytes of `text` that were added in front */
	struct pfm_text words;
	int plm;
	enum tally_pfm_os os;
	bool pmu_known;
	struct tally_pfm_pmu_info pmu; /* valid when pmu_known */
	int idx;                       /* the event; negative: not found */
};

/* --- pfm_uncore.c: PMUs outside of cores, over the library's registers and a sysfs tree --- */
/* Whether it is encoded here; else by the library. */
bool tally_pfm_is_uncore(const struct tally_pfm_pmu_info *pmu);
/* An enum tally_pfm_code; `ret` as for tally_pfm_encode(). */
int tally_pfm_uncore_encode(const struct pfm_request *request, struct tally_pfm_event *ret);
/* The kernel's name of a PMU outside of cores: "uncore_cbox_3" of "bdx_unc_cbo3". -1: unknown. */
int tally_pfm_perf_name(const char *pmu, char *to, size_t room);

/* --- pfm_modifier.c: the modifiers of perf_event itself --- */
/* Finds a word among the attributes of an event as the library does: the first of that name, where
 * one with a value is not a unit mask. An enum tally_pfm_code. */
int tally_pfm_find_attr(const struct pfm_library *library, int idx, enum tally_pfm_os os,
			const struct pfm_word *word, struct tally_pfm_attr_info *ret);
/* The value of a modifier as written; TALLY_PFM_ATTR_VAL. */
int tally_pfm_modifier_value(const struct pfm_word *word, const struct tally_pfm_attr_info *attr,
			     uint64_t *ret);
/* Sets a modifier of PFM_OS_PERF_EVENT_EXT, by its name, in the attr; TALLY_PFM_ATTR_VAL. */
int tally_pfm_modifier_apply(const char *name, uint64_t value, struct tally_attr *attr, int *cpu);

/* --- pfm_errors.c: errors of a string as text --- */
/* Fills `error` for a code of the encoding. */
void tally_pfm_explain(const struct pfm_request *request, int code, struct tally_error *error);

#endif
