/* One sample with registers, a copy of the stack and the kernel's chain -> its whole call chain.
 *
 * The recorder makes chains while it records and the session makes those of recordings that keep
 * the stacks; both do it here, so both get the same. */
#ifndef TALLY_CALLCHAIN_CHAIN_H
#define TALLY_CALLCHAIN_CHAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/record.h>
#include "callchain/chain_images.h"

/* The PERF_SAMPLE_* that a chain is made of. */
#define TALLY_CHAIN_FIELDS (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* How a frame of a chain was found. */
enum tally_chain_frame {
	TALLY_CHAIN_KERNEL,        /* by the kernel, of itself */
	TALLY_CHAIN_LEAF,          /* the registers' own */
	TALLY_CHAIN_CFI,           /* by call frame information */
	TALLY_CHAIN_FRAME_POINTER, /* by the frame pointer, in the copy of the stack */
	TALLY_CHAIN_SPLICED,       /* by the kernel's frame pointers, beyond the copy */
	TALLY_CHAIN_FRAMES
};

/* Where the user part of a chain ends. */
enum tally_chain_end {
	TALLY_CHAIN_WHOLE,        /* where the thread started */
	TALLY_CHAIN_COPY_ENDED,   /* the stack goes on beyond its copy */
	TALLY_CHAIN_UNKNOWN_CODE, /* at code that no readable image describes */
	TALLY_CHAIN_LOST,         /* at a frame without a valid caller */
	TALLY_CHAIN_TOO_DEEP,     /* it has more frames than are kept */
	TALLY_CHAIN_ENDS
};

/* An address space as it is at the time of a sample. */
struct tally_chain_space {
	void *context;
	uint64_t number; /* equal ones have the same images at all addresses; 0: unknown */
	uint32_t moment; /* while it is equal, their memory is taken for the same, too */
	/* The image that is mapped at an address, and the place in it. 0; -ENOENT: none is;
	 * -ENODATA: one that is no file, or cannot be read. */
	int (*image_at)(void *context, uint64_t address, struct tally_image **ret,
			uint64_t *ret_place);
	/* Reads machine code that is in memory and in no file, where image_at() gives -ENODATA. 0;
	 * below 0: it is not there any more, or is no code. NULL: nobody can, as the process is
	 * gone. */
	int (*read_code)(void *context, uint64_t address, void *ret, size_t size);
};

/* Borrowed until the next one of its maker. */
struct tally_chain {
	const uint64_t *words; /* as the kernel writes chains, PERF_CONTEXT_* included */
	uint64_t count;
	uint32_t unwound;                   /* words from here on are of the unwound part */
	const uint8_t *frames;              /* of each of these: enum tally_chain_frame, */
	const uint64_t *stack;              /* and its stack pointer; 0: unknown */
	uint32_t found[TALLY_CHAIN_FRAMES]; /* how many of each there are */
	enum tally_chain_end end;
	bool made; /* lost in code that is in no file: it was made at run time */
};

/* One a thread; holds what was found at addresses. */
struct tally_chain_maker;

/* Chains have at most so many unwound frames. 0 or -ENOMEM. */
int tally_chain_maker_new(struct tally_chain_images *images, uint32_t frames_most,
			  struct tally_chain_maker **ret);
void tally_chain_maker_free(struct tally_chain_maker *maker);
/* Forgets what was found at addresses: some of the images are gone. */
void tally_chain_maker_forget(struct tally_chain_maker *maker);

/* `arch`: of the sample's registers. `joined`: the sample's chain has a user part, by the kernel's
 * frame pointers, that continues the unwound one where this ends early; and code of no file is
 * unwound by frame pointers. Without it the result is perf's: an unwound part ends there, and the
 * recorded words come before it unchanged.
 * 1; 0: the sample has no stack to unwind, so its chain is what was recorded; -ENOMEM. */
int tally_chain_make(struct tally_chain_maker *maker, const struct tally_sample *sample,
		     enum tally_unwind_arch arch, const struct tally_chain_space *space,
		     bool joined, struct tally_chain *ret);

/* The kind of registers that a sample of a machine (as uname -m names it; NULL: x86_64) has. */
enum tally_unwind_arch tally_chain_arch(const char *machine, uint64_t abi);

#endif
