/* Registers by the names of the architecture that recorded.  Sources of numbers: each
 * architecture's include/uapi/asm/perf_regs.h; of names: the output of perf 6.1, that of newer
 * perfs where 6.1 knows none (loongarch, csky's second ABI). */
#include "abi/register_names.h"

#include <string.h>
#include <sys/utsname.h>

/* Bytes of a name; an empty one: there is none. */
#define NAME_ROOM 12

#define R0_TO_10(p)  p "0", p "1", p "2", p "3", p "4", p "5", p "6", p "7", p "8", p "9", p "10"
#define R11_TO_15(p) p "11", p "12", p "13", p "14", p "15"
#define R16_TO_25(p) p "16", p "17", p "18", p "19", p "20", p "21", p "22", p "23", p "24", p "25"
#define R26_TO_29(p) p "26", p "27", p "28", p "29"
#define TWICE(name)  name, name

static const char x86[64][NAME_ROOM] = {
    "AX",           "BX",           "CX",           "DX",           "SI",
    "DI",           "BP",           "SP",           "IP",           "FLAGS",
    "CS",           "SS",           "DS",           "ES",           "FS",
    "GS",           "R8",           "R9",           "R10",          "R11",
    "R12",          "R13",          "R14",          "R15",          [32] = TWICE("XMM0"),
    TWICE("XMM1"),  TWICE("XMM2"),  TWICE("XMM3"),  TWICE("XMM4"),  TWICE("XMM5"),
    TWICE("XMM6"),  TWICE("XMM7"),  TWICE("XMM8"),  TWICE("XMM9"),  TWICE("XMM10"),
    TWICE("XMM11"), TWICE("XMM12"), TWICE("XMM13"), TWICE("XMM14"), TWICE("XMM15"),
};
static const char arm64[64][NAME_ROOM] = {
    R0_TO_10("x"), R11_TO_15("x"), R16_TO_25("x"), R26_TO_29("x"), "lr", "sp", "pc", [46] = "vg",
};
static const char arm[64][NAME_ROOM] = {R0_TO_10("r"), "fp", "ip", "sp", "lr", "pc"};
static const char powerpc[64][NAME_ROOM] = {
    R0_TO_10("r"), R11_TO_15("r"), R16_TO_25("r"), R26_TO_29("r"), "r30",   "r31",   "nip",
    "msr",         "orig_r3",      "ctr",          "link",         "xer",   "ccr",   "softe",
    "trap",        "dar",          "dsisr",        "sier",         "mmcra", "mmcr0", "mmcr1",
    "mmcr2",       "mmcr3",        "sier2",        "sier3",        "pmc1",  "pmc2",  "pmc3",
    "pmc4",        "pmc5",         "pmc6",         "sdar",         "siar",
};
static const char s390[64][NAME_ROOM] = {
    R0_TO_10("R"), R11_TO_15("R"), R0_TO_10("FP"), R11_TO_15("FP"), "MASK", "PC",
};
static const char riscv[64][NAME_ROOM] = {
    "pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
/* $26 and $27 are the kernel's: perf has no names for them */
static const char mips[64][NAME_ROOM] = {
    "PC",  "$1",           "$2",           "$3", "$4", "$5",  "$6",  "$7",  "$8",  "$9",
    "$10", R11_TO_15("$"), R16_TO_25("$"), "",   "",   "$28", "$29", "$30", "$31",
};
static const char csky[64][NAME_ROOM] = {
    "tls",      "lr",       "pc",       "",         "sp",    "",      "a0",
    "a1",       "a2",       "a3",       "regs0",    "regs1", "regs2", "regs3",
    "regs4",    "regs5",    "regs6",    "regs7",    "regs8", "regs9", R0_TO_10("exregs"),
    "exregs11", "exregs12", "exregs13", "exregs14", "hi",    "lo",
};
static const char loongarch[64][NAME_ROOM] = {
    "PC",  "%r1", "%r2",  "%r3",           "%r4",           "%r5",           "%r6",  "%r7",
    "%r8", "%r9", "%r10", R11_TO_15("%r"), R16_TO_25("%r"), R26_TO_29("%r"), "%r30", "%r31",
};

static const char (*const by_arch[TALLY_REGISTER_ARCHES])[NAME_ROOM] = {
    [TALLY_REGISTER_ARCH_X86] = x86,
    [TALLY_REGISTER_ARCH_ARM64] = arm64,
    [TALLY_REGISTER_ARCH_ARM] = arm,
    [TALLY_REGISTER_ARCH_POWERPC] = powerpc,
    [TALLY_REGISTER_ARCH_S390] = s390,
    [TALLY_REGISTER_ARCH_RISCV] = riscv,
    [TALLY_REGISTER_ARCH_MIPS] = mips,
    [TALLY_REGISTER_ARCH_CSKY] = csky,
    [TALLY_REGISTER_ARCH_LOONGARCH] = loongarch,
};

enum tally_register_arch tally_register_arch(const char *machine)
{
	/* the first that fits; a longer name stands before its beginning */
	static const struct {
		const char *start;
		enum tally_register_arch arch;
	} starts[] = {
	    {"x86", TALLY_REGISTER_ARCH_X86},         {"aarch64", TALLY_REGISTER_ARCH_ARM64},
	    {"arm64", TALLY_REGISTER_ARCH_ARM64},     {"arm", TALLY_REGISTER_ARCH_ARM},
	    {"sa110", TALLY_REGISTER_ARCH_ARM},       {"s390", TALLY_REGISTER_ARCH_S390},
	    {"powerpc", TALLY_REGISTER_ARCH_POWERPC}, {"ppc", TALLY_REGISTER_ARCH_POWERPC},
	    {"mips", TALLY_REGISTER_ARCH_MIPS},       {"riscv", TALLY_REGISTER_ARCH_RISCV},
	    {"csky", TALLY_REGISTER_ARCH_CSKY},       {"loongarch", TALLY_REGISTER_ARCH_LOONGARCH},
	};
	struct utsname here;

	if (!machine)
		machine = uname(&here) ? "" : here.machine;
	if (machine[0] == 'i' && strlen(machine) == 4 && !strcmp(machine + 2, "86"))
		return TALLY_REGISTER_ARCH_X86;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(machine, starts[i].start, strlen(starts[i].start)))
			return starts[i].arch;
	return TALLY_REGISTER_ARCH_OTHER;
}

