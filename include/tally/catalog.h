/* All events and metrics that can be named, for people to choose from.  Opens no event.
 *
 * Told from what is written down: the kernel's own names, sysfs, tracefs and the vendor's tables,
 * of this machine or of another whose trees and CPU are given. */
#ifndef TALLY_CATALOG_H
#define TALLY_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum tally_catalog_kind { /* also the order in which they come */
			  TALLY_CATALOG_HARDWARE,
			  TALLY_CATALOG_SOFTWARE,
			  TALLY_CATALOG_CACHE,
			  TALLY_CATALOG_TOOL,   /* counted by the program itself */
			  TALLY_CATALOG_PMU,    /* a PMU's own events, in sysfs */
			  TALLY_CATALOG_VENDOR, /* of the CPU's tables */
			  TALLY_CATALOG_METRIC, /* of the CPU's tables */
			  TALLY_CATALOG_RAW,    /* forms of names: rNNN, mem:ADDR */
			  TALLY_CATALOG_TRACEPOINT,
			  TALLY_CATALOG_MARKER, /* of programs: <tally/probe.h>; a catalogue has
						 * none
						 */
			  TALLY_CATALOG_KINDS,
};

/* Text is borrowed until tally_catalog_close(), and untrusted where it comes from files.  NULL:
 * there is none. */
struct tally_catalog_entry {
	enum tally_catalog_kind kind;
	bool supported;         /* what it needs is on this machine, as far as sysfs tells */
	bool deprecated;        /* its vendor has a newer name */
	bool per_package;       /* one CPU a package counts for all */
	const char *name;       /* as -e and -M take it; never NULL */
	const char *also;       /* another name of the same */
	const char *pmu;        /* "msr", "uncore_imc" */
	const char *topic;      /* "cache", "floating point" */
	const char *brief;      /* a sentence */
	const char *details;    /* a paragraph */
	const char *terms;      /* what it stands for: "event=0x24,umask=0x21" */
	const char *unit;       /* of a count times `scale` */
	double scale;           /* 1 where none is told */
	const char *groups;     /* of a metric: "TopdownL1;Frontend" */
	const char *expression; /* of a metric */
};

struct tally_catalog_options {
	size_t size;         /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *sysfs;   /* NULL: "/sys" */
	const char *tracefs; /* NULL: found among the usual places */
	const char *events;  /* folders of vendor tables, "DIR:DIR"; NULL: $TALLY_EVENTS, else
			      * $XDG_CACHE_HOME/pmu-events and /usr/share/tally/events */
	const char *cpuid;   /* "GenuineIntel-6-55-7"; NULL: $PERF_CPUID, else this machine's */
	unsigned kinds;      /* bits 1 << enum tally_catalog_kind; 0: all */
};

struct tally_catalog;

/* Collects them.  What is not there (no tables for this CPU, tracefs not readable) is left out, and
 * told by tally_catalog_note(); tables that were asked for by `events` or `cpuid` and are not there
 * are an error: -ENOENT, -EINVAL (damaged), -errno; -ENOMEM. */
int tally_catalog_open(const struct tally_catalog_options *options, struct tally_catalog **ret,
		       struct tally_error *error);
void tally_catalog_close(struct tally_catalog *catalog); /* NULL is fine */

/* By kind, within a kind by PMU and topic, then by name.  NULL: there are no more. */
const struct tally_catalog_entry *tally_catalog_at(const struct tally_catalog *catalog, size_t at);

/* What could not be read and why, a line each; NULL: no more. */
const char *tally_catalog_note(const struct tally_catalog *catalog, size_t at);

/* "Hardware event", "Tracepoint event". */
const char *tally_catalog_kind_name(enum tally_catalog_kind kind);

/* One JSON object on one line, without a line end: "kind", "name", "supported", and what else is
 * told.  0 or -errno of the write. */
int tally_catalog_entry_json(const struct tally_catalog_entry *entry, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
