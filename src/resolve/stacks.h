/* The tree of call stacks that a session met: each node is a stack, the frame that is innermost in
 * it and its caller's stack.  Threads add to it at once.
 *
 * What is new of a chain of frames becomes a run of nodes, each right behind its caller; only the
 * first is found by a hash, the others by being there.  A node is written once, as one word, the
 * last of a run first: who sees a node can follow what is behind it.  Nobody waits for a lock but
 * when a table grows. */
#ifndef TALLY_RESOLVE_STACKS_H
#define TALLY_RESOLVE_STACKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/table.h"

#define STACKS_CHUNK_BITS 18
#define STACKS_CHUNK      (1U << STACKS_CHUNK_BITS) /* nodes */
#define STACKS_CHUNKS     (1U << 12)                /* at most: a thousand million nodes */
#define STACKS_SHARES     64U

/* Nodes that begin a run, found by their hash, in shares so that one grows at a time.  Slots: the
 * hash's upper half, then the node; 0: free.  A thread takes a free slot for a node, and then
 * writes the node.  In a table that is replaced no slot is free; it stays for those who still
 * search it. */
struct stacks_table {
	struct stacks_table *before;
	uint32_t room; /* a power of two */
	_Atomic uint64_t slots[];
};

/* What all threads read is apart from what each writes. */
struct tally_stacks {
	_Atomic uint64_t *_Atomic *chunks; /* of nodes: the caller in the upper half, the frame */
	struct stacks_table *_Atomic tables[STACKS_SHARES];
	pthread_mutex_t growing[STACKS_SHARES]; /* the tables */
	/* Numbers given, in blocks to threads; 0 is no stack. */
	_Atomic uint32_t count __attribute__((aligned(TABLE_APART)));
} __attribute__((aligned(TABLE_APART)));

/* Numbers that one thread has taken and not given: [next, end). */
struct stacks_numbers {
	uint32_t next, end;
};

int tally_stacks_init(struct tally_stacks *stacks); /* 0 or -ENOMEM */
void tally_stacks_done(struct tally_stacks *stacks);
/* Frees what only those needed who searched until now; nobody does meanwhile. */
void tally_stacks_trim(struct tally_stacks *stacks);

/* The stack of `frames` (outermost first) below a stack, 0 for none; each of their stacks in
 * nodes[0..count).  `numbers` are the thread's, all zero at first.  0 or -ENOMEM. */
int tally_stacks_walk(struct tally_stacks *stacks, struct stacks_numbers *numbers, uint32_t caller,
		      const uint32_t *frames, uint32_t count, uint32_t *nodes);

/* One of several walks whose misses of the caches overlap. */
struct stacks_walk {
	uint32_t at, end; /* places of its frames and nodes */
	uint32_t caller;  /* the stack so far */
	uint64_t hash;
};
#define STACKS_WALKS 16U /* at most */

/* The same for several at once. */
int tally_stacks_walk_all(struct tally_stacks *stacks, struct stacks_numbers *numbers,
			  const uint32_t *frames, uint32_t *nodes, struct stacks_walk *walks,
			  uint32_t count);

/* A node as one word; 0: there is none. */
static inline uint64_t stacks_node(const struct tally_stacks *stacks, uint32_t number)
{
	_Atomic uint64_t *chunk = atomic_load_explicit(&stacks->chunks[number >> STACKS_CHUNK_BITS],
						       memory_order_acquire);

	return chunk
		   ? atomic_load_explicit(&chunk[number & (STACKS_CHUNK - 1)], memory_order_acquire)
		   : 0;
}

/* Fetches what that will read. */
static inline void stacks_fetch(const struct tally_stacks *stacks, uint32_t number)
{
	_Atomic uint64_t *chunk = atomic_load_explicit(&stacks->chunks[number >> STACKS_CHUNK_BITS],
						       memory_order_relaxed);

	if (chunk)
		__builtin_prefetch((const void *)&chunk[number & (STACKS_CHUNK - 1)]);
}

static inline uint32_t stacks_caller(const struct tally_stacks *stacks, uint32_t number)
{
	return (uint32_t)(stacks_node(stacks, number) >> 32);
}

static inline uint32_t stacks_frame(const struct tally_stacks *stacks, uint32_t number)
{
	return (uint32_t)stacks_node(stacks, number);
}

static inline uint32_t stacks_count(const struct tally_stacks *stacks)
{
	return atomic_load_explicit(&stacks->count, memory_order_acquire);
}

#endif
