#include "elf/symbol_steps.h"

#include <stdlib.h>

#define SYMBOLS_LEAST 64U

/* Whether a step's symbols need more than the usual search. */
static bool is_special(const struct tally_symbol_table *table, size_t from, size_t to)
{
	bool special = to - from >= SYMBOL_STEP_USUAL || from + SYMBOL_STEP_USUAL > table->count;

	for (size_t i = from; !special && table->outer && i <= to; i++)
		special = table->outer[i] != 0;
	return special;
}

void tally_symbol_steps_init(struct tally_symbol_steps *steps,
			     const struct tally_symbol_table *table)
{
	size_t last = table->count ? table->count - 1 : 0, at = 0;
	uint64_t span;

	*steps = (struct tally_symbol_steps){0};
	if (table->count < SYMBOLS_LEAST || table->count > INT32_MAX ||
	    table->starts[last] < table->starts[0])
		return;
	span = table->starts[last] - table->starts[0];
	while (span >> steps->bits >= table->count)
		steps->bits++;
	steps->base = table->starts[0];
	steps->count = (size_t)(span >> steps->bits) + 1;
	steps->first = malloc((steps->count + 2) * sizeof(*steps->first));
	for (size_t step = 0; steps->first && step < steps->count; step++) {
		uint64_t start = (uint64_t)step << steps->bits;

		while (at < last && table->starts[at + 1] - steps->base <= start) {
			at++;
			if (table->starts[at] < table->starts[at - 1]) {
				tally_symbol_steps_done(steps);
				return;
			}
		}
		steps->first[step] = (uint32_t)at;
	}
	if (!steps->first) {
		steps->count = 0;
		return;
	}
	steps->first[steps->count] = steps->first[steps->count + 1] = (uint32_t)last;
	for (size_t step = 0; step <= steps->count; step++)
		if (is_special(table, steps->first[step], steps->first[step + 1]))
			steps->first[step] |= SYMBOL_STEP_SPECIAL;
}

void tally_symbol_steps_done(struct tally_symbol_steps *steps)
{
	free(steps->first);
	*steps = (struct tally_symbol_steps){0};
}
