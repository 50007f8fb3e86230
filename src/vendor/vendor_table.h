/* Vendor tables: named events and metrics of one CPU, read from JSON files at run time.
 *
 * Two layouts are read: the kernel's (tools/perf/pmu-events/arch: folders by CPU, chosen by
 * mapfile.csv, each file a list of objects) and Intel's (a folder of files that mapfile.csv names,
 * each {"Header": ..., "Events": [...]}). An event becomes terms in the language of sysfs aliases,
 * "event=0xc0,umask=0x1,period=2000003", as in perf's build (tools/perf/pmu-events/jevents.py of
 * Linux 6.1; the later fields from 6.12), so that one encoder is enough for sysfs and tables.
 *
 * All text is borrowed from the table until tally_table_close(), and untrusted: it comes from a
 * file. */
#ifndef TALLY_VENDOR_VENDOR_TABLE_H
#define TALLY_VENDOR_VENDOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

struct tally_table_event {
	const char *name;    /* lower case, as in perf list; NULL: only a metric */
	const char *pmu;     /* "uncore_imc", "cpu_core"; NULL: the CPU's own PMU */
	const char *terms;   /* "event=0xc0,umask=0x1"; NULL: only a metric */
	const char *topic;   /* "cache", "floating point"; NULL: none */
	const char *brief;   /* one sentence; NULL: none */
	const char *details; /* a paragraph; NULL: none */
	const char *unit;    /* of a count, "MiB", "%", from ScaleUnit; NULL: none */
	double scale;        /* a count is multiplied by it; 1 without ScaleUnit */
	const char
	    *compat; /* the PMU's `identifier` must be it (a glob list by ';' or ','); or NULL */
	bool per_package; /* one CPU of a package counts for all */
	bool deprecated;  /* kept for old scripts; not listed by default */

	/* The metric, if there is one; the event may have both. */
	const char *metric;     /* its name; NULL: none */
	const char *expression; /* see expression.h; NULL: none */
	const char *groups;     /* "TopdownL1;Frontend"; NULL: none */
	const char *alone_in;   /* the groups in which its events are not grouped; NULL: none */
	const char *constraint; /* "NO_GROUP_EVENTS" or similar; NULL: none */
	const char *threshold;  /* an expression: true is worth a look; NULL: none */

	const struct tally_table_event *same_name; /* the next with this name (of another PMU) */
};

struct tally_table_options {
	size_t size;         /* sizeof of this struct */
	const char *folders; /* "DIR:DIR"; NULL: tally_table_path() */
	const char *cpuid;   /* "GenuineIntel-6-55-7", "0x00000000410fd0c0"; NULL: $PERF_CPUID, else
			      * this machine's */
	const char *sysfs;   /* NULL: "/sys"; only for the CPU of machines where sysfs names it */
};

struct tally_table;

/* Reads the tables of the CPU from the first folder of the path that has some for it. -ENOENT: no
 * folder has (for most callers no error; the text names the folders), -EINVAL: a file is invalid
 * (position: offset in it), -errno: it cannot be read, -ENOMEM. A single invalid event is left out
 * and counted. Release with tally_table_close(). */
int tally_table_open(const struct tally_table_options *options, struct tally_table **ret,
		     struct tally_error *error);
void tally_table_close(struct tally_table *table); /* or NULL */

/* The event of that name, in any case, in O(1); further ones of other PMUs by ->same_name. NULL:
 * none. tally_table_event_fits() says for which PMU of the machine it is. */
const struct tally_table_event *tally_table_find(const struct tally_table *table, const char *name,
						 size_t length);
/* The same for one PMU of the machine ("uncore_imc_0", "cpu"); NULL: any, the first. */
const struct tally_table_event *tally_table_find_of(const struct tally_table *table,
						    const char *pmu, const char *name,
						    size_t length);
/* The metric of that name, in any case; NULL: none. */
const struct tally_table_event *tally_table_metric(const struct tally_table *table,
						   const char *name, size_t length);

/* Whether the PMU of the machine has this event: "uncore_imc_3" has those of uncore_imc,
 * "hisi_sccl3_ddrc0" those of "hisi_sccl,ddrc", "cpu" those without a PMU. For core PMUs with other
 * names than "cpu" (armv8_pmuv3_0) the caller passes NULL, the CPU's own. */
bool tally_table_event_fits(const struct tally_table_event *event, const char *pmu);

/* Whether a PMU with this `identifier` file (NULL: it has none) is the model that an event is for:
 * it matches one of the globs between the commas or semicolons of `compat`; NULL is any model.
 * Source: "Compat" in jevents.py, and the sysfs file of that name. */
bool tally_table_is_model(const char *compat, const char *identifier);

/* All of them in the order of the files; `at` from 0. NULL: behind the last. */
const struct tally_table_event *tally_table_at(const struct tally_table *table, size_t at);

/* What was read, for messages. */
const char *tally_table_folder(const struct tally_table *table);
const char *tally_table_cpuid(const struct tally_table *table);
size_t
tally_table_refused(const struct tally_table *table); /* objects that are not a valid event */

/* --- table_path.c --- */
/* Writes the search path: $TALLY_EVENTS, else $XDG_CACHE_HOME/pmu-events (or ~/.cache/pmu-events)
 * and /usr/share/tally/events.  Returns 0 or -ENAMETOOLONG. */
int tally_table_path(char *to, size_t room);
/* This machine's CPU as mapfile.csv names it; -ENOTSUP on other architectures. x86: by the cpuid
 * instruction; arm64: MIDR_EL1 in sysfs without variant and revision. */
int tally_table_cpuid_here(const char *sysfs, char *to, size_t room);
/* Whether a row's pattern (a POSIX extended regular expression) matches the whole cpuid. The
 * stepping of "GenuineIntel-6-55-7" is ignored unless the pattern has one. */
bool tally_table_cpuid_matches(const char *pattern, const char *cpuid);

#endif
