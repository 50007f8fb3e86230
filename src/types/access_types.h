/* Which objects a function's instructions access: what registers hold is followed through its
 * blocks, with what debug information says of variables. */
#ifndef TALLY_TYPES_ACCESS_TYPES_H
#define TALLY_TYPES_ACCESS_TYPES_H

#include "types/code_blocks.h"
#include "types/function_variables.h"

/* What was found of an instruction, or why nothing was. */
enum access_outcome {
	ACCESS_NOTHING, /* it accesses no memory */
	ACCESS_FOUND,
	ACCESS_STACK,  /* a push, pop, call or return, or a place of the frame without a variable */
	ACCESS_CANARY, /* the guard that is compared for damage of the stack */
	ACCESS_UNKNOWN,   /* the disassembler does not know the instruction */
	ACCESS_NO_VALUE,  /* the type of what the register holds is unknown */
	ACCESS_NO_GLOBAL, /* no variable is at the address */
	ACCESS_OUTSIDE,   /* it is outside of the object, or no member is there */
	ACCESS_NO_TYPE,   /* the object's type has no size: void, or only declared */
	/* Of whole functions: */
	ACCESS_NO_CODE,     /* it cannot be read, or its machine is unknown */
	ACCESS_NO_DEBUG,    /* there is no debug information about it */
	ACCESS_NO_FUNCTION, /* no function begins there, or the address is within an instruction */
	ACCESS_OUTCOMES,
};

struct access_found {
	uint8_t outcome; /* enum access_outcome */
	type_ref type;   /* ACCESS_FOUND: plain */
	int64_t offset;  /* in it */
};

/* Variables at addresses, of the whole program. */
struct access_globals {
	/* The object of type *ret_type with the address, and where that is in it; false: none. */
	bool (*find)(void *context, bool of_thread, int64_t address, type_ref *ret_type,
		     uint64_t *ret_offset);
	void *context;
};

struct access_function {
	struct type_reader *reader;
	const struct code_blocks *code;
	const struct function_variables *variables;
	const struct access_globals *globals;
	uint64_t entry; /* where the function is entered */
	bool arm64;     /* else x86-64 */
};

/* Fills one result for each instruction.  0 or -ENOMEM. */
int tally_access_types(const struct access_function *function, struct access_found *ret);

#endif
