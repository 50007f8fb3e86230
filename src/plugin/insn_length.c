/* By libcapstone. */
#include "plugin/insn_length.h"

#include <capstone/capstone.h>
#include <stdlib.h>

struct insn_decoder {
	csh handle;
	cs_insn *insn;
};

struct insn_decoder *tally_insn_decoder_new(bool is_64_bit)
{
	struct insn_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	if (cs_open(CS_ARCH_X86, is_64_bit ? CS_MODE_64 : CS_MODE_32, &decoder->handle)) {
		free(decoder);
		return NULL;
	}
	decoder->insn = cs_malloc(decoder->handle);
	if (!decoder->insn) {
		tally_insn_decoder_free(decoder);
		return NULL;
	}
	return decoder;
}

void tally_insn_decoder_free(struct insn_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	cs_close(&decoder->handle);
	free(decoder);
}

size_t tally_insn_length(struct insn_decoder *decoder, const uint8_t *bytes, size_t size)
{
	uint64_t address = 0;

	if (!decoder || !cs_disasm_iter(decoder->handle, &bytes, &size, &address, decoder->insn))
		return 0;
	return decoder->insn->size;
}
