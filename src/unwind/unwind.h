/* From the registers and the stack of a thread to its frames.
 *
 * By call frame information where there is some, else by frame pointers. */
#ifndef TALLY_UNWIND_UNWIND_H
#define TALLY_UNWIND_UNWIND_H

#include "unwind/cfi.h"

enum tally_unwind_arch {
	TALLY_UNWIND_NONE,
	TALLY_UNWIND_X86_64,
	TALLY_UNWIND_I386,
	TALLY_UNWIND_ARM64,
};

/* The bit of the program counter in PERF_SAMPLE_REGS_USER's mask. */
unsigned tally_unwind_pc_register(enum tally_unwind_arch arch);

/* Of a sample; all borrowed. */
struct tally_unwind_start {
	enum tally_unwind_arch arch;
	uint64_t mask;          /* PERF_SAMPLE_REGS_USER's: which registers there are, */
	const uint64_t *values; /* and their values, one for each bit of the mask */
	const uint8_t *stack;   /* from the stack pointer up */
	uint64_t stack_size;    /* bytes that are valid */
	/* The results are those of perf 6.1 with libunwind 1.6, including where a chain ends: other
	 * programs read perf's text of these chains. */
	bool as_perf;
};

/* The rest of the process. */
struct tally_unwind_world {
	void *context;
	/* The rules at an address of code; NULL: no code is there, or (as perf) no image that can
	 * be read. */
	const struct cfi_rules *(*code)(void *context, uint64_t address);
	/* Reads bytes of an image that is mapped at an address. 0; 1: a mapping is there, but its
	 * bytes are unknown; -ENOENT: there is none. */
	int (*read)(void *context, uint64_t address, void *ret, size_t size);
	/* The same for machine code, which may be in memory alone; NULL: `read`. What is data there
	 * has changed since, so this is not for it. */
	int (*read_code)(void *context, uint64_t address, void *ret, size_t size);
	/* The same of one mapping of a file, whose code is what it was at the sample; NULL: as
	 * `read_code`. */
	int (*read_file)(void *context, uint64_t address, void *ret, size_t size);
};

/* The frames, innermost first: the address of each, less 1 for callers, so that it is in the call.
 * At most `room`; returns their count, 0 when the registers are not enough. */
uint32_t tally_unwind(const struct tally_unwind_start *start,
		      const struct tally_unwind_world *world, uint64_t *frames, uint32_t room);

/* How a frame was found. */
enum tally_unwind_how {
	TALLY_UNWIND_START, /* the first: from the registers */
	TALLY_UNWIND_RULES, /* by call frame information */
	TALLY_UNWIND_FRAME_POINTER,
};

/* Why the last frame has no caller. */
enum tally_unwind_end {
	TALLY_UNWIND_ENTRY,        /* it is where the thread started */
	TALLY_UNWIND_ZERO,         /* its return address is 0: most often the same */
	TALLY_UNWIND_STACK_END,    /* the caller's place is beyond the copy of the stack */
	TALLY_UNWIND_ROOM_END,     /* there was no room for more frames */
	TALLY_UNWIND_UNKNOWN_CODE, /* no readable image is there, or its rules are invalid */
	TALLY_UNWIND_LOST,         /* registers that are needed are unknown, or are no frame's */
	TALLY_UNWIND_NO_REGISTERS, /* there is no frame at all */
};

struct tally_unwind_trace {
	/* The caller's, for `room` frames; NULL: not wanted. */
	uint8_t *how;    /* enum tally_unwind_how */
	uint64_t *stack; /* the stack pointer of each frame: what is above it is its and its
			  * callers' */
	enum tally_unwind_end end;
	/* At the stack's end: the start's frame pointer is that of the last frame, so that it leads
	 * to this one's caller. */
	bool points;
};
/* The same, and how the frames were found. */
uint32_t tally_unwind_traced(const struct tally_unwind_start *start,
			     const struct tally_unwind_world *world, uint64_t *frames,
			     uint32_t room, struct tally_unwind_trace *trace);

#endif
