/* By libcapstone. */
#include "code/insn_length.h"

#include <capstone/capstone.h>
#include <stdlib.h>

struct insn_decoder {
	bool is_64_bit;
	csh handle;
	cs_insn *insn;
};

struct insn_decoder *tally_insn_decoder_new(bool is_64_bit)
{
	struct insn_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	decoder->is_64_bit = is_64_bit;
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

/* What ModRM and what it asks for take: itself, a SIB, a displacement.  0: there is too little.
 * Source: the Intel SDM, volume 2, table 2-2. */
static size_t operand_length(const uint8_t *bytes, size_t size)
{
	unsigned mode = size ? bytes[0] >> 6 : 0, place = size ? bytes[0] & 7 : 0;
	size_t length = 1;

	if (!size || (mode != 3 && place == 4 && size < 2))
		return 0;
	if (mode == 3)
		return 1;
	if (place == 4) {
		length++;
		place = bytes[1] & 7;
	}
	if (mode == 1)
		return length + 1;
	return length + (mode == 2 || place == 5 ? 4 : 0);
}

/* Of vector and system instructions in 64-bit code, newer ones than libcapstone knows: their
 * lengths follow from the form alone.  0: it is none.  Source: the Intel SDM, volume 2, 2.3
 * and 2.7. */
static size_t newer_length(const uint8_t *bytes, size_t size)
{
	size_t prefix, operand, length;
	unsigned map, opcode;

	if (size < 5)
		return 0;
	if (bytes[0] == 0x0f && bytes[1] == 0x01 && bytes[2] >= 0xc0)
		return 3; /* what operating systems and threads do, without operands */
	switch (bytes[0]) {
	case 0xc5:
		prefix = 2;
		map = 1;
		break;
	case 0xc4:
		prefix = 3;
		map = bytes[1] & 0x1f;
		break;
	case 0x62:
		prefix = 4;
		map = bytes[1] & 7;
		break;
	default:
		return 0;
	}
	opcode = bytes[prefix];
	if (!map || map == 4 || map > 6)
		return 0;
	operand = operand_length(bytes + prefix + 1, size - prefix - 1);
	if (!operand)
		return 0;
	length = prefix + 1 + operand;
	if (map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
				      (opcode >= 0xc4 && opcode <= 0xc6))))
		length++;
	return length <= size ? length : 0;
}

size_t tally_insn_length(struct insn_decoder *decoder, const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes;
	size_t left = size;
	uint64_t address = 0;

	if (!decoder)
		return 0;
	if (cs_disasm_iter(decoder->handle, &at, &left, &address, decoder->insn))
		return decoder->insn->size;
	return decoder->is_64_bit ? newer_length(bytes, size) : 0;
}
