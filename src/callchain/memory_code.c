#include "callchain/memory_code.h"

#include <string.h>
#include "unwind/cfi.h"

/* Python calls its evaluation loop through a copy of these instructions for each function, so that
 * each function has an address (python -X perf): sub $8,%rsp; call *%rcx; add $8,%rsp; ret. They
 * have neither call frame information nor a frame pointer. Builds with branch protection have
 * endbr64 before it. Later versions keep a frame pointer. Source: Python/asm_trampoline.S of
 * CPython 3.12. */
static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
				     0x48, 0x83, 0xc4, 0x08, 0xc3};
static const uint8_t branch_target[] = {0xf3, 0x0f, 0x1e, 0xfa};

#define TAKEN sizeof(branch_target) /* the size of its first instruction, too */
#define RET   (sizeof(trampoline) - 1)

/* The stack pointer is at the return address, or a word below it. */
static const struct cfi_rules at_return = {
    .cfa = {.column = 7, .how = CFI_REGISTER, .value = 8},
    .count = 1,
    .return_column = 16,
    .plain = true,
    .rules = {{.column = 16, .how = CFI_AT_CFA, .value = -8}},
};
static const struct cfi_rules word_taken = {
    .cfa = {.column = 7, .how = CFI_REGISTER, .value = 16},
    .count = 1,
    .return_column = 16,
    .plain = true,
    .rules = {{.column = 16, .how = CFI_AT_CFA, .value = -8}},
};

/* Bytes around an address; those that cannot be read are 0. */
struct around {
	uint8_t bytes[RET + TAKEN + sizeof(trampoline)];
};

/* The memory may begin or end in between. */
static void read_around(const struct tally_chain_space *space, uint64_t address, struct around *ret)
{
	uint8_t *at = ret->bytes + RET;
	size_t behind = sizeof(ret->bytes) - RET;

	memset(ret, 0, sizeof(*ret));
	if (space->read_code(space->context, address, at, behind))
		for (size_t i = 0; i < behind; i++)
			if (space->read_code(space->context, address + i, at + i, 1))
				break;
	if (space->read_code(space->context, address - RET, ret->bytes, RET))
		for (size_t i = 1; i <= RET; i++)
			if (space->read_code(space->context, address - i, at - i, 1))
				break;
}

const struct cfi_rules *tally_memory_code_rules(const struct tally_chain_space *space,
						enum tally_unwind_arch arch, uint64_t address)
{
	struct around around;
	const uint8_t *at = around.bytes + RET;

	if (!space->read_code || arch != TALLY_UNWIND_X86_64 || address < RET)
		return &tally_cfi_none;
	read_around(space, address, &around);
	if (!memcmp(at, branch_target, sizeof(branch_target)) &&
	    !memcmp(at + sizeof(branch_target), trampoline, sizeof(trampoline)))
		return &at_return;
	for (size_t i = 0; i < sizeof(trampoline); i++)
		if (!memcmp(at - i, trampoline, sizeof(trampoline)))
			return i == 0 || i == RET ? &at_return : &word_taken;
	return &tally_cfi_none;
}
