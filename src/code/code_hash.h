/* A hash of a function's code that is the same wherever the linker put it. */
#ifndef TALLY_CODE_CODE_HASH_H
#define TALLY_CODE_CODE_HASH_H

#include "code/disassembler.h"

struct code_hash {
	uint64_t hash;
	uint32_t instructions;
};

/* Of instructions with their operands, but for addresses outside of the function that are part of
 * them: of functions that are called, and of data.  Two functions of some instructions with equal
 * hashes do the same with other functions and data of any name. */
void tally_code_hash(struct tally_disassembler *disassembler, const uint8_t *bytes, size_t size,
		     struct code_hash *ret);

#endif
