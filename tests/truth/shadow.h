/* The true stack of a thread, in its own memory: of shadow.cc, read by truth_record.c. */
#ifndef SHADOW_H
#define SHADOW_H

#include <stdint.h>

#define SHADOW_MAGIC_0 0x7a11e5ada55a0b0eULL
#define SHADOW_MAGIC_1 0x51de5b1a2d9c0ffeULL
#define SHADOW_CALLS   64

struct shadow_call {
	uint64_t function, return_address;
};

struct shadow {
	uint64_t magic[2];
	uint64_t tid, anchor; /* of the thread; where s_all() is */
	uint64_t restorer;    /* what handlers of signals return to; 0: none ran yet */
	uint64_t exchanging;  /* swapcontext() was called, and did not return yet */
	volatile uint64_t depth;
	uint64_t other_stack; /* so many of the calls are on another stack, which was left */
	struct shadow_call calls[SHADOW_CALLS]; /* the outermost first */
};

#endif
