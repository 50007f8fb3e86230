/* Events in libpfm4's language: "clx::INST_RETIRED:ANY_P:u:c=1" becomes an attr.
 *
 * The tables are those of libpfm.so.4, loaded at run time; where it is not installed every function
 * says so (TALLY_PFM_NOINIT, "libpfm4 is not installed: apt install libpfm4"), and nothing else of
 * Tally changes.  Answers are the library's own: codes, attrs, fully qualified names.  What it
 * cannot do, uncore PMUs of another machine, is done here over its tables and a sysfs tree.
 *
 * libpfm4 keeps state of its own that is not protected: one thread at a time, and the first call
 * before other threads read the environment.
 *
 * Source: the installed library's behaviour (4.13), perfmon/pfmlib.h and pfmlib_perf_event.h. */
#ifndef TALLY_PFM_H
#define TALLY_PFM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/attr.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What every function here returns; the numbers are libpfm4's. */
enum tally_pfm_code {
	TALLY_PFM_SUCCESS = 0,
	TALLY_PFM_NOTSUPP = -1,  /* not by this PMU, or its perf PMU is not in sysfs */
	TALLY_PFM_INVAL = -2,    /* an argument is NULL, unknown bits of plm, `,` or space in the
				  * string, a structure that is too small or has unknown bytes */
	TALLY_PFM_NOINIT = -3,   /* libpfm4 is not installed */
	TALLY_PFM_NOTFOUND = -4, /* no such PMU (or not of this machine), or no such event */
	TALLY_PFM_FEATCOMB = -5, /* unit masks that exclude each other */
	TALLY_PFM_UMASK = -6,    /* the event needs a unit mask, or these do not fit */
	TALLY_PFM_NOMEM = -7,
	TALLY_PFM_ATTR = -8,      /* no such unit mask or modifier here; also a `:` at the end */
	TALLY_PFM_ATTR_VAL = -9,  /* a value that is out of range, missing, or not allowed */
	TALLY_PFM_ATTR_SET = -10, /* a modifier given twice with different values */
	TALLY_PFM_TOOMANY = -11,  /* more modifiers than an event can have */
	TALLY_PFM_TOOSMALL = -12, /* tally_pfm_pmu_encode_arg.codes has no room */
};

/* Which modifiers are known, and what comes back. */
enum tally_pfm_os {
	TALLY_PFM_OS_NONE = 0,           /* the PMU's own; register values come back */
	TALLY_PFM_OS_PERF_EVENT = 1,     /* u k h mg mh too; an attr comes back */
	TALLY_PFM_OS_PERF_EVENT_EXT = 2, /* period freq precise excl cpu pinned hw_smpl as well */
};

/* Privilege levels, the bits of `plm`: where an event without u, k or h counts.  A level that is
 * missing is excluded, unless the PMU cannot exclude it.  0 is allowed and excludes all. */
#define TALLY_PFM_PLM0 0x01 /* kernel */
#define TALLY_PFM_PLM1 0x02
#define TALLY_PFM_PLM2 0x04
#define TALLY_PFM_PLM3 0x08 /* user */
#define TALLY_PFM_PLMH 0x10 /* hypervisor */

/* ---- libpfm4's own functions, in its words ---- */

struct perf_event_attr;

/* As pfm_perf_encode_arg_t.  `size` is sizeof of the struct; 0 means 40, its first published size
 * on 64-bit machines; less is TALLY_PFM_INVAL, and so is more with a byte behind the known ones
 * that is not zero. */
struct tally_pfm_perf_encode_arg {
	struct perf_event_attr *attr; /* in and out */
	char **fstr; /* out: the fully qualified string, to free(); NULL: not wanted */
	size_t size;
	int idx;   /* out: the unique index of the event */
	int cpu;   /* out: of modifier cpu; -1: none */
	int flags; /* out: never set */
	int pad0;
};

/* As pfm_pmu_encode_arg_t, for TALLY_PFM_OS_NONE.  `size`: as above, 32. */
struct tally_pfm_pmu_encode_arg {
	uint64_t *codes; /* registers; NULL with count 0: allocated, to free() */
	char **fstr;
	size_t size;
	int count; /* in: room of codes; out: how many */
	int idx;
};

/* pfm_get_os_event_encoding(3): `arg` is one of the two structures above, by `os`
 * (enum tally_pfm_os).  Returns an enum tally_pfm_code.  The library needs no initialisation here;
 * its LIBPFM_* environment variables work.
 *
 * attr->size says how many bytes of the attr there are, and is left as it is; the fields that the
 * event does not decide are left, too.  0 means 64: config2 and what is behind it is then not
 * written.  Set it.
 *
 * Where the manual page pfm_get_perf_event_encoding(3) says otherwise, this is what happens:
 *  - The constants are called PFM_OS_PERF_EVENT and PFM_OS_PERF_EVENT_EXT; there is no PFM_OS_PERF.
 *  - A string with `,`, space, tab or newline is TALLY_PFM_INVAL; its first event is not encoded.
 *  - Without u, k and h `plm` decides: PLM3 alone sets exclude_kernel, PLM0|PLM3 clears both.
 *  - `plm` may be 0: exclude_user and exclude_kernel are set.  Bits above 0x1f are TALLY_PFM_INVAL.
 *  - Besides type, config and exclude_user, _kernel, _hv are written: config1, config2, precise_ip,
 *    pinned, exclusive, sample_period or sample_freq, exclude_host, and exclude_guest, which is 1
 *    unless mg is given.
 *  - The codes are called PFM_ERR_UMASK and PFM_ERR_FEATCOMB; there are no PFM_ERR_ATTR_UMASK and
 *    PFM_ERR_ATTR_FEATCOMB. */
