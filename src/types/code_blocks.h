/* A function's instructions, in blocks that are entered at their first and left behind their last
 * one. */
#ifndef TALLY_TYPES_CODE_BLOCKS_H
#define TALLY_TYPES_CODE_BLOCKS_H

#include <stddef.h>
#include "code/insn_access.h"

/* Larger functions are cut: it would take too long. */
#define CODE_INSNS_MOST (1U << 16)

struct code_insn {
	uint64_t address;
	struct insn_access access;
};

#define CODE_NOWHERE UINT32_MAX

struct code_block {
	uint32_t first, count; /* of the instructions */
	uint32_t next, target; /* blocks that it goes on with; CODE_NOWHERE */
	bool scattered;        /* or with blocks that are not known */
};

struct code_blocks {             /* all zero is empty and valid */
	struct code_insn *insns; /* by address */
	size_t insn_count, insn_room;
	struct code_block *blocks;
	size_t block_count;
};

/* Adds the code at an address; parts of a function in the order of their addresses.  0 or
 * -ENOMEM. */
int tally_code_blocks_add(struct code_blocks *code, struct insn_reader *reader,
			  const uint8_t *bytes, size_t size, uint64_t address);
/* Cuts what was added into blocks.  0 or -ENOMEM. */
int tally_code_blocks_cut(struct code_blocks *code);
void tally_code_blocks_done(struct code_blocks *code);

/* The instruction at an address; CODE_NOWHERE: none begins there. */
uint32_t tally_code_insn_at(const struct code_blocks *code, uint64_t address);

#endif
