/* From the registers and the stack of a thread to the frames that it was in.
 *
 * The way is that of perf 6.1 with libunwind 1.6, down to where a chain ends: perf's text of these
 * chains is what other programs read.  Of arm64, which that perf does not unwind, it is the ABI's.
 */
#ifndef TALLY_UNWIND_UNWIND_H
#define TALLY_UNWIND_UNWIND_H

#include "unwind/cfi.h"

enum tally_unwind_arch {
	TALLY_UNWIND_NONE,
	TALLY_UNWIND_X86_64,
	TALLY_UNWIND_I386,
	TALLY_UNWIND_ARM64,
};

/* A sample's: all borrowed. */
struct tally_unwind_start {
	enum tally_unwind_arch arch;
	uint64_t mask;          /* PERF_SAMPLE_REGS_USER's: which registers there are, */
	const uint64_t *values; /* and what they hold, one for each bit of the mask */
	const uint8_t *stack;   /* from the stack pointer up */
	uint64_t stack_size;    /* bytes that are valid */
};

/* What there is at an address of code. */
struct tally_unwind_code {
	const struct tally_cfi *cfi; /* NULL: no image that could be read, so that the chain ends */
	uint32_t rules;              /* in it */
};

/* The rest of the process. */
struct tally_unwind_world {
	void *context;
	void (*code)(void *context, uint64_t address, struct tally_unwind_code *ret);
	/* Reads bytes of an image that is mapped at an address.  0; 1: a mapping is there, but its
	 * bytes are not known; -ENOENT: there is none. */
	int (*read)(void *context, uint64_t address, void *ret, size_t size);
};

/* The frames, innermost first: the address where each was, of callers less 1, so that it is in the
 * call.  At most `room`; returns their count, 0 when the registers do not tell where the thread
 * was. */
uint32_t tally_unwind(const struct tally_unwind_start *start,
		      const struct tally_unwind_world *world, uint64_t *frames, uint32_t room);

#endif
