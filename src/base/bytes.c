#include "base/bytes.h"

uint64_t tally_hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = hash_u64(size);

	for (; size >= 8; at += 8, size -= 8)
		hash = hash_mix(hash ^ 0x2545f4914f6cdd1dULL, load_u64(at));
	if (size) {
		uint64_t tail = 0;

		memcpy(&tail, at, size);
		hash = hash_mix(hash ^ 0x2545f4914f6cdd1dULL, tail);
	}
	return hash_u64(hash);
}

uint64_t tally_hash_block(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = hash_u64(size), parts[4] = {1, 2, 3, 4};

	for (; size >= sizeof(parts); at += sizeof(parts), size -= sizeof(parts))
		for (size_t i = 0; i < 4; i++)
			parts[i] = hash_mix(parts[i] ^ 0x2545f4914f6cdd1dULL, load_u64(at + 8 * i));
	for (size_t i = 0; i < 4; i++)
		hash = hash_pair(hash, parts[i]);
	return hash_pair(hash, tally_hash_bytes(at, size));
}
