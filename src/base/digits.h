/* Numbers as text, fast: decimal and hexadecimal, plain and right-aligned.
 *
 * put_*() write at `to`, which has room for DIGITS_MOST bytes (or the width, if more), without a
 * NUL, and return the end.  buf_*() append to a buffer.  Widths are minimum widths, as in
 * printf. */
#ifndef TALLY_BASE_DIGITS_H
#define TALLY_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"

#define DIGITS_MOST 20 /* of UINT64_MAX in decimal */

static inline unsigned digits_dec_length(uint64_t value)
{
	static const uint64_t powers[DIGITS_MOST] = {0,
						     10,
						     100,
						     1000,
						     10000,
						     100000,
						     1000000,
						     10000000,
						     100000000,
						     1000000000,
						     10000000000,
						     100000000000,
						     1000000000000,
						     10000000000000,
						     100000000000000,
						     1000000000000000,
						     10000000000000000,
						     100000000000000000,
						     1000000000000000000,
						     10000000000000000000u};
	/* log10(2) is about 1233/4096: at most one too few */
	unsigned guess = (64 - (unsigned)__builtin_clzll(value | 1)) * 1233 >> 12;

	return guess + (value >= powers[guess]);
}

static inline unsigned digits_hex_length(uint64_t value)
{
	return (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
}

/* The last `length` decimal digits, with leading zeros. */
static inline char *put_dec_fixed(char *to, uint64_t value, unsigned length)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char *at = to + length;

	while (at - to >= 2) {
		at -= 2;
		memcpy(at, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (at > to)
		*to = (char)('0' + value % 10);
	return to + length;
}

/* Eight hexadecimal digits, the first in the lowest byte. */
static inline uint64_t digits_hex8(uint32_t value)
{
	uint64_t nibbles = value;

	nibbles = (nibbles | nibbles << 16) & 0x0000ffff0000ffff;
	nibbles = (nibbles | nibbles << 8) & 0x00ff00ff00ff00ff;
	nibbles = __builtin_bswap64((nibbles | nibbles << 4) & 0x0f0f0f0f0f0f0f0f);
	/* 6 more carries into the upper half from 10 on, which are letters. */
	return nibbles + 0x3030303030303030 +
	       ((nibbles + 0x0606060606060606) >> 4 & 0x0101010101010101) * ('a' - '9' - 1);
}

/* The last `length` hexadecimal digits (lower case), with leading zeros. */
static inline char *put_hex_fixed(char *to, uint64_t value, unsigned length)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (length <= 16) {
		uint64_t digits[2] = {digits_hex8((uint32_t)(value >> 32)),
				      digits_hex8((uint32_t)value)};

		memcpy(to, (const char *)digits + 16 - length, length);
		return to + length;
	}
#endif
	for (char *at = to + length; at > to; value >>= 4)
		*--at = "0123456789abcdef"[value & 15];
	return to + length;
}

static inline char *put_dec(char *to, uint64_t value)
{
	return put_dec_fixed(to, value, digits_dec_length(value));
}

static inline char *put_hex(char *to, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (!(value >> 32)) { /* the usual case, written in one go */
		unsigned length = digits_hex_length(value);
		uint64_t digits = digits_hex8((uint32_t)value) >> (64 - 8 * length);

		memcpy(to, &digits, sizeof(digits));
		return to + length;
	}
#endif
	return put_hex_fixed(to, value, digits_hex_length(value));
}

static inline char *put_pad(char *to, char with, size_t count)
{
	memset(to, with, count);
	return to + count;
}

/* Right-aligned with blanks: printf's %*lu and %*lx. */
static inline char *put_dec_right(char *to, uint64_t value, unsigned width)
{
	unsigned length = digits_dec_length(value);

	if (__builtin_constant_p(width) && width <= 16) {
		/* The blanks that are too many are overwritten. */
		memset(to, ' ', 16);
		to += length < width ? width - length : 0;
	} else if (length < width) {
		to = put_pad(to, ' ', width - length);
	}
	return put_dec_fixed(to, value, length);
}

/* Right-aligned in 16 columns: writes all 16 digits, then replaces leading zeros by blanks. */
static inline char *put_hex_right16(char *to, uint64_t value)
{
	unsigned blanks = 16 - digits_hex_length(value);
	uint64_t digits[2] = {digits_hex8((uint32_t)(value >> 32)), digits_hex8((uint32_t)value)};
	const uint64_t change = (uint64_t)('0' ^ ' ') * 0x0101010101010101;

	digits[0] ^= blanks < 8 ? change & ((1ULL << 8 * blanks) - 1) : change;
	digits[1] ^= blanks < 8 ? 0 : change & ((1ULL << 8 * (blanks - 8)) - 1);
	memcpy(to, digits, sizeof(digits));
	return to + sizeof(digits);
}

static inline char *put_hex_right(char *to, uint64_t value, unsigned width)
{
	unsigned length = digits_hex_length(value);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (width == 16)
		return put_hex_right16(to, value);
#endif
	if (length < width)
		to = put_pad(to, ' ', width - length);
	return put_hex_fixed(to, value, length);
}

/* Makes room for `most` bytes at the buffer's end, or returns NULL; buf_put_end() adds the bytes
 * that were written there. */
static inline char *buf_put_begin(struct tally_buf *buf, size_t most)
{
	if (__builtin_expect(buf->failed || buf->room - buf->size <= most, 0) &&
	    tally_buf_reserve(buf, most))
		return NULL;
	return (char *)buf->data + buf->size;
}

static inline void buf_put_end(struct tally_buf *buf, const char *end)
{
	buf->size = (size_t)((const uint8_t *)end - buf->data);
}

static inline void buf_byte(struct tally_buf *buf, char byte)
{
	char *to = buf_put_begin(buf, 1);

	if (to) {
		*to = byte;
		buf->size++;
	}
}

static inline void buf_dec_right(struct tally_buf *buf, uint64_t value, unsigned width)
{
	char *to = buf_put_begin(buf, width + DIGITS_MOST);

	if (to)
		buf_put_end(buf, put_dec_right(to, value, width));
}

static inline void buf_hex_right(struct tally_buf *buf, uint64_t value, unsigned width)
{
	char *to = buf_put_begin(buf, width + DIGITS_MOST);

	if (to)
		buf_put_end(buf, put_hex_right(to, value, width));
}

/* At least `width` digits, with leading zeros: printf's %0*lu and %0*lx. */
static inline void buf_dec_zeros(struct tally_buf *buf, uint64_t value, unsigned width)
{
	unsigned length = digits_dec_length(value), all = length < width ? width : length;
	char *to = buf_put_begin(buf, all);

	if (to)
		buf_put_end(buf, put_dec_fixed(put_pad(to, '0', all - length), value, length));
}

static inline void buf_hex_zeros(struct tally_buf *buf, uint64_t value, unsigned width)
{
	unsigned length = digits_hex_length(value), all = length < width ? width : length;
	char *to = buf_put_begin(buf, all);

	if (to)
		buf_put_end(buf, put_hex_fixed(put_pad(to, '0', all - length), value, length));
}

static inline void buf_dec(struct tally_buf *buf, uint64_t value)
{
	buf_dec_right(buf, value, 0);
}

/* A u32 of the kernel that printf prints with %d: a missing pid is -1. */
static inline void buf_int(struct tally_buf *buf, uint32_t value)
{
	if (value > INT32_MAX) {
		tally_buf_byte(buf, '-');
		value = 0 - value;
	}
	buf_dec(buf, value);
}

static inline void buf_hex(struct tally_buf *buf, uint64_t value)
{
	buf_hex_right(buf, value, 0);
}

/* printf's %#lx: 0 has no 0x. */
static inline void buf_0x(struct tally_buf *buf, uint64_t value)
{
	if (value)
		tally_buf_add(buf, "0x", 2);
	buf_hex(buf, value);
}

/* `count` times the same byte. */
static inline void buf_pad(struct tally_buf *buf, char with, size_t count)
{
	char *to = buf_put_begin(buf, count);

	if (to)
		buf_put_end(buf, put_pad(to, with, count));
}

#endif
