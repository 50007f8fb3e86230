/* A stream of any records, plain or compressed.  The first byte says how: bit 0 the other byte
 * order, bit 1 compressed from the place on that bytes 1 and 2 name, in pieces as long as byte 3
 * says (bit 2: COMPRESSED, whose size may be odd, instead of COMPRESSED2); the records begin at
 * byte 8. Source of the zstd frame: RFC 8878, 3.1.1. */
#include "reading.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct made {
	uint8_t *bytes;
	size_t size;
};

static void add(struct made *made, const void *bytes, size_t size)
{
	made->bytes = realloc(made->bytes, made->size + size + 1);
	require(made->bytes);
	memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static void add_number(struct made *made, uint64_t number, size_t size, bool swapped)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[swapped ? size - 1 - i : i] = (uint8_t)(number >> (8 * i));
	add(made, bytes, size);
}

/* One record of a piece of a frame that stores its bytes as they are. */
static void add_piece(struct made *made, const uint8_t *bytes, size_t size, unsigned how,
		      bool first)
{
	static const uint8_t begin[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x50}, zeros[8];
	size_t packed = (first ? sizeof(begin) : 0) + 3 + size;
	bool swapped = how & 1, odd = how & 4;
	size_t padded = odd ? packed : (packed + 7) / 8 * 8;

	add_number(made, odd ? 81 : 83, 4, swapped);
	add_number(made, 0, 2, swapped);
	add_number(made, 8 + padded + (odd ? 0 : 8), 2, swapped);
	if (!odd)
		add_number(made, packed, 8, swapped);
	if (first)
		add(made, begin, sizeof(begin));
	add_number(made, size << 3, 3, false);
	add(made, bytes, size);
	add(made, zeros, padded - packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct made made = {0};
	size_t from, step, at;

	if (size < 8 || size > 65536)
		return 0;
	add(&made, bytes[0] & 1 ? "2ELIFREP" : "PERFILE2", 8);
	add_number(&made, 16, 8, bytes[0] & 1);
	from = bytes[0] & 2 ? 8 + (bytes[1] | (size_t)bytes[2] << 8) : size;
	from = from < size ? from : size;
	add(&made, bytes + 8, from - 8);
	step = bytes[3] * 4U + 1;
	for (at = from; at < size; at += step)
		add_piece(&made, bytes + at, size - at < step ? size - at : step, bytes[0],
			  at == from);
	read_recording(made.bytes, made.size);
	free(made.bytes);
	return 0;
}
