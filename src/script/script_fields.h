/* Which fields are shown of which type of event: perf's defaults, what -F makes of them, and what
 * the recording's events allow. */
#ifndef TALLY_SCRIPT_SCRIPT_FIELDS_H
#define TALLY_SCRIPT_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/data.h>
#include <tally/script.h>

#define SCRIPT_FIELD(name) (1ULL << SCRIPT_##name)

/* In the order of perf's list. */
enum script_field {
	SCRIPT_COMM,
	SCRIPT_TID,
	SCRIPT_PID,
	SCRIPT_TIME,
	SCRIPT_CPU,
	SCRIPT_EVENT,
	SCRIPT_TRACE,
	SCRIPT_IP,
	SCRIPT_SYM,
	SCRIPT_DSO,
	SCRIPT_DSOFF,
	SCRIPT_ADDR,
	SCRIPT_SYMOFF,
	SCRIPT_SRCLINE,
	SCRIPT_PERIOD,
	SCRIPT_IREGS,
	SCRIPT_UREGS,
	SCRIPT_BRSTACK,
	SCRIPT_BRSTACKSYM,
	SCRIPT_DATA_SRC,
	SCRIPT_WEIGHT,
	SCRIPT_BPF_OUTPUT,
	SCRIPT_CALLINDENT,
	SCRIPT_INSN,
	SCRIPT_INSNLEN,
	SCRIPT_BRSTACKINSN,
	SCRIPT_BRSTACKOFF,
	SCRIPT_SYNTH,
	SCRIPT_PHYS_ADDR,
	SCRIPT_METRIC,
	SCRIPT_MISC,
	SCRIPT_SRCCODE,
	SCRIPT_IPC,
	SCRIPT_TOD,
	SCRIPT_DATA_PAGE_SIZE,
	SCRIPT_CODE_PAGE_SIZE,
	SCRIPT_INS_LAT,
	SCRIPT_BRSTACKINSNLEN,
	SCRIPT_MACHINE_PID,
	SCRIPT_VCPU,
	SCRIPT_CGROUP,
	SCRIPT_RETIRE_LAT,
	SCRIPT_FLAGS, /* not by type: of all events */
	SCRIPT_FIELD_COUNT
};

/* Types of events, by which fields are chosen: the kernel's, and two of perf's. */
enum script_type {
	SCRIPT_HARDWARE,
	SCRIPT_SOFTWARE,
	SCRIPT_TRACEPOINT,
	SCRIPT_HW_CACHE,
	SCRIPT_RAW,
	SCRIPT_BREAKPOINT,
	SCRIPT_SYNTHETIC,
	SCRIPT_OTHER,
	SCRIPT_TYPE_COUNT
};

struct script_type_fields {
	uint64_t fields;
	uint64_t asked, unasked; /* by +, - and lists for all types */
	bool user_set, wildcard_set;
	bool no_place; /* nothing is shown of what stands with an address: see fit_stream() */
};

struct script_fields {
	struct script_type_fields types[SCRIPT_TYPE_COUNT];
	bool flags;
	bool callchains; /* shown where samples have them */
};

/* perf's defaults. */
void tally_script_fields_init(struct script_fields *fields);
/* One argument of -F.  0, or -EINVAL; notices say what is ignored. */
int tally_script_fields_parse(struct script_fields *fields, const char *text,
			      const struct tally_script_options *options,
			      struct tally_error *error);
/* Drops default fields that the events do not have; for a requested one it fails. */
int tally_script_fields_fit(struct script_fields *fields, const struct tally_data *data,
			    struct tally_error *error);

enum script_type tally_script_type(const struct tally_attr *attr);

/* Gives a notice to the caller's function, if there is one. */
void tally_script_notice(const struct tally_script_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
