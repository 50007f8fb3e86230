/* Registers of samples (attr.sample_regs_user, sample_regs_intr) by name. */
#ifndef TALLY_ABI_REGISTER_NAMES_H
#define TALLY_ABI_REGISTER_NAMES_H

#include <stdint.h>

/* The architecture that recorded: perf knows registers by it. */
enum tally_register_arch {
	TALLY_REGISTER_ARCH_OTHER,
	TALLY_REGISTER_ARCH_X86, /* 32 and 64 bits */
	TALLY_REGISTER_ARCH_ARM64,
	TALLY_REGISTER_ARCH_ARM,
	TALLY_REGISTER_ARCH_POWERPC,
	TALLY_REGISTER_ARCH_S390,
	TALLY_REGISTER_ARCH_RISCV,
	TALLY_REGISTER_ARCH_MIPS,
	TALLY_REGISTER_ARCH_CSKY,
	TALLY_REGISTER_ARCH_LOONGARCH,
	TALLY_REGISTER_ARCHES
};

/* Of a machine's name as uname(2) and the file's ARCH feature have it ("x86_64", "aarch64", "i686",
 * ...); NULL: this machine's. */
enum tally_register_arch tally_register_arch(const char *machine);

/* The name of register `number` (a bit of sample_regs_*); NULL: there is none. */
const char *tally_register_name_at(enum tally_register_arch arch, unsigned number);

/* The registers that every sample can hold on a machine (NULL: this one), as bits; 0: unknown. */
uint64_t tally_register_mask(const char *machine);

#endif
