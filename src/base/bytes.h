/* Unaligned loads and stores, byte swaps, and hashing of bytes. */
#ifndef TALLY_BASE_BYTES_H
#define TALLY_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const void *from)
{
	uint16_t value;
	memcpy(&value, from, sizeof(value));
	return value;
}

static inline uint32_t load_u32(const void *from)
{
	uint32_t value;
	memcpy(&value, from, sizeof(value));
	return value;
}

static inline uint64_t load_u64(const void *from)
{
	uint64_t value;
	memcpy(&value, from, sizeof(value));
	return value;
}

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static inline uint64_t load_uint(const void *from, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)from;
	case 2:
		return load_u16(from);
	case 4:
		return load_u32(from);
	default:
		return load_u64(from);
	}
}

static inline void store_u16(void *to, uint16_t value)
{
	memcpy(to, &value, sizeof(value));
}

static inline void store_u32(void *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

static inline void store_u64(void *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
}

static inline uint64_t align_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/* Mixes one word well enough for a power-of-two table. */
static inline uint64_t hash_u64(uint64_t value)
{
	__uint128_t product = (__uint128_t)(value ^ 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Goes on with a hash: `seed` is one, not a number as it is, for numbers whose differences are the
 * same in both would collide. */
static inline uint64_t hash_mix(uint64_t seed, uint64_t value)
{
	__uint128_t product = (__uint128_t)(seed ^ value) * 0x9fb21c651e98df25ULL;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of two numbers, to be a key where a collision of 64 bits may be taken for the same. */
static inline uint64_t hash_pair(uint64_t one, uint64_t other)
{
	return hash_mix(hash_u64(one), other);
}

uint64_t tally_hash_bytes(const void *bytes, size_t size);
/* Another one, three times as fast on many bytes: a processor computes four of its parts at once.
 */
uint64_t tally_hash_block(const void *bytes, size_t size);

#endif
