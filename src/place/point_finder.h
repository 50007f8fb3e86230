/* From a place as it is written (a function, a line, a pattern) to addresses, by debug
 * information. */
#ifndef TALLY_PLACE_POINT_FINDER_H
#define TALLY_PLACE_POINT_FINDER_H

#include <stdbool.h>
#include <stdio.h>
#include <tally/error.h>
#include "dwarf/debug_info.h"
#include "place/probe_spec.h"
#include "place/variable.h"

struct point_options {
	bool no_inlines;    /* inlined functions are skipped */
	bool skip_prologue; /* in code without optimization: use the address from which on variables
			       are in their places */
	const char *sources; /* a folder that source paths are relative to; NULL */
	bool kernel;         /* of the kernel: scopes keep its addresses as linked */
};

/* A result that is not 0 ends the search, which returns it. */
typedef int (*point_visit)(struct probe_scope *scope, void *context);

/* Visits each address once.  0, also when there is none; -ENOENT: there is none for a reason that
 * the error has; -EINVAL, -errno of the source file, -ENOMEM. */
int tally_points_find(const struct debug_info *info, const struct probe_point *point,
		      const struct point_options *options, point_visit visit, void *context,
		      struct tally_error *error);

/* Describes an address: the function, the line in it, its file.  `ret` is made from libdw's texts,
 * which live as long as `info`.  False: unknown. */
bool tally_point_of(const struct debug_info *info, Dwarf_Addr address, struct probe_point *ret);

/* Names of functions and source files for "did you mean".  Borrowed from `info`; NULL: none. */
const char *tally_point_similar(const struct debug_info *info, const char *name);

/* Opens a source file: below `sources`, or where the compiler had it.  -errno; `path` is filled
 * with what was opened, or tried. */
int tally_source_open(const char *name, const char *folder, const char *sources, char *path,
		      size_t room, FILE **ret);

#endif
