/* The catalogue: all events and metrics that have a name, for people to choose from.
 *
 * It lists the kernel's own names, sysfs, tracefs and the vendor's tables, of this machine or of
 * another one whose trees and CPU are given.  No event is opened. */
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
			  TALLY_CATALOG_MARKER, /* of programs: <tally/probe.h>; not listed */
			  TALLY_CATALOG_KINDS,
};

/* Text is borrowed until tally_catalog_close(), and untrusted where it comes from files.  A member
 * is NULL where the source says nothing. */
struct tally_catalog_entry {
	enum tally_catalog_kind kind;
	bool supported;         /* this machine has what it needs, as far as sysfs shows */
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
	double scale;           /* 1: default */
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

/* Collects the entries.  Sources that are missing (no tables for this CPU, tracefs not readable)
 * are left out, and tally_catalog_note() says why.  But tables that `events` or `cpuid` asked for
 * must exist: -ENOENT, -EINVAL (they are damaged), -errno.  -ENOMEM. */
int tally_catalog_open(const struct tally_catalog_options *options, struct tally_catalog **ret,
		       struct tally_error *error);
void tally_catalog_close(struct tally_catalog *catalog); /* NULL is fine */

/* The entry number `at`; NULL: there are no more.  They are sorted by kind, PMU, topic and name. */
const struct tally_catalog_entry *tally_catalog_at(const struct tally_catalog *catalog, size_t at);

/* The sources that could not be read and why, a line each; NULL: there are no more. */
const char *tally_catalog_note(const struct tally_catalog *catalog, size_t at);

/* The name of a kind: "Hardware event", "Tracepoint event". */
const char *tally_catalog_kind_name(enum tally_catalog_kind kind);

/* Writes the entry as a JSON object on one line, without a line end: "kind", "name", "supported",
 * and the members that are not NULL.  0 or -errno of writing. */
int tally_catalog_entry_json(const struct tally_catalog_entry *entry, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
