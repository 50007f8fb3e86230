/* Fields of a PMU's configs: "config1:0-7,32-35" names the bits that a value is spread over.
 *
 * perf joins the ranges into one set of bits, in any order, and spreads the value from the lowest
 * to the highest; a value wider than the field is an error. Source: the ABI document named in
 * pmu.h, and perf 6.1's answers for ranges out of order. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "event/pmu.h"

static int number(const char **text, unsigned *ret)
{
	unsigned value = 0, digits = 0;

	for (; isdigit((unsigned char)**text); ++*text) {
		if (++digits > 4)
			return -EINVAL;
		value = value * 10 + (unsigned)(**text - '0');
	}
	if (!digits)
		return -EINVAL;
	*ret = value;
	return 0;
}

int tally_pmu_format_parse(const char *text, unsigned *ret_which, uint64_t *ret_mask)
{
	uint64_t mask = 0;
	unsigned which = 0;

	if (strncmp(text, "config", 6))
		return -EINVAL;
	text += 6;
	if (isdigit((unsigned char)*text) && number(&text, &which))
		return -EINVAL;
	if (*text++ != ':' || which > 4)
		return -EINVAL;
	do {
		unsigned from, to;

		if (number(&text, &from))
			return -EINVAL;
		to = from;
		if (*text == '-' && (text++, number(&text, &to)))
			return -EINVAL;
		if (to < from || to > 63)
			return -EINVAL;
		mask |= (to - from == 63 ? UINT64_MAX : (1ull << (to - from + 1)) - 1) << from;
	} while (*text == ',' && text++);
	if (*text && *text != '\n')
		return -EINVAL;
	*ret_which = which;
	*ret_mask = mask;
	return 0;
}

const struct pmu_format *tally_pmu_format_find(const struct event_pmu *pmu,
					       const struct event_word *name)
{
	for (size_t i = 0; i < pmu->format_count; i++)
		if (tally_word_is(name, pmu->formats[i].name))
			return &pmu->formats[i];
	return NULL;
}

uint64_t tally_pmu_format_most(uint64_t mask)
{
	unsigned bits = (unsigned)__builtin_popcountll(mask);

	return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

uint64_t tally_pmu_spread(uint64_t value, uint64_t mask)
{
	uint64_t word = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			word |= mask & -mask;
	return word;
}

uint64_t tally_pmu_extract(uint64_t word, uint64_t mask)
{
	uint64_t value = 0;

	for (unsigned bit = 0; mask; mask &= mask - 1, bit++)
		if (word & (mask & -mask))
			value |= 1ull << bit;
	return value;
}

uint64_t *tally_attr_config(struct tally_attr *attr, unsigned which)
{
	uint64_t *const configs[] = {&attr->config, &attr->config1, &attr->config2, &attr->config3,
				     &attr->config4};

	return configs[which < 5 ? which : 4];
}
