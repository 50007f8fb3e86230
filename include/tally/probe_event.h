/* Events that a person defines at places in code: through the kernel's uprobe_events and
 * kprobe_events, so that any tool can use them by their names until they are removed.
 *
 * A place is written as for perf-probe(1): "[[GROUP:]EVENT=]FUNC[@SRC][:LINE|+OFFSET|%return|;GLOB]
 * [ARGUMENT...]", "SRC:LINE", "0xADDRESS", "sdt_PROVIDER:NAME". */
#ifndef TALLY_PROBE_EVENT_H
#define TALLY_PROBE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_probe_event {
	const char *group, *event;
	const char *definition; /* the line for the kernel */
	const char *place;      /* "work:3 in /bin/prog with n p", untrusted */
	bool kernel;            /* for kprobe_events */
};

struct tally_probe_event_options {
	size_t size;         /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *tracefs; /* NULL: found among the usual places */
	const char *procfs;  /* NULL: "/proc" */
	const char *debug_root; /* of debug files; NULL: "/usr/lib/debug" */
	const char *program;    /* NULL: the kernel */
	const char *module;     /* of the kernel, "ext4"; NULL: itself */
	const char *sources;    /* a folder that paths of sources begin in; NULL: as compiled */
	unsigned places_most;   /* of one definition; 0: 128 */
	bool no_inlines;        /* skip functions that were inlined */
	bool force;             /* a name that exists gets a number behind it */
	bool dry_run;           /* nothing is changed */
	bool externs;           /* variables: list those of the file, too */
	bool colour;            /* lines: what cannot be probed is dimmed */
	/* Is given what a person should know, a line without a newline; may be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;
	/* The kernel's debug information, for lines and variables.  NULL: that of the running
	 * kernel, by its build-id, where packages put it. */
	const char *vmlinux;
	bool ranges; /* variables: with the addresses at which each can be read */
};

struct tally_probe_set;

/* Finds all places of a definition.  Several places of one name are one event if the kernel
 * supports that, otherwise "NAME", "NAME_1".  -EINVAL and -E2BIG with the column; -ENOENT no such
 * place or variable, with the nearest name; -ENODATA no debug information; -ENOTSUP a variable that
 * the kernel cannot read; -errno, -ENOEXEC, -ENOMEM.  Release with tally_probe_set_close(). */
int tally_probe_set_open(const char *text, const struct tally_probe_event_options *options,
			 struct tally_probe_set **ret, struct tally_error *error);
void tally_probe_set_close(struct tally_probe_set *set); /* NULL is fine */

/* The event number `at`, in the order of the program; NULL: there are no more.  Borrowed until the
 * set is added or closed. */
const struct tally_probe_event *tally_probe_set_at(const struct tally_probe_set *set, size_t at);

/* Defines all events of the set, or none.  0; -EEXIST: a name exists; -EACCES, -ENOENT, -ENOTSUP of
 * tracefs; -EINVAL: the set's places are those of another kernel's vmlinux; -errno: the error has
 * the kernel's reason. */
int tally_probe_set_add(struct tally_probe_set *set,
			const struct tally_probe_event_options *options, struct tally_error *error);

/* Prints the defined events whose name, or "GROUP:EVENT", matches a filter ("a* | !b"; NULL: all),
 * a line each, as perf does: "  GROUP:EVENT (on PLACE in PROGRAM with ARGUMENTS)".  Returns how
 * many, or -errno. */
int64_t tally_probe_event_list(const char *filter, const struct tally_probe_event_options *options,
			       FILE *to, struct tally_error *error);
/* Removes the events that match, and prints "Removed event: GROUP:EVENT" for each.  Returns how
 * many, or -errno. */
int64_t tally_probe_event_remove(const char *filter,
				 const struct tally_probe_event_options *options, FILE *to,
				 struct tally_error *error);

/* Prints the functions of the program, or the kernel, that a definition can name.  filter NULL:
 * "!_* & !*@plt".  0 or -errno; -ENOENT: none matches. */
int tally_probe_functions_print(const char *filter, const struct tally_probe_event_options *options,
				FILE *to, struct tally_error *error);
/* Prints the variables that can be read at a place; filter NULL: all.  0 or -errno. */
int tally_probe_variables_print(const char *place, const char *filter,
				const struct tally_probe_event_options *options, FILE *to,
				struct tally_error *error);
/* Prints source lines, "FUNC[@SRC][:LINE[+COUNT|-LAST]]" or "SRC[:LINE[+COUNT|-LAST]]"; those that
 * can be probed have numbers. */
int tally_probe_lines_print(const char *range, const struct tally_probe_event_options *options,
			    FILE *to, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
