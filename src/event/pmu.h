/* PMUs as sysfs describes them: their type, the fields of their configs, and their named events.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events} of Linux. */
#ifndef TALLY_EVENT_PMU_H
#define TALLY_EVENT_PMU_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "event/term.h"

struct pmu_format {
	const char *name;
	unsigned which; /* config, config1, ... */
	uint64_t mask;  /* the bits of a value, its lowest in the lowest */
};

struct tally_pfm;
struct tally_table;
struct tally_table_event;

struct pmu_alias { /* a named event, of sysfs or of a vendor table */
	const char *name;
	const char *text; /* NULL before the first use; then its terms, and the members below */
	const char *unit; /* NULL: none */
	double scale;     /* 0: none */
	bool per_pkg, snapshot;
	bool of_table;
};

struct event_pmu {
	const char *name;
	bool type_read, loaded, usable; /* usable: it has a type */
	bool core;                      /* of a CPU; hybrid machines have several */
	bool hybrid;                    /* one of several core PMUs: cpu_core, cpu_atom */
	bool is_the_cpu;                /* the events of vendor tables that name no PMU are its */
	uint32_t type;
	const char *other_name; /* its `alias` file; NULL */
	const char *cpus;       /* cpumask or cpus; NULL */
	const char *identifier; /* of the model; NULL */
	struct pmu_format *formats;
	size_t format_count, format_room;
	struct pmu_alias *aliases;
	size_t alias_count, alias_room;
	bool has_default; /* intel_pt: what is traced without terms */
	uint64_t default_config;
};

struct tally_event_context {
	char sysfs[PATH_MAX];
	const char *events, *cpuid, *pfm_pmu; /* as in the options; in the arena, or NULL */
	struct tally_arena arena;
	struct tally_table *table; /* NULL: not used so far, or there is none */
	int table_result;          /* of opening it; 1: not tried */
	struct tally_error table_error;
	struct tally_pfm *pfm;  /* NULL: as above */
	int pfm_code;           /* enum tally_pfm_code; 1: not tried */
	struct event_pmu *pmus; /* by name */
	size_t count, room;
	bool listed;
};

/* --- context.c --- */
/* The PMUs' names, read once. 0, or -ENOMEM; without sysfs there are none. */
int tally_pmus_list(struct tally_event_context *context);
/* Reads a PMU's type only, once. -ENOENT: it has none. */
int tally_pmu_type(struct tally_event_context *context, struct event_pmu *pmu);
/* Reads a PMU's files, once. -ENOENT: it is not a PMU; -ENOMEM. */
int tally_pmu_load(struct tally_event_context *context, struct event_pmu *pmu);
/* The PMU with exactly this name; NULL: none. */
struct event_pmu *tally_pmu_find(struct tally_event_context *context,
				 const struct event_word *name);
/* Whether a word means this PMU: its name or a glob of it, or the name without its number
 * ("uncore_imc" for uncore_imc_0), for uncore PMUs also without "uncore_". */
bool tally_pmu_matches(const struct event_pmu *pmu, const struct event_word *word);
/* Whether its events exclude guests without modifiers, as in perf. PMUs outside the cores do not;
 * some of them (msr, power) refuse it. */
bool tally_pmu_knows_guests(const struct event_pmu *pmu);
/* The next hybrid core PMU from *at on; NULL: no more. */
struct event_pmu *tally_pmu_next_hybrid(struct tally_event_context *context, size_t *at);

/* --- pmu_format.c --- */
/* Parses a format file, "config1:0-7,32-35".  -EINVAL */
int tally_pmu_format_parse(const char *text, unsigned *ret_which, uint64_t *ret_mask);
const struct pmu_format *tally_pmu_format_find(const struct event_pmu *pmu,
					       const struct event_word *name);
uint64_t tally_pmu_format_most(uint64_t mask);
uint64_t tally_pmu_spread(uint64_t value, uint64_t mask);
uint64_t tally_pmu_extract(uint64_t word, uint64_t mask); /* the reverse */
uint64_t *tally_attr_config(struct tally_attr *attr, unsigned which);

/* --- pmu_alias.c --- */
/* An alias of sysfs. */
struct pmu_alias *tally_pmu_alias_find(struct event_pmu *pmu, const struct event_word *name);
/* Reads the alias's files, once. -errno. */
int tally_pmu_alias_load(struct tally_event_context *context, const struct event_pmu *pmu,
			 struct pmu_alias *alias);

/* --- pmu_table.c --- */
/* The CPU's vendor table, read at the first use; NULL: there is none, and context->table_error says
 * why. */
const struct tally_table *tally_context_table(struct tally_event_context *context);
/* The table's event of that name for this PMU, as an alias. False: there is none. */
bool tally_pmu_table_find(struct tally_event_context *context, const struct event_pmu *pmu,
			  const struct event_word *name, struct pmu_alias *ret);
/* Whether an event of the table is for this PMU. */
bool tally_pmu_table_fits(const struct event_pmu *pmu, const struct tally_table_event *event);
/* A PMU of the machine, already read, that has the event, in sysfs or in the table; NULL: none. */
const struct event_pmu *tally_pmu_that_has(struct tally_event_context *context,
					   const struct event_word *name);

/* --- suggest.c --- */
#define EVENT_SUGGESTION_ROOM 256
/* Writes the most similar name of all events of the PMUs that were read; false: no name is similar.
 * `context` may be NULL. */
bool tally_suggest_event(struct tally_event_context *context, const char *text,
			 char to[EVENT_SUGGESTION_ROOM]);
/* The most similar one of the PMU's fields and events, borrowed from the context; NULL: none is
 * similar. */
const char *tally_suggest_term(struct tally_event_context *context, const struct event_pmu *pmu,
			       const char *text);

/* --- pmu.c --- */
/* Makes an event of a PMU and its terms. The caller sets some members of `event` and zeroes the
 * rest, and releases it also on failure. */
int tally_pmu_encode(struct tally_event_context *context, struct event_pmu *pmu,
		     const struct event_terms *terms, const char *command,
		     struct tally_event *event, struct tally_error *error);

#endif
