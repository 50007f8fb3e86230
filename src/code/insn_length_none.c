/* Built without libcapstone: no instruction is known. */
#include "code/insn_length.h"

struct insn_decoder *tally_insn_decoder_new(bool is_64_bit)
{
	(void)is_64_bit;
	return NULL;
}

void tally_insn_decoder_free(struct insn_decoder *decoder)
{
	(void)decoder;
}

size_t tally_insn_length(struct insn_decoder *decoder, const uint8_t *bytes, size_t size)
{
	(void)decoder, (void)bytes, (void)size;
	return 0;
}
