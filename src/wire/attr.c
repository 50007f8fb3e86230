#include "wire/attr_wire.h"

#include <string.h>
#include <tally/abi.h>
#include "base/bytes.h"

/* The published sizes of the struct. */
static const uint16_t sizes[] = {PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2,
				 PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5,
				 PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER8,
				 PERF_ATTR_SIZE_VER9};

_Static_assert(sizeof(struct tally_attr) == PERF_ATTR_SIZE_VER9, "the newest attr");
_Static_assert(offsetof(struct tally_attr, sample_regs_intr) == 96, "the kernel's layout");
_Static_assert(offsetof(struct tally_attr, sig_data) == 120, "the kernel's layout");

uint32_t tally_attr_min_size(const struct tally_attr *attr)
{
	const uint8_t *bytes = (const uint8_t *)attr;
	size_t used = sizeof(*attr);

	while (used > PERF_ATTR_SIZE_VER0 && !bytes[used - 1])
		used--;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] >= used)
			return sizes[i];
	return sizeof(*attr);
}

void tally_attr_decode(const void *bytes, size_t size, struct tally_attr *ret, bool *ret_beyond)
{
	size_t known = size < sizeof(*ret) ? size : sizeof(*ret);
	bool beyond = false;

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, bytes, known);
	ret->size = (uint32_t)size;
	for (size_t i = known; i < size; i++)
		beyond |= ((const uint8_t *)bytes)[i] != 0;
	if (ret_beyond)
		*ret_beyond = beyond;
}

void tally_attr_encode(const struct tally_attr *attr, void *bytes, size_t size)
{
	size_t known = size < sizeof(*attr) ? size : sizeof(*attr);

	memset(bytes, 0, size);
	memcpy(bytes, attr, known);
	store_u32((uint8_t *)bytes + offsetof(struct tally_attr, size), (uint32_t)size);
}

/* The flags are C bitfields, which big-endian machines number from the top of each byte: the bytes
 * keep their places, and the bits within each byte are reversed.  Only precise_ip has more than one
 * bit; it spans bytes 1 and 2, with its low bit first on little endian, so its two bits are also
 * exchanged. */
static uint8_t mirror(uint8_t byte)
{
	byte = (uint8_t)((byte & 0x55) << 1 | (byte >> 1 & 0x55));
	byte = (uint8_t)((byte & 0x33) << 2 | (byte >> 2 & 0x33));
	return (uint8_t)(byte << 4 | byte >> 4);
}

static void swap_flags(uint8_t *bytes, bool from_big)
{
	uint8_t first = from_big ? 0 : 7, second = (uint8_t)(7 - first);
	bool low = bytes[1] >> first & 1, high = bytes[2] >> second & 1;

	bytes[1] = (uint8_t)((bytes[1] & ~(1 << first)) | high << first);
	bytes[2] = (uint8_t)((bytes[2] & ~(1 << second)) | low << second);
	for (size_t i = 0; i < 8; i++)
		bytes[i] = mirror(bytes[i]);
}

void tally_attr_swap(void *bytes, size_t size, bool to_native)
{
	static const struct {
		uint8_t at, size;
	} fields[] = {
	    {0, 4},   {4, 4},   {8, 8},   {16, 8},  {24, 8},  {32, 8},  {48, 4}, {52, 4},
	    {56, 8},  {64, 8},  {72, 8},  {80, 8},  {88, 4},  {92, 4},  {96, 8}, {104, 4},
	    {108, 2}, {110, 2}, {112, 4}, {120, 8}, {128, 8}, {136, 8},
	};
	uint8_t *at = bytes;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint8_t *field = at + fields[i].at;

		if ((size_t)fields[i].at + fields[i].size > size)
			break;
		if (fields[i].size == 2)
			store_u16(field, __builtin_bswap16(load_u16(field)));
		else if (fields[i].size == 4)
			store_u32(field, __builtin_bswap32(load_u32(field)));
		else
			store_u64(field, __builtin_bswap64(load_u64(field)));
	}
	if (size >= 48)
		swap_flags(at + 40, to_native == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__));
	/* aux_action has bitfields too, each of one bit. */
	for (size_t i = 116; i < 120 && size >= 120; i++)
		at[i] = mirror(at[i]);
	/* Members that a newer kernel added are u64 words, like those before them. */
	for (size_t k = sizeof(struct tally_attr); k + 8 <= size; k += 8)
		store_u64(at + k, __builtin_bswap64(load_u64(at + k)));
}
