/* Sets of small numbers: a bit each, in words of 64. */
#ifndef TALLY_BASE_BITS_H
#define TALLY_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bits_has(const uint64_t *bits, uint64_t number)
{
	return bits[number / 64] >> (number % 64) & 1;
}

static inline void bits_add(uint64_t *bits, uint64_t number)
{
	bits[number / 64] |= 1ULL << (number % 64);
}

#endif
