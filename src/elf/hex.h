/* Numbers in hexadecimal, as kallsyms and perf maps write them. */
#ifndef TALLY_ELF_HEX_H
#define TALLY_ELF_HEX_H

#include <stdint.h>

/* Reads digits up to `end` or the first other character, and returns its address; of more than 16
 * digits the last 16 count. */
static inline const char *hex_digits(const char *at, const char *end, uint64_t *ret)
{
	uint64_t value = 0;

	for (; at < end; at++) {
		unsigned digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned)(*at - '0');
		else if ((*at | 32) >= 'a' && (*at | 32) <= 'f')
			digit = (unsigned)((*at | 32) - 'a') + 10;
		else
			break;
		value = value << 4 | digit;
	}
	*ret = value;
	return at;
}

#endif
