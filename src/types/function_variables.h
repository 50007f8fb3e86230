/* The variables of a function and of what was inlined into it, with where each is, and what its
 * calls return. */
#ifndef TALLY_TYPES_FUNCTION_VARIABLES_H
#define TALLY_TYPES_FUNCTION_VARIABLES_H

#include "dwarf/lines_spans.h"
#include "types/held.h"
#include "types/location.h"

struct variable_place {
	uint64_t low, high; /* of the code that it is for, [low, high) */
	struct location location;
	type_ref type;
	uint64_t size;    /* of a variable in memory */
	struct held held; /* LOCATION_REGISTER: what the register holds */
};

struct call_result {
	uint64_t returns_to;
	type_ref type; /* of what the function returns */
};

struct function_variables {
	struct variable_place *places; /* by `low` */
	size_t count, room;
	struct tally_spans in_registers[INSN_REGISTERS]; /* the index is that of `places` */
	struct tally_spans in_memory;                    /* LOCATION_BASED and LOCATION_FRAME */
	struct call_result *calls;                       /* by address */
	size_t call_count, call_room;
};

/* What a pointer of this type holds: HELD_POINTER, or HELD_NOTHING of other types. */
struct held tally_held_of_type(struct type_reader *reader, type_ref type);
/* The address of an object of this type. */
struct held tally_held_address(struct type_reader *reader, type_ref type, int64_t offset);

/* Reads the function's entry and all in it.  False: out of memory or too much; what was read
 * counts.  `ret` is to be done at any result. */
bool tally_function_variables_read(struct type_reader *reader, const struct type_entry *function,
				   struct function_variables *ret);
void tally_function_variables_done(struct function_variables *variables);

/* The first place that begins at an address or behind it. */
size_t tally_function_variables_from(const struct function_variables *variables, uint64_t address);
/* What a call that returns there gives; NULL: unknown. */
const struct call_result *tally_function_call(const struct function_variables *variables,
					      uint64_t returns_to);

#endif
