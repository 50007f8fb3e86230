/* What a unit has outside of its functions' bodies: where its functions are, and its variables at
 * fixed addresses, in functions too. */
#ifndef TALLY_TYPES_UNIT_NAMES_H
#define TALLY_TYPES_UNIT_NAMES_H

#include "dwarf/lines_spans.h"
#include "types/type_reader.h"

struct unit_variable {
	uint64_t address, size;
	type_ref type;
};

struct unit_named { /* a variable that may be elsewhere: only declared here */
	uint64_t hash;
	type_ref type;
};

struct unit_names {
	struct tally_spans functions; /* of their code; the index is that of `entries` */
	type_ref *entries;
	size_t entry_count, entry_room;
	struct unit_variable *variables, *of_threads; /* by address, and by place */
	size_t variable_count, variable_room, thread_count, thread_room;
	struct unit_named *names; /* by hash */
	size_t name_count, name_room;
};

/* Reads the unit at an offset.  False: it is damaged or too much, or out of memory; what was read
 * counts.  `ret` is to be done at any result. */
bool tally_unit_names_read(struct type_reader *reader, uint64_t offset, struct unit_names *ret);
void tally_unit_names_done(struct unit_names *names);

/* The innermost function with the code at an address; 0: none. */
type_ref tally_unit_function_at(const struct unit_names *names, uint64_t address);
/* The variable that holds an address, of threads or of the program; NULL: none. */
const struct unit_variable *tally_unit_variable_at(const struct unit_names *names, bool of_thread,
						   uint64_t address);
/* The type of a variable by its name, or the name that linkers use; 0: none. */
type_ref tally_unit_variable_named(const struct unit_names *names, const char *name);

#endif