const char *tally_register_name_at(enum tally_register_arch arch, unsigned number)
{
	const char *name = "";

	if (arch < TALLY_REGISTER_ARCHES && by_arch[arch] && number < 64)
		name = by_arch[arch][number];
	return name[0] ? name : NULL;
}

uint64_t tally_register_mask(const char *machine)
{
	/* Those that the kernel takes in every sample: without vector registers, and on x86-64
	 * without the segments' that 64-bit kernels refuse. */
	static const uint64_t usual[TALLY_REGISTER_ARCHES] = {
	    [TALLY_REGISTER_ARCH_ARM64] = (1ULL << 33) - 1,
	    [TALLY_REGISTER_ARCH_ARM] = (1ULL << 16) - 1,
	    [TALLY_REGISTER_ARCH_POWERPC] = (1ULL << 45) - 1,
	    [TALLY_REGISTER_ARCH_S390] = (1ULL << 34) - 1,
	    [TALLY_REGISTER_ARCH_RISCV] = (1ULL << 32) - 1,
	    [TALLY_REGISTER_ARCH_LOONGARCH] = (1ULL << 32) - 1,
	};
	enum tally_register_arch arch = tally_register_arch(machine);
	struct utsname here;

	if (arch != TALLY_REGISTER_ARCH_X86)
		return arch < TALLY_REGISTER_ARCHES ? usual[arch] : 0;
	if (!machine)
		machine = uname(&here) ? "" : here.machine;
	return strcmp(machine, "x86_64") ? 0xffff : 0xff0fff;
}
