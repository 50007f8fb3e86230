/* Machine code to instructions: their text, and where they jump or call to.
 *
 * x86 of 32 and 64 bits, arm, arm64, ppc, s390, mips, sparc: what libcapstone 4.0.2 knows.  It
 * knows nothing of samples or files. */
#ifndef TALLY_CODE_DISASSEMBLER_H
#define TALLY_CODE_DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_disassembler;

/* The code's machine, as the header of its ELF file has it. */
struct tally_code_machine {
	uint16_t machine; /* EM_* */
	bool is_64_bit, big_endian;
};

enum tally_insn_kind {
	TALLY_INSN_PLAIN,
	TALLY_INSN_JUMP, /* within the function or out of it, with or without a condition */
	TALLY_INSN_CALL,
	TALLY_INSN_RETURN,
	TALLY_INSN_UNKNOWN, /* neither libcapstone nor LLVM decodes the bytes */
};

/* Sizes of the texts, their NUL included: libcapstone's own. */
#define TALLY_MNEMONIC_ROOM 32
#define TALLY_OPERANDS_ROOM 160

struct tally_insn {
	uint64_t address;
	uint32_t size; /* bytes, never 0 */
	enum tally_insn_kind kind;
	bool has_target;    /* of jumps and calls to an address that is part of the instruction */
	bool has_reference; /* it addresses memory relative to itself */
	uint64_t target, reference;
	char mnemonic[TALLY_MNEMONIC_ROOM], operands[TALLY_OPERANDS_ROOM];
};

/* 0; -ENOSYS: built without libcapstone; -ENOTSUP: it does not know the machine; -ENOMEM.  `intel`:
 * x86 in Intel's syntax instead of AT&T's. */
int tally_disassembler_new(const struct tally_code_machine *machine, bool intel,
			   struct tally_disassembler **ret);
void tally_disassembler_free(struct tally_disassembler *disassembler);

/* The instruction that the bytes begin with; bytes that are invalid or unknown are one, too, whose
 * text is the bytes.  `size` is at least 1. */
void tally_disassemble(struct tally_disassembler *disassembler, const uint8_t *bytes, size_t size,
		       uint64_t address, struct tally_insn *ret);

#endif
