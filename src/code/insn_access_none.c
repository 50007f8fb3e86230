/* Built without libcapstone. */
#include <errno.h>
#include "code/insn_access.h"

int tally_insn_reader_new(const struct tally_code_machine *machine, struct insn_reader **ret)
{
	(void)machine, (void)ret;
	return -ENOSYS;
}

void tally_insn_reader_free(struct insn_reader *reader)
{
	(void)reader;
}

void tally_insn_read(struct insn_reader *reader, const uint8_t *bytes, size_t size,
		     uint64_t address, struct insn_access *ret)
{
	(void)reader, (void)bytes, (void)size;
	(void)address;
	*ret = (struct insn_access){.size = 1, .unknown = true};
}
