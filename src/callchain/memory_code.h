/* Machine code that was made at run time and is in no file: what its bytes say of its frames. */
#ifndef TALLY_CALLCHAIN_MEMORY_CODE_H
#define TALLY_CALLCHAIN_MEMORY_CODE_H

#include <stdint.h>
#include "callchain/chain.h"

struct cfi_rules;

/* The rules at an address; tally_cfi_none: nothing is known, frame pointers may lead on. */
const struct cfi_rules *tally_memory_code_rules(const struct tally_chain_space *space,
						enum tally_unwind_arch arch, uint64_t address);

#endif
