#include "code/code_hash.h"

#include <string.h>
#include "base/bytes.h"

#define OUTSIDE UINT64_MAX

void tally_code_hash(struct tally_disassembler *disassembler, const uint8_t *bytes, size_t size,
		     struct code_hash *ret)
{
	struct code_hash made = {.hash = 1};
	size_t at = 0;

	while (at < size) {
		struct tally_insn insn;

		tally_disassemble(disassembler, bytes + at, size - at, at, &insn);
		made.hash =
		    hash_mix(made.hash, tally_hash_bytes(insn.mnemonic, strlen(insn.mnemonic)));
		if (insn.has_target)
			made.hash = hash_mix(made.hash, insn.target < size ? insn.target : OUTSIDE);
		else if (insn.has_reference) /* the register is part of the text before it */
			made.hash = hash_mix(made.hash, insn.size);
		else
			made.hash = hash_mix(
			    made.hash, tally_hash_bytes(insn.operands, strlen(insn.operands)));
		made.instructions++;
		at += insn.size;
	}
	*ret = made;
}
