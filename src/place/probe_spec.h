/* What a person writes for an event at a place in code, cut into its parts:
 * [GROUP:]EVENT=FUNC[@SRC][:LINE|+OFFSET|%return|;PATTERN] [ARGUMENT...].
 *
 * Source: perf-probe(1), "PROBE SYNTAX", "PROBE ARGUMENT" and "LINE SYNTAX". */
#ifndef TALLY_PROBE_SPEC_H
#define TALLY_PROBE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "base/arena.h"

/* perf's limits: arguments of a definition, and steps from a variable to a member of it. */
#define PROBE_ARGUMENTS_MOST 128
#define PROBE_STEPS_MOST     64

struct probe_step {         /* from a variable to what is in it */
	const char *member; /* NULL: an element, by `index` */
	int64_t index;
	bool arrow; /* written with "->" */
};

struct probe_argument {
	const char *name;     /* NULL: none was written, and there are no steps */
	const char *variable; /* or "$retval", "%di", "@symbol" as the kernel takes it */
	const char *type;     /* NULL */
	const char *shown;    /* as it was written, without the name */
	bool user;            /* "@user" */
	struct probe_step *steps;
	size_t step_count;
	size_t column; /* in the text, for messages */
};

struct probe_point {
	const char *function, *file, *pattern; /* NULL: not written */
	uint32_t line;                         /* 0: none */
	uint64_t offset;
	bool at_return;
	bool is_address; /* `function` is "0x...": */
	uint64_t address;
};

struct probe_spec {
	bool marker;               /* %PROVIDER:NAME: `group` (or NULL) and `event` are its name */
	const char *group, *event; /* NULL: to be made from the place */
	const char *program;       /* of a marker, behind "@"; NULL */
	struct probe_point point;
	struct probe_argument *arguments;
	size_t argument_count;
	struct tally_arena arena; /* of all that is above */
};

/* -EINVAL and -E2BIG with the column, -ENOMEM.  On failure nothing is to be released. */
int tally_probe_spec_parse(const char *text, struct probe_spec *ret, struct tally_error *error);
void tally_probe_spec_done(struct probe_spec *spec);

/* Whether it is a name of the program's, and not one of the kernel's words. */
bool tally_probe_is_variable(const char *text);
/* Whether debug information must say where it is. */
bool tally_probe_wants_debug(const struct probe_spec *spec);
bool tally_probe_has_variables(const struct probe_spec *spec);

/* Lines to show: FUNC[@SRC][:LINE[+COUNT|-LAST]] or SRC[:LINE[+COUNT|-LAST]]. */
struct probe_range {
	const char *function, *file; /* one of them at least */
	int32_t first, last; /* from the function's line on, or of the file; INT32_MAX: all */
	struct tally_arena arena;
};

int tally_probe_range_parse(const char *text, struct probe_range *ret, struct tally_error *error);
void tally_probe_range_done(struct probe_range *range);

/* "FUNC:3@file.c", "FUNC%return": as perf shows a place. */
struct tally_buf;
void tally_probe_point_format(const struct probe_point *point, struct tally_buf *to);

#endif
