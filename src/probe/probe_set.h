/* The places of one definition, until they are written to the kernel. */
#ifndef TALLY_PROBE_SET_H
#define TALLY_PROBE_SET_H

#include <limits.h>
#include <tally/probe_event.h>
#include "base/arena.h"
#include "base/buf.h"
#include "place/probe_spec.h"
#include "probe/trace_files.h"

struct probe_site {
	const char *place;      /* "/path:0x1234", "_text+5": the kernel's */
	const char *name;       /* of the function: the event's name when no other was given */
	const char **arguments; /* "name=...", NULL: it cannot be read here */
	size_t argument_count;
};

struct tally_probe_set {
	struct tally_probe_event_options options;
	struct probe_spec spec;
	struct trace_features features;
	char tracefs[PATH_MAX];
	char *program;     /* with all links followed; NULL: the kernel */
	bool go;           /* the program is made by Go's compiler */
	bool other_kernel; /* its places are those of a kernel that does not run here */
	struct probe_site *sites;
	size_t site_count;
	struct tally_probe_event *events; /* of the sites */
	struct tally_arena arena;         /* of texts of the above */
	/* By argument: why it cannot be read at some site; NULL: it can. */
	struct tally_error *missing[PROBE_ARGUMENTS_MOST];
};

/* Adds a site and copies what it has; -E2BIG over options.places_most, -ENOMEM. */
int tally_probe_set_append(struct tally_probe_set *set, const struct probe_site *site,
			   struct tally_error *error);
/* The arguments as they were written, without debug information.  Those of `ret` are borrowed from
 * the set.  `entry`: at the entry of a function, where $argN are registers. */
int tally_probe_set_plain_arguments(struct tally_probe_set *set, unsigned machine, bool entry,
				    struct probe_site *ret, struct tally_error *error);
void tally_probe_set_notice(const struct tally_probe_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each finds the sites of its kind of place. */
int tally_probe_set_find_program(struct tally_probe_set *set, struct tally_error *error);
int tally_probe_set_find_marker(struct tally_probe_set *set, struct tally_error *error);
int tally_probe_set_find_kernel(struct tally_probe_set *set, struct tally_error *error);

/* The path of options->program, with links followed; the caller's to free(). */
int tally_probe_program_path(const struct tally_probe_event_options *options, char **ret,
			     struct tally_error *error);

#endif
