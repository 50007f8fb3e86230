/* An index of a table: for addresses in equal steps, the symbol at each, so that an address is
 * searched among few symbols.  At most 4 bytes for each symbol. */
#ifndef TALLY_ELF_SYMBOL_STEPS_H
#define TALLY_ELF_SYMBOL_STEPS_H

#include <errno.h>
#include "base/sorted.h"
#include "elf/symbol_table.h"

struct tally_symbol_steps { /* all zero is valid: the whole table is searched */
	uint32_t *first;    /* by step, and the last one twice at the end */
	size_t count;
	uint64_t base;
	unsigned bits; /* of a place within its step */
};

/* There are no steps without memory, and for tables that are small or not sorted. */
void tally_symbol_steps_init(struct tally_symbol_steps *steps,
			     const struct tally_symbol_table *table);
void tally_symbol_steps_done(struct tally_symbol_steps *steps);

/* So many symbols are compared without a branch. */
#define SYMBOL_STEP_USUAL 8U
/* Set in the number of a step's first symbol if this is not enough: there are more symbols, the
 * table ends, or an address after one may be in a symbol around it. */
#define SYMBOL_STEP_SPECIAL 0x80000000U

/* As tally_symbol_table_find(), of the table that the steps were made of. */
static inline int64_t symbol_steps_find(const struct tally_symbol_steps *steps,
					const struct tally_symbol_table *table, uint64_t place)
{
	uint64_t start = place - table->shift, step = (start - steps->base) >> steps->bits;
	uint32_t from, to;
	size_t at;

	if (__builtin_expect(!steps->count || start < steps->base, 0))
		return tally_symbol_table_find(table, place);
	step = step < steps->count ? step : steps->count;
	from = steps->first[step];
	if (__builtin_expect(from & SYMBOL_STEP_SPECIAL, 0)) {
		from &= ~SYMBOL_STEP_SPECIAL;
		to = steps->first[step + 1] & ~SYMBOL_STEP_SPECIAL;
		return tally_symbol_table_find_among(table, place, from, to - from + 1);
	}
	at = from;
	for (uint32_t i = 1; i < SYMBOL_STEP_USUAL; i++)
		at += table->starts[from + i] <= start;
	/* one that stayed without a size covers its first byte */
	return start < table->ends[at] || (start == table->starts[at] && start == table->ends[at])
		   ? (int64_t)at
		   : -ENOENT;
}

/* The index of the first symbol that starts after the address; the table's count: none does. */
static inline size_t symbol_steps_behind(const struct tally_symbol_steps *steps,
					 const struct tally_symbol_table *table, uint64_t place)
{
	uint64_t start = place - table->shift, step = (start - steps->base) >> steps->bits;
	size_t from = 0, to = table->count;

	if (steps->count && start >= steps->base) {
		step = step < steps->count ? step : steps->count;
		from = steps->first[step] & ~SYMBOL_STEP_SPECIAL;
		to = (size_t)(steps->first[step + 1] & ~SYMBOL_STEP_SPECIAL) + 1;
	}
	return SORTED_BOUND(at, from, to, table->starts[at] <= start);
}

#endif
