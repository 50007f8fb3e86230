/* By libcapstone. */
#include "code/insn_access.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include "code/insn_access_parts.h"
#include "code/insn_length.h"

struct insn_reader {
	csh handle;
	cs_insn *insn;
	struct insn_decoder *lengths; /* x86: of instructions that libcapstone does not know */
	const struct insn_machine *machine;
};

int tally_insn_reader_new(const struct tally_code_machine *machine, struct insn_reader **ret)
{
	bool x86 = machine->machine == EM_X86_64;
	struct insn_reader *reader;

	if ((!x86 && machine->machine != EM_AARCH64) || !machine->is_64_bit || machine->big_endian)
		return -ENOTSUP;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	if (cs_open(x86 ? CS_ARCH_X86 : CS_ARCH_ARM64, x86 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN,
		    &reader->handle)) {
		free(reader);
		return -ENOTSUP;
	}
	cs_option(reader->handle, CS_OPT_DETAIL, CS_OPT_ON);
	reader->insn = cs_malloc(reader->handle);
	reader->lengths = x86 ? tally_insn_decoder_new(true) : NULL;
	reader->machine = x86 ? &tally_insn_x86 : &tally_insn_arm64;
	if (!reader->insn) {
		tally_insn_reader_free(reader);
		return -ENOMEM;
	}
	*ret = reader;
	return 0;
}

void tally_insn_reader_free(struct insn_reader *reader)
{
	if (!reader)
		return;
	if (reader->insn)
		cs_free(reader->insn, 1);
	tally_insn_decoder_free(reader->lengths);
	cs_close(&reader->handle);
	free(reader);
}

static void add_written(const struct insn_reader *reader, struct insn_access *ret)
{
	cs_regs read, written;
	uint8_t read_count = 0, written_count = 0;

	if (cs_regs_access(reader->handle, reader->insn, read, &read_count, written,
			   &written_count))
		return;
	for (uint8_t i = 0; i < written_count; i++) {
		uint8_t reg = reader->machine->register_of(written[i]);

		if (reg != INSN_NONE)
			ret->written |= 1U << reg;
	}
}

void tally_insn_read(struct insn_reader *reader, const uint8_t *bytes, size_t size,
		     uint64_t address, struct insn_access *ret)
{
	const uint8_t *at = bytes;
	uint64_t from = address;
	size_t left = size, length;

	*ret = (struct insn_access){
	    .to = INSN_NONE, .from = INSN_NONE, .base = INSN_NONE, .index = INSN_NONE};
	if (cs_disasm_iter(reader->handle, &at, &left, &from, reader->insn) && reader->insn->size) {
		ret->size = reader->insn->size;
		add_written(reader, ret);
		reader->machine->take(reader->insn, ret);
		return;
	}
	ret->unknown = true;
	length = reader->lengths ? tally_insn_length(reader->lengths, bytes, size) : 4;
	length = length ? length : 1;
	ret->size = (uint32_t)(length < size ? length : size);
}
