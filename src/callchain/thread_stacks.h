/* What is known of each thread's stack, from its last chains: a chain that ends with the copy of
 * the stack goes on where an earlier one of the thread knows the callers.
 *
 * Callers that are deeper in the stack than anything that ran since are still there. So the frames
 * next to the end of the copy are compared with those that the thread had before: where they are,
 * their return addresses, and what they contain. */
#ifndef TALLY_CALLCHAIN_THREAD_STACKS_H
#define TALLY_CALLCHAIN_THREAD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "callchain/chain.h"

struct tally_stack_frame {
	uint64_t stack;    /* its stack pointer */
	uint64_t address;  /* as chains have it */
	uint64_t contents; /* a hash of its part of the stack; 0: unknown */
};

/* The part of a chain that was unwound in a copy of the stack, the innermost frame first. */
struct tally_stack_frames {
	const struct tally_stack_frame *frames;
	uint32_t count;
	bool whole; /* the last one has no caller */
	bool cut;   /* the copy ends there */
};

/* Fills `ret`, which has room for all frames of a chain, with those that were found in the
 * sample's copy of the stack. Returns their count. */
uint32_t tally_stack_frames_of(const struct tally_sample *sample, const struct tally_chain *chain,
			       struct tally_stack_frame *ret);

/* Threads share places of a table of fixed size; of two at one place the later one is known. All
 * have room for a fixed number of frames; threads without samples make room for others. */
struct tally_thread_stacks;

/* 0 or -ENOMEM. */
int tally_thread_stacks_new(struct tally_thread_stacks **ret);
void tally_thread_stacks_free(struct tally_thread_stacks *stacks);
/* Forgets all, but keeps the memory. */
void tally_thread_stacks_clear(struct tally_thread_stacks *stacks);

/* For how many frames of all threads there is room. */
size_t tally_thread_stacks_room(const struct tally_thread_stacks *stacks);

/* Takes the frames of a thread's next sample, in either direction of time, and if they are cut
 * finds their callers: *ret, borrowed until the next call, and *ret_whole: the last one has no
 * caller. Returns how many there are, or -ENOMEM. */
int64_t tally_thread_stacks_next(struct tally_thread_stacks *stacks, uint32_t pid, uint32_t tid,
				 const struct tally_stack_frames *frames,
				 const struct tally_stack_frame **ret, bool *ret_whole);

#endif
