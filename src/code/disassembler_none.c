/* Built without libcapstone: no code can be disassembled. */
#include "code/disassembler.h"

#include <errno.h>

int tally_disassembler_new(const struct tally_code_machine *machine, bool intel,
			   struct tally_disassembler **ret)
{
	(void)machine, (void)intel, (void)ret;
	return -ENOSYS;
}

void tally_disassembler_free(struct tally_disassembler *disassembler)
{
	(void)disassembler;
}

/* There is no disassembler that this could be called with. */
void tally_disassemble(struct tally_disassembler *disassembler, const uint8_t *bytes, size_t size,
		       uint64_t address, struct tally_insn *ret)
{
	(void)disassembler, (void)bytes, (void)size;
	*ret = (struct tally_insn){.address = address, .size = 1, .kind = TALLY_INSN_UNKNOWN};
}
