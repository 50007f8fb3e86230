/* One frame while it is unwound: where each of its registers is kept. */
#ifndef TALLY_UNWIND_UNWIND_STATE_H
#define TALLY_UNWIND_UNWIND_STATE_H

#include "unwind/unwind.h"

/* DWARF's numbers of the registers that are needed to unwind each architecture, and perf's numbers
 * for them. */
struct unwind_machine {
	uint8_t word; /* bytes */
	uint8_t pc;   /* column where the start's is kept */
	uint8_t stack_pointer, frame_pointer;
	uint8_t columns;           /* in use */
	uint8_t perf[CFI_COLUMNS]; /* column -> bit of the mask; NO_REGISTER */
};
#define NO_REGISTER 0xff

enum unwind_where {
	WHERE_LOST,
	WHERE_START,  /* the start's register of that column */
	WHERE_MEMORY, /* at an address */
	WHERE_VALUE,
};

/* Registers are read when they are needed: one beyond the copied stack costs only the frames that
 * need it. */
struct unwind_place {
	enum unwind_where where;
	uint64_t value;
};

struct unwind_state {
	const struct unwind_machine *machine;
	const struct tally_unwind_start *start;
	const struct tally_unwind_world *world;
	uint64_t stack_from, stack_until;
	uint64_t pc, cfa; /* cfa: of the frame before, which was this one's stack pointer */
	bool is_call;     /* pc is a return address: the call is before it */
	bool is_exact;    /* pc is shown as it is, not as a call before it */
	bool is_first;    /* registers are the sample's own */
	bool pc_unknown;  /* it is 0, as its place is in memory of unknown bytes (as perf) */
	struct unwind_place places[CFI_COLUMNS];
};

/* Reads a word. 0; 1: unknown, *ret is 0; below 0: nothing is there. */
int tally_unwind_read(const struct unwind_state *state, uint64_t address, uint64_t *ret);
int tally_unwind_register(const struct unwind_state *state, unsigned column, uint64_t *ret);

/* The value that is in a place. As tally_unwind_read(). */
int tally_unwind_place(const struct unwind_state *state, const struct unwind_place *place,
		       uint64_t *ret);
/* An address without the signature of arm64's pointer authentication. */
uint64_t tally_unwind_plain(const struct unwind_state *state, uint64_t address);
/* Bytes of machine code: 0; else not all are known. */
int tally_unwind_read_code(const struct unwind_state *state, uint64_t address, void *ret,
			   size_t size);
int tally_unwind_read_file(const struct unwind_state *state, uint64_t address, void *ret,
			   size_t size);
/* To the caller of code without rules, by the frame pointer: 1; 0: there is no caller; below 0:
 * unknown, -ERANGE: it is beyond the copy of the stack. */
int tally_unwind_by_pointer(struct unwind_state *state);

/* Runs a DWARF expression with `initial` on its stack. 0; below 0: it is invalid, or needs what is
 * unknown. *ret_column: it names a register, -1: an address or value. */
int tally_unwind_evaluate(const struct unwind_state *state, const uint8_t *bytes, size_t size,
			  uint64_t initial, uint64_t *ret, int *ret_column);

#endif
