/* What a memory operand leads to, and what a register holds, at one instruction; for
 * access_types.c. */
#ifndef TALLY_TYPES_ACCESS_OPERAND_H
#define TALLY_TYPES_ACCESS_OPERAND_H

#include "types/access_types.h"

/* Of members that hold pointers: what was looked up lately. */
#define ACCESS_LOADS 256

struct access_load {
	type_ref type; /* 0: free */
	int64_t offset;
	struct held held;
};

struct access_walk {
	const struct access_function *function;
	struct held_state state; /* before the instruction */
	struct access_load loads[ACCESS_LOADS];
};

struct access_operand {
	struct access_found found;
	bool in_frame; /* at `frame` from the call frame address */
	int64_t frame;
};

/* What a register holds at an address; `displacement`: of the access that it is for. */
struct held tally_access_value(const struct access_walk *walk, uint8_t reg, uint64_t address,
			       int64_t displacement);
/* What the instruction's operand addresses. */
void tally_access_operand(const struct access_walk *walk, const struct code_insn *insn,
			  struct access_operand *ret);
/* What its address is, in a register. */
struct held tally_access_address(const struct access_walk *walk, const struct code_insn *insn);
/* An address of the program, in a register. */
struct held tally_access_constant(const struct access_walk *walk, int64_t value);
/* What the object found holds, a whole register of it. */
struct held tally_access_load(struct access_walk *walk, const struct access_operand *operand);

#endif
