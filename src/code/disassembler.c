/* By libcapstone. */
#include "code/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code/insn_length.h"

struct tally_disassembler {
	uint16_t machine;
	csh handle;
	cs_insn *insn;
	unsigned step;               /* bytes of an unknown instruction */
	bool has_operands;           /* x86: where memory is addressed is looked at */
	struct insn_decoder *x86_64; /* lengths of instructions that libcapstone does not know */
};

/* Source: elf.h, and capstone.h of 4.0.2, which lacks riscv and loongarch. */
static int engine_of(const struct tally_code_machine *machine, cs_arch *arch, cs_mode *mode,
		     unsigned *step)
{
	*step = 4;
	*mode = machine->big_endian ? CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN;
	switch (machine->machine) {
	case EM_386:
	case EM_X86_64:
		*arch = CS_ARCH_X86;
		*mode = machine->is_64_bit ? CS_MODE_64 : CS_MODE_32;
		*step = 1;
		return 0;
	case EM_AARCH64:
		*arch = CS_ARCH_ARM64;
		return 0;
	case EM_ARM:
		*arch = CS_ARCH_ARM;
		return 0;
	case EM_PPC:
	case EM_PPC64:
		*arch = CS_ARCH_PPC;
		*mode |= machine->is_64_bit ? CS_MODE_64 : CS_MODE_32;
		return 0;
	case EM_MIPS:
		*arch = CS_ARCH_MIPS;
		*mode |= machine->is_64_bit ? CS_MODE_MIPS64 : CS_MODE_MIPS32;
		return 0;
	case EM_S390:
		*arch = CS_ARCH_SYSZ;
		*mode = CS_MODE_BIG_ENDIAN;
		*step = 2;
		return 0;
	case EM_SPARCV9:
		*arch = CS_ARCH_SPARC;
		*mode = CS_MODE_BIG_ENDIAN | CS_MODE_V9;
		return 0;
	default:
		return -ENOTSUP;
	}
}

int tally_disassembler_new(const struct tally_code_machine *machine, bool intel,
			   struct tally_disassembler **ret)
{
	struct tally_disassembler *made;
	cs_arch arch;
	cs_mode mode;
	unsigned step;
	int error = engine_of(machine, &arch, &mode, &step);

	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->step = step;
	made->machine = machine->machine;
	made->has_operands = arch == CS_ARCH_X86;
	if (cs_open(arch, mode, &made->handle)) {
		free(made);
		return -ENOTSUP; /* a libcapstone that was built without it */
	}
	if (arch == CS_ARCH_X86)
		cs_option(made->handle, CS_OPT_SYNTAX,
			  intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	cs_option(made->handle, CS_OPT_DETAIL, CS_OPT_ON);
	made->insn = cs_malloc(made->handle);
	if (arch == CS_ARCH_X86 && machine->is_64_bit)
		made->x86_64 = tally_insn_decoder_new(true);
	if (!made->insn) {
		tally_disassembler_free(made);
		return -ENOMEM;
	}
	*ret = made;
	return 0;
}

void tally_disassembler_free(struct tally_disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->insn)
		cs_free(disassembler->insn, 1);
	tally_insn_decoder_free(disassembler->x86_64);
	cs_close(&disassembler->handle);
	free(disassembler);
}

static bool is_in(const cs_insn *insn, unsigned group)
{
	for (unsigned i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

/* The group of calls has those of x86 alone; bl and jal are in that of jumps, or none.  Source:
 * the tables of capstone 4.0.2. */
static enum tally_insn_kind kind_of(const struct tally_disassembler *disassembler,
				    const cs_insn *insn)
{
	const char *name = insn->mnemonic;

	if (is_in(insn, CS_GRP_CALL))
		return TALLY_INSN_CALL;
	if (is_in(insn, CS_GRP_RET) || is_in(insn, CS_GRP_IRET) ||
	    (disassembler->machine == EM_AARCH64 && !strcmp(name, "ret")))
		return TALLY_INSN_RETURN;
	if (disassembler->machine == EM_AARCH64 && !strncmp(name, "bl", 2) &&
	    (!name[2] || !strncmp(name + 2, "r", 1)))
		return TALLY_INSN_CALL;
	if (disassembler->machine == EM_ARM && (!strcmp(name, "bl") || !strcmp(name, "blx")))
		return TALLY_INSN_CALL;
	return is_in(insn, CS_GRP_JUMP) || is_in(insn, CS_GRP_BRANCH_RELATIVE) ? TALLY_INSN_JUMP
									       : TALLY_INSN_PLAIN;
}

/* A jump's address is its last operand as text: "0x11f8", "x0, #0x40", "#0x1234". */
static void find_target(struct tally_insn *insn)
{
	const char *comma = strrchr(insn->operands, ','), *at = comma ? comma + 1 : insn->operands;
	char *end;

	at += strspn(at, " #");
	if (strncmp(at, "0x", 2) != 0 && strcmp(at, "0") != 0)
		return;
	insn->target = strtoull(at, &end, 16);
	insn->has_target = !*end;
}

static void find_reference(const cs_insn *decoded, struct tally_insn *insn)
{
	const cs_x86 *x86 = &decoded->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
		    x86->operands[i].mem.base == X86_REG_RIP &&
		    x86->operands[i].mem.index == X86_REG_INVALID) {
			insn->has_reference = true;
			insn->reference =
			    insn->address + insn->size + (uint64_t)x86->operands[i].mem.disp;
		}
}

static void put_bytes(const uint8_t *bytes, struct tally_insn *ret)
{
	size_t at = 0;

	ret->kind = TALLY_INSN_UNKNOWN;
	snprintf(ret->mnemonic, sizeof(ret->mnemonic), "(unknown)");
	for (uint32_t i = 0; i < ret->size && at + 4 < sizeof(ret->operands); i++)
		at += (size_t)snprintf(ret->operands + at, sizeof(ret->operands) - at, "%s%02x",
				       i ? " " : "", bytes[i]);
}

void tally_disassemble(struct tally_disassembler *disassembler, const uint8_t *bytes, size_t size,
		       uint64_t address, struct tally_insn *ret)
{
	const uint8_t *at = bytes;
	uint64_t from = address;
	size_t left = size, length;
	cs_insn *insn = disassembler->insn;

	*ret = (struct tally_insn){.address = address};
	if (cs_disasm_iter(disassembler->handle, &at, &left, &from, insn) && insn->size) {
		ret->size = insn->size;
		ret->kind = kind_of(disassembler, insn);
		snprintf(ret->mnemonic, sizeof(ret->mnemonic), "%s", insn->mnemonic);
		snprintf(ret->operands, sizeof(ret->operands), "%s", insn->op_str);
		if (ret->kind == TALLY_INSN_JUMP || ret->kind == TALLY_INSN_CALL)
			find_target(ret);
		if (disassembler->has_operands)
			find_reference(insn, ret);
		return;
	}
	length = disassembler->x86_64 ? tally_insn_length(disassembler->x86_64, bytes, size) : 0;
	if (!length)
		length = disassembler->step;
	ret->size = (uint32_t)(length < size ? length : size);
	put_bytes(bytes, ret);
}
