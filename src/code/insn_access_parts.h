/* The decoders of machines; for insn_access.c only. */
#ifndef TALLY_CODE_INSN_ACCESS_PARTS_H
#define TALLY_CODE_INSN_ACCESS_PARTS_H

#include <capstone/capstone.h>
#include "code/insn_access.h"

struct insn_machine {
	/* DWARF's number of one of libcapstone's registers; INSN_NONE: it is not followed. */
	uint8_t (*register_of)(unsigned reg);
	/* Fills all but the size; `to`, `from`, `base` and `index` are INSN_NONE, and `written` is
	 * what the instruction writes, before. */
	void (*take)(const cs_insn *insn, struct insn_access *ret);
};
extern const struct insn_machine tally_insn_x86, tally_insn_arm64;

#endif
