/* Where the caller of code without call frame information is, by the code itself. */
#ifndef TALLY_UNWIND_CODE_WALK_H
#define TALLY_UNWIND_CODE_WALK_H

#include "unwind/unwind_state.h"

/* Follows x86-64 code of a file from an instruction to where its function returns or jumps to
 * another one: what this takes off the stack on the way is what is between the stack pointer and
 * the return address. `behind_call`: `state->pc` is a return address, so the call before it may
 * never return. 0: the state has its caller's stack pointer and places of registers, *ret the
 * return address'; -ENODATA: no way is known that leads there, and nothing was changed. */
int tally_unwind_by_code(struct unwind_state *state, bool behind_call, struct unwind_place *ret);

#endif
