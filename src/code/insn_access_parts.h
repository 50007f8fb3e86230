/* The decoders of machines; for insn_access.c only. */
#ifndef TALLY_CODE_INSN_ACCESS_PARTS_H
#define TALLY_CODE_INSN_ACCESS_PARTS_H

#include <capstone/capstone.h>
#include "code/insn_access.h"

/* Fill all but the size; `to`, `from`, `base` and `index` are INSN_NONE before. */
void tally_insn_take_x86(csh handle, const cs_insn *insn, struct insn_access *ret);
void tally_insn_take_arm64(csh handle, const cs_insn *insn, struct insn_access *ret);

#endif
