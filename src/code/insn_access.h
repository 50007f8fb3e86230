/* What a machine instruction does with registers and memory, as far as the types of what is in them
 * can be followed.  x86 of 64 bits and arm64.  Registers have DWARF's numbers.  Sources: the
 * System V ABI of x86-64, figure 3.36; DWARF for the ARM 64-bit architecture, 4.1. */
#ifndef TALLY_CODE_INSN_ACCESS_H
#define TALLY_CODE_INSN_ACCESS_H

#include "code/disassembler.h"

/* Registers for whole numbers: 16 of x86-64; x0 to x30 and sp. */
#define INSN_REGISTERS 32
#define INSN_NONE      0xff /* in place of a register */

enum insn_action {
	INSN_OTHER,        /* registers of `written` change */
	INSN_COPY,         /* `to` becomes `from` */
	INSN_LOAD,         /* `to` becomes what is in memory, a whole register */
	INSN_STORE,        /* memory becomes `from`, a whole register */
	INSN_ADDRESS,      /* `to` becomes the address of the operand, which is not accessed */
	INSN_CONSTANT,     /* `to` becomes `value` */
	INSN_ADD,          /* `to` becomes `from` + `value` */
	INSN_ADD_REGISTER, /* `to` becomes `to` + `from` */
	INSN_SELECT,       /* `to` stays, or becomes `from` */
	INSN_PUSH,         /* of `from`, or INSN_NONE */
	INSN_POP,          /* to `to`, or INSN_NONE */
	INSN_LEAVE,        /* the frame pointer becomes the stack pointer, and is popped */
};

enum insn_flow {
	INSN_NEXT,   /* goes on behind it */
	INSN_BRANCH, /* or at `target`, where that is known */
	INSN_JUMP,   /* at `target`, where that is known, and never behind it */
	INSN_CALL,
	INSN_END, /* a return, or what traps */
};

enum insn_segment {
	INSN_FLAT,
	INSN_FS,
	INSN_GS,
};

struct insn_access {
	uint32_t size;   /* bytes, never 0 */
	uint8_t action;  /* enum insn_action */
	uint8_t flow;    /* enum insn_flow */
	uint8_t segment; /* enum insn_segment */
	uint8_t to, from;
	bool has_target;
	bool memory; /* it accesses memory by an operand: base + index * scale + displacement */
	bool stack;  /* a push, pop, call, return or the like; and memory is where the stack is */
	bool stores; /* the operand is written */
	bool unknown;
	uint8_t base, index, scale;
	uint8_t bytes; /* of the operand; 0: unknown */
	int64_t displacement;
	int64_t moves; /* `base` changes by this behind the access */
	int64_t value;
	uint32_t written; /* bits of registers that change */
	uint64_t target;
};

struct insn_reader;

/* 0; -ENOSYS: built without libcapstone; -ENOTSUP: another machine; -ENOMEM. */
int tally_insn_reader_new(const struct tally_code_machine *machine, struct insn_reader **ret);
void tally_insn_reader_free(struct insn_reader *reader); /* NULL is fine */
/* The instruction that the bytes begin with; bytes that are unknown are one with `unknown`. */
void tally_insn_read(struct insn_reader *reader, const uint8_t *bytes, size_t size,
		     uint64_t address, struct insn_access *ret);

#endif
