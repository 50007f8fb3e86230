#include <string.h>
#include "parquet/parquet_read.h"
#include "parquet/thrift_read.h"

/* Numbers of some bits, the lowest bit first.  The caller has checked the size. */
static uint64_t unpack(const uint8_t *bytes, uint64_t bit, unsigned bits)
{
	uint64_t value = 0;

	for (unsigned done = 0; done < bits;) {
		unsigned from = (unsigned)(bit & 7), taken = 8 - from;

		if (taken > bits - done)
			taken = bits - done;
		value |= (uint64_t)(bytes[bit >> 3] >> from & ((1U << taken) - 1)) << done;
		done += taken;
		bit += taken;
	}
	return value;
}

bool tally_parquet_read_runs(const uint8_t *bytes, size_t size, unsigned bits, uint32_t count,
			     uint32_t *ret)
{
	struct thrift_from from = {.at = bytes, .end = bytes + size};

	if (bits > 32)
		return false;
	for (uint32_t done = 0; done < count;) {
		uint64_t head = thrift_read_varint(&from), number = head >> 1;
		size_t left = (size_t)(from.end - from.at);

		if (from.failed || !number)
			return false;
		if (head & 1) { /* groups of eight */
			uint64_t values = number > count ? count : number * 8;

			if (number > UINT32_MAX || number * bits > left)
				return false;
			for (uint64_t i = 0; i < values && done < count; i++)
				ret[done++] = (uint32_t)unpack(from.at, i * bits, bits);
			from.at += number * bits;
		} else {
			unsigned bytes_each = (bits + 7) / 8;
			uint32_t value = 0;

			if (bytes_each > left)
				return false;
			for (unsigned i = 0; i < bytes_each; i++)
				value |= (uint32_t)*from.at++ << 8 * i;
			for (uint64_t i = 0; i < number && done < count; i++)
				ret[done++] = value;
		}
	}
	return true;
}

bool tally_parquet_read_deltas(const uint8_t *bytes, size_t size, bool narrow, uint32_t count,
			       uint64_t *ret, size_t *ret_size)
{
	struct thrift_from from = {.at = bytes, .end = bytes + size};
	uint64_t block = thrift_read_varint(&from), minis = thrift_read_varint(&from);
	uint64_t total = thrift_read_varint(&from), value = (uint64_t)thrift_read_signed(&from);
	uint64_t each;
	uint32_t done = 0;

	if (from.failed || total < count || !block || block % 128 || block > 1U << 16 || !minis ||
	    minis > 512 || block % minis || (block / minis) % 32)
		return false;
	each = block / minis;
	if (count)
		ret[done++] = narrow ? (uint32_t)value : value;
	while (done < count) {
		uint64_t least = (uint64_t)thrift_read_signed(&from);
		const uint8_t *bits = from.at;

		if (from.failed || minis > (uint64_t)(from.end - from.at))
			return false;
		from.at += minis;
		for (uint64_t mini = 0; mini < minis && done < count; mini++) {
			uint64_t taken = each * bits[mini] / 8;

			if (bits[mini] > 64 || taken > (uint64_t)(from.end - from.at))
				return false;
			for (uint64_t i = 0; i < each && done < count; i++) {
				value += least + unpack(from.at, i * bits[mini], bits[mini]);
				ret[done++] = narrow ? (uint32_t)value : value;
			}
			from.at += taken;
		}
	}
	*ret_size = (size_t)(from.at - bytes);
	return true;
}
