#include "parquet/encodings.h"

#include "parquet/thrift.h"

#define GROUP      8U /* packed numbers come in groups of so many */
#define BLOCK      128U
#define MINIBLOCK  32U
#define MINIBLOCKS (BLOCK / MINIBLOCK)

unsigned tally_parquet_bits(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* Numbers of some bits, the lowest bit first, into room that was reserved. */
struct packer {
	uint8_t *to;
	unsigned __int128 bits;
	unsigned count;
};

static inline void pack(struct packer *packer, uint64_t value, unsigned bits)
{
	packer->bits |= (unsigned __int128)value << packer->count;
	for (packer->count += bits; packer->count >= 8; packer->count -= 8) {
		*packer->to++ = (uint8_t)packer->bits;
		packer->bits >>= 8;
	}
}

static size_t run_length(const uint32_t *values, size_t count)
{
	size_t length = 1;

	while (length < count && values[length] == values[0])
		length++;
	return length;
}

static void put_run(uint32_t value, size_t length, unsigned bits, struct tally_buf *to)
{
	thrift_varint(to, (uint64_t)length << 1);
	for (unsigned at = 0; at < bits; at += 8)
		tally_buf_byte(to, (uint8_t)(value >> at));
}

static void put_groups(const uint32_t *values, size_t count, unsigned bits, struct tally_buf *to)
{
	size_t groups = (count + GROUP - 1) / GROUP;
	struct packer packer = {.count = 0};

	thrift_varint(to, (uint64_t)groups << 1 | 1);
	if (tally_buf_reserve(to, groups * bits))
		return;
	packer.to = to->data + to->size;
	for (size_t i = 0; i < groups * GROUP; i++)
		pack(&packer, i < count ? values[i] : 0, bits);
	to->size += groups * bits;
}

void tally_parquet_runs(const uint32_t *values, size_t count, unsigned bits, struct tally_buf *to)
{
	for (size_t at = 0, from; at < count;) {
		size_t length = run_length(values + at, count - at);

		if (length >= GROUP) {
			put_run(values[at], length, bits, to);
			at += length;
			continue;
		}
		/* Whole groups, as only the last one may have less than its numbers. */
		for (from = at; at < count && length < GROUP;) {
			at = count - at < GROUP ? count : at + GROUP;
			length = at < count ? run_length(values + at, count - at) : 0;
		}
		put_groups(values + from, at - from, bits, to);
	}
}

/* The difference at an index, as a number with a sign. */
static int64_t delta_at(const uint64_t *values, size_t at, bool narrow)
{
	uint64_t delta = values[at] - values[at - 1];

	return narrow ? (int32_t)(uint32_t)delta : (int64_t)delta;
}

static void put_block(const uint64_t *values, size_t from, size_t until, bool narrow,
		      struct tally_buf *to)
{
	int64_t least = delta_at(values, from, narrow);
	uint64_t above[BLOCK] = {0}; /* the least difference */
	uint8_t bits[MINIBLOCKS] = {0};

	for (size_t i = from + 1; i < until; i++)
		if (delta_at(values, i, narrow) < least)
			least = delta_at(values, i, narrow);
	for (size_t i = from; i < until; i++) {
		uint64_t value = (uint64_t)delta_at(values, i, narrow) - (uint64_t)least;
		unsigned needed;

		above[i - from] = value = narrow ? (uint32_t)value : value;
		needed = tally_parquet_bits(value);
		if (bits[(i - from) / MINIBLOCK] < needed)
			bits[(i - from) / MINIBLOCK] = (uint8_t)needed;
	}
	thrift_varint(to, thrift_zigzag(least));
	tally_buf_add(to, bits, sizeof(bits));
	for (size_t mini = 0; mini * MINIBLOCK < until - from; mini++) {
		struct packer packer = {.count = 0};

		if (tally_buf_reserve(to, MINIBLOCK / 8 * bits[mini]))
			return;
		packer.to = to->data + to->size;
		for (size_t i = 0; i < MINIBLOCK; i++)
			pack(&packer, above[mini * MINIBLOCK + i], bits[mini]);
		to->size += MINIBLOCK / 8U * bits[mini];
	}
}

void tally_parquet_deltas(const uint64_t *values, size_t count, bool narrow, struct tally_buf *to)
{
	thrift_varint(to, BLOCK);
	thrift_varint(to, MINIBLOCKS);
	thrift_varint(to, count);
	thrift_varint(to, thrift_zigzag(!count   ? 0
					: narrow ? (int32_t)(uint32_t)values[0]
						 : (int64_t)values[0]));
	for (size_t at = 1; at < count; at += BLOCK)
		put_block(values, at, count - at < BLOCK ? count : at + BLOCK, narrow, to);
}
