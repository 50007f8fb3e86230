/* An argument of a definition: from a variable of the program to the kernel's words for it. */
#ifndef TALLY_PLACE_VARIABLE_H
#define TALLY_PLACE_VARIABLE_H

#include <elfutils/libdw.h>
#include <tally/error.h>
#include "base/buf.h"
#include "dwarf/debug_info.h"
#include "place/fetch_args.h"
#include "place/probe_spec.h"

/* A place in a program, and what is known there. */
struct probe_scope {
	const struct debug_info *info;
	Dwarf_Die unit, function;
	Dwarf_Die scope; /* the function, or the inlined one whose variables are meant */
	Dwarf_Addr address;
	int64_t shift; /* from addresses to what the kernel takes: - address + offset in the file */
	bool kernel;   /* the kernel's own code: static variables go by their symbols */
	struct fetch_frame frame;
};

/* Reads the stack frame of the scope's address; free() `ret_frame` after the scope. */
void tally_scope_read_frame(struct probe_scope *scope, Dwarf_Frame **ret_frame);

/* The variable that this name means in the code there: of the innermost block, of the function, of
 * the file, of another file. */
bool tally_variable_find(const struct probe_scope *scope, const char *name, Dwarf_Die *ret);

/* Where it is at the scope's address: as tally_fetch_locate(). */
int tally_variable_locate(const struct probe_scope *scope, Dwarf_Die *variable, struct fetch *ret,
			  const char **ret_why);

/* Writes "NAME=FETCH:TYPE".  -ENOENT: it is unknown there, or optimized out; -ENOTSUP, -EINVAL with
 * the reason; the error's position is the argument's column. */
int tally_variable_format(const struct probe_scope *scope, const struct probe_argument *argument,
			  const struct trace_features *features, struct tally_buf *to,
			  struct tally_error *error);

/* Visits the parameters, and the variables too, that can be read at the scope's address.  A result
 * that is not 0 ends it, and is returned. */
typedef int (*variable_visit)(Dwarf_Die *variable, void *context);
int tally_variables_walk(const struct probe_scope *scope, bool parameters_only,
			 variable_visit visit, void *context);
/* The same, also with those that can be read elsewhere in the function only. */
int tally_variables_walk_all(const struct probe_scope *scope, variable_visit visit, void *context);
/* The same for those of the whole file. */
int tally_variables_walk_file(const struct probe_scope *scope, variable_visit visit, void *context);

/* "struct node*\tname". */
void tally_variable_describe(Dwarf_Die *variable, struct tally_buf *to);
/* "\t@<work+[0-20,56-70]>": where in the function it can be read, in bytes from its entry.  Nothing
 * is added when that is unknown. */
void tally_variable_describe_range(const struct probe_scope *scope, Dwarf_Die *variable,
				   struct tally_buf *to);

#endif