int tally_pfm_get_os_event_encoding(const char *text, int plm, int os, void *arg);

/* pfm_get_perf_event_encoding(3), which is the above with TALLY_PFM_OS_PERF_EVENT_EXT.  `fstr` and
 * `idx` may be NULL. */
int tally_pfm_get_perf_event_encoding(const char *text, int plm, struct perf_event_attr *attr,
				      char **fstr, int *idx);

/* The same before there was pfm_get_os_event_encoding(): register values.  `codes` and `count` as
 * in struct tally_pfm_pmu_encode_arg; `fstr` and `idx` may be NULL. */
int tally_pfm_get_event_encoding(const char *text, int plm, char **fstr, int *idx, uint64_t **codes,
				 int *count);

/* libpfm4's tables.  Indexes of events are unique over all PMUs and opaque; those of attributes
 * count from 0.  All three structs are filled by the library: their names are its own, and live to
 * the end of the process.  `size` is sizeof of the struct, or 0 for its first published size. */

struct tally_pfm_pmu_info { /* pfm_pmu_info_t */
	const char *name, *desc;
	size_t size;
	unsigned id;
	unsigned type; /* 1: of the processor, 2: uncore, 3: of the operating system */
	int event_count, first_event;
	int max_encoding; /* registers that one event may take */
	int counters, fixed_counters;
	unsigned is_present : 1, is_default : 1, reserved : 30;
};

struct tally_pfm_event_info { /* pfm_event_info_t */
	const char *name, *desc, *equal;
	size_t size;
	uint64_t code;
	unsigned pmu, data_type;
	int idx, attr_count, reserved;
	unsigned is_precise : 1, is_speculative : 2, hw_sample : 1, reserved_bits : 28;
};

struct tally_pfm_attr_info { /* pfm_event_attr_info_t */
	const char *name, *desc, *equal;
	size_t size;
	uint64_t code;
	unsigned type; /* 1: unit mask, 2: modifier that is on or off, 3: modifier with a number */
	int idx;
	unsigned ctrl; /* who provides it; 1: the PMU, 2: perf_events */
	unsigned is_default : 1, is_precise : 1, is_speculative : 2, hw_sample : 1, reserved : 27;
	uint64_t default_value;
};

/* pfm_initialize(3) and pfm_terminate(3): needed before the functions below; TALLY_PFM_NOINIT
 * where the library is not installed, and from each of them before it is initialised. */
int tally_pfm_initialize(void);
void tally_pfm_terminate(void);
int tally_pfm_get_version(void); /* major << 16 | minor */

/* The tables by index, as pfm_get_pmu_info(3), pfm_find_event(3), pfm_get_event_next(3),
 * pfm_get_event_info(3) and pfm_get_event_attr_info(3).  Each returns an enum tally_pfm_code or an
 * index. */
int tally_pfm_get_pmu_info(unsigned pmu, struct tally_pfm_pmu_info *ret);
int tally_pfm_find_event(const char *text); /* its index, or an enum tally_pfm_code */
int tally_pfm_get_event_next(int idx);      /* the next of the same PMU; -1: none */
int tally_pfm_get_event_info(int idx, int os, struct tally_pfm_event_info *ret);
int tally_pfm_get_event_attr_info(int idx, int attr, int os, struct tally_pfm_attr_info *ret);
/* Checks a PMU's table for contradictions, and writes them to `file`. */
int tally_pfm_pmu_validate(unsigned pmu, FILE *file);

/* "invalid event attribute" and so on, in the words of pfm_strerror(3).  Never NULL. */
const char *tally_pfm_strerror(int code);
/* "PFM_ERR_ATTR" and so on.  Never NULL. */
const char *tally_pfm_code_name(int code);

/* ---- the same for any machine, and with words about what is wrong ---- */

struct tally_pfm;

struct tally_pfm_options {
	size_t size;       /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *sysfs; /* where uncore PMUs have their types; NULL: "/sys" */
	const char *pmu;   /* for strings without `pmu::`; NULL: the PMUs of this machine */
	const char *cpuid; /* "GenuineIntel-6-55-7": the CPU that `perf::` events are for, as only
			    * AMD's can exclude the hypervisor; NULL: this machine's */
};

#define TALLY_PFM_CODES 8

struct tally_pfm_event {
	size_t size;            /* sizeof of this struct, set by the caller */
	struct tally_attr attr; /* size is set, and only what the event decides; all zero for
				 * TALLY_PFM_OS_NONE */
	uint64_t codes[TALLY_PFM_CODES]; /* for TALLY_PFM_OS_NONE */
	size_t code_count;
	int cpu;    /* -1: none */
	int idx;    /* the library's unique index */
	char *name; /* the fully qualified string; "" when the library has none */
};

/* Loads the library.  0 or an enum tally_pfm_code; with the code, error->text says what to do. */
int tally_pfm_open(const struct tally_pfm_options *options, struct tally_pfm **ret,
		   struct tally_error *error);
void tally_pfm_close(struct tally_pfm *pfm); /* NULL is fine */

/* Encodes one event, of any PMU that the library knows.  Returns an enum tally_pfm_code: the one
 * that libpfm4 returns; error->code is its -errno, position the column of the wrong word.
 * TALLY_PFM_INVAL also when ret->size is smaller than this struct.  On success release `ret` with
 * tally_pfm_event_done(). */
int tally_pfm_encode(const struct tally_pfm *pfm, const char *text, int plm, enum tally_pfm_os os,
		     struct tally_pfm_event *ret, struct tally_error *error);
void tally_pfm_event_done(struct tally_pfm_event *event);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
