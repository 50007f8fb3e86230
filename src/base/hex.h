/* Digits and numbers in hexadecimal. */
#ifndef TALLY_BASE_HEX_H
#define TALLY_BASE_HEX_H

#include <stdint.h>

/* The value of a digit as %x prints it; -1: it is none. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number as kallsyms and perf maps write it: reads digits of both cases up to `end` or the first
 * other character, and returns its address; of more than 16 digits the last 16 count. */
static inline const char *hex_digits(const char *at, const char *end, uint64_t *ret)
{
	uint64_t value = 0;
	int digit;

	for (; at < end; at++) {
		digit = hex_digit(*at >= 'A' && *at <= 'F' ? (char)(*at | 32) : *at);
		if (digit < 0)
			break;
		value = value << 4 | (unsigned)digit;
	}
	*ret = value;
	return at;
}

#endif
