/* The doctor: what prevents counting and sampling on this machine, for this process, and what
 * helps.
 *
 * It reads sysctls, limits, capabilities, sysfs and tracefs, and tries: it opens and closes events,
 * and makes the system call from a child, as a seccomp filter may kill it.  Nothing is changed. */
#ifndef TALLY_DOCTOR_H
#define TALLY_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum tally_finding_state {
	TALLY_FINDING_GOOD,    /* works */
	TALLY_FINDING_LIMITED, /* works in part */
	TALLY_FINDING_BLOCKED, /* does not work */
	TALLY_FINDING_ABSENT,  /* the machine or its kernel does not have it; no right helps */
	TALLY_FINDING_UNKNOWN, /* cannot be tried, because of another finding */
	TALLY_FINDING_STATES,
};

enum tally_finding_group { /* also their order */
			   TALLY_FINDING_RIGHTS,
			   TALLY_FINDING_LIMITS,
			   TALLY_FINDING_KERNEL,
			   TALLY_FINDING_HARDWARE,
			   TALLY_FINDING_PROGRAMS,
			   TALLY_FINDING_GROUPS,
};

/* Text is borrowed until tally_doctor_free().  Names and text of sysfs in it are untrusted. */
struct tally_finding {
	const char *id; /* stable, for scripts: "paranoid", "pmu"; listed in tally-doctor(1) */
	enum tally_finding_group group;
	enum tally_finding_state state;
	const char *found; /* what there is: "kernel.perf_event_paranoid is 2, ..." */
	const char *cost;  /* what it costs; NULL: nothing */
	const char
	    *remedy; /* the command or setting that lifts it, least privilege first; NULL: none */
};

struct tally_doctor_options {
	size_t size;      /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *root; /* the folder that holds proc and sys; NULL: this machine's "/".  Of
			   * another tree the files are read, and nothing is tried. */
};

struct tally_doctor;

/* 0, -E2BIG for options of a newer version, -ENOMEM. */
int tally_doctor_new(const struct tally_doctor_options *options, struct tally_doctor **ret);
void tally_doctor_free(struct tally_doctor *doctor); /* NULL is fine */

/* The finding number `at`, in the order of their groups; NULL: there are no more. */
const struct tally_finding *tally_doctor_at(const struct tally_doctor *doctor, size_t at);
/* How many findings are in that state. */
size_t tally_doctor_count(const struct tally_doctor *doctor, enum tally_finding_state state);

/* Names of states and groups: "good", "limited", "blocked", "absent", "unknown"; "rights",
 * "limits", ... */
const char *tally_finding_state_name(enum tally_finding_state state);
const char *tally_finding_group_name(enum tally_finding_group group);

struct tally_doctor_text_options {
	size_t size;    /* as above */
	unsigned width; /* columns to fold lines at; 0: 100 */
	bool colour;
	bool all; /* print what is good, too */
};
/* Writes the findings for a person to read.  0 or -errno of writing. */
int tally_doctor_text(const struct tally_doctor *doctor,
		      const struct tally_doctor_text_options *options, FILE *to);
/* Writes {"version":1,"findings":[{"id","group","state","found","cost","remedy"}]} and a line end;
 * cost and remedy are null where there is none.  0 or -errno of writing. */
int tally_doctor_json(const struct tally_doctor *doctor, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
