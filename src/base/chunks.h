/* A growing array whose elements never move, so that threads can read it while one adds elements.
 *
 * Chunk k holds CHUNKS_FIRST << k elements; 26 chunks hold all 32-bit numbers.  chunks_next() is
 * for one thread at a time (the owner has a lock), chunks_add() for any.  A reader must get an
 * element's number in a way that orders memory, for example from an atomic that is stored after the
 * element was written. */
#ifndef TALLY_BASE_CHUNKS_H
#define TALLY_BASE_CHUNKS_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_FIRST_BITS 6
#define CHUNKS_COUNT      (32 - CHUNKS_FIRST_BITS + 1)

struct tally_chunks { /* all zero is empty and valid */
	void *_Atomic chunk[CHUNKS_COUNT];
	_Atomic uint32_t count;
};

static inline unsigned chunks_which(uint32_t number)
{
	return 31U - (unsigned)__builtin_clz((number >> CHUNKS_FIRST_BITS) + 1);
}

/* The address of an element, whose number is below the count; `size` is the size of one. */
static inline void *chunks_at(const struct tally_chunks *chunks, uint32_t number, size_t size)
{
	unsigned which = chunks_which(number);
	uint64_t first = ((1ULL << which) - 1) << CHUNKS_FIRST_BITS;
	char *chunk = atomic_load_explicit(&chunks->chunk[which], memory_order_acquire);

	return chunk + (number - first) * size;
}

/* Makes room for the next element, zeroed; its number is the count.  The caller fills it and then
 * calls chunks_added().  NULL: out of memory, or there are too many. */
static inline void *chunks_next(struct tally_chunks *chunks, size_t size)
{
	uint32_t number = atomic_load_explicit(&chunks->count, memory_order_relaxed);
	unsigned which = chunks_which(number);

	if (number == UINT32_MAX - 1)
		return NULL;
	if (!atomic_load_explicit(&chunks->chunk[which], memory_order_relaxed)) {
		void *chunk = calloc((size_t)1 << (which + CHUNKS_FIRST_BITS), size);

		if (!chunk)
			return NULL;
		atomic_store_explicit(&chunks->chunk[which], chunk, memory_order_release);
	}
	return chunks_at(chunks, number, size);
}

static inline uint32_t chunks_added(struct tally_chunks *chunks)
{
	return atomic_fetch_add_explicit(&chunks->count, 1, memory_order_release);
}

/* One more element, zeroed, and its number, by several threads at once; not to be mixed with
 * chunks_next().  NULL: out of memory or of numbers. */
static inline void *chunks_add(struct tally_chunks *chunks, size_t size, uint32_t *ret_number)
{
	uint32_t number = atomic_fetch_add_explicit(&chunks->count, 1, memory_order_relaxed);
	unsigned which = chunks_which(number);
	void *none = NULL, *chunk;

	if (number >= UINT32_MAX - (1U << 16)) { /* more than there are threads */
		atomic_fetch_sub_explicit(&chunks->count, 1, memory_order_relaxed);
		return NULL;
	}
	if (!atomic_load_explicit(&chunks->chunk[which], memory_order_acquire)) {
		chunk = calloc((size_t)1 << (which + CHUNKS_FIRST_BITS), size);
		if (!chunk)
			return NULL;
		if (!atomic_compare_exchange_strong_explicit(&chunks->chunk[which], &none, chunk,
							     memory_order_acq_rel,
							     memory_order_acquire))
			free(chunk); /* another thread was first */
	}
	*ret_number = number;
	return chunks_at(chunks, number, size);
}

static inline uint32_t chunks_count(const struct tally_chunks *chunks)
{
	return atomic_load_explicit(&chunks->count, memory_order_acquire);
}

static inline void chunks_done(struct tally_chunks *chunks)
{
	for (unsigned i = 0; i < CHUNKS_COUNT; i++)
		free(atomic_load_explicit(&chunks->chunk[i], memory_order_relaxed));
	memset(chunks, 0,
	       sizeof(*chunks)); /* clang 14 rejects an initializer of _Atomic pointers */
}

#endif
