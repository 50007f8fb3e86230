#include "profile/row_sort.h"

#include <string.h>
#include "base/pool.h"
#include "base/table.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)
/* Shorter runs are sorted by insertion, and by smaller digits. */
#define SHORT_RUN  32U
#define MIDDLE_RUN 4096U
/* Longer runs leave the caches: they are split by their uppermost digit first. */
#define LONG_RUN (1u << 15)

static void sort_short(struct tally_row_item *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct tally_row_item item = items[i];
		uint32_t at = i;

		for (; at && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* The digits from here on to so many: where the items of each go, in the order of digits. */
static void find_starts(const struct tally_row_item *items, uint32_t count, unsigned shift,
			uint32_t digits, uint32_t *starts)
{
	memset(starts, 0, digits * sizeof(*starts));
	for (uint32_t i = 0; i < count; i++)
		starts[items[i].key >> shift & (digits - 1)]++;
	counts_to_starts(starts, digits);
}

static void move(const struct tally_row_item *from, struct tally_row_item *to, uint32_t count,
		 unsigned shift, uint32_t digits, uint32_t *starts)
{
	for (uint32_t i = 0; i < count; i++)
		to[starts[from[i].key >> shift & (digits - 1)]++] = from[i];
}

/* From the lowest digit up.  Not a part of its caller, which is called by itself: stacks may be
 * small. */
static __attribute__((noinline)) void sort_digits(struct tally_row_item *items,
						  struct tally_row_item *spare, uint32_t count,
						  uint64_t varying)
{
	unsigned bits = count < MIDDLE_RUN ? 8 : DIGIT_BITS;
	struct tally_row_item *from = items, *to = spare, *swapped;
	uint32_t starts[DIGITS];

	if (count < SHORT_RUN) {
		sort_short(items, count);
		return;
	}
	while (varying) {
		unsigned shift = (unsigned)__builtin_ctzll(varying);

		find_starts(from, count, shift, 1u << bits, starts);
		move(from, to, count, shift, 1u << bits, starts);
		swapped = from;
		from = to;
		to = swapped;
		varying &= shift + bits < 64 ? ~0ULL << (shift + bits) : 0;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

struct split {
	struct tally_row_item *items, *spare;
	uint32_t ends[DIGITS]; /* by digit: behind its last item */
};

/* What has one digit; it is in `spare` and goes back to `items`. */
static int sort_part(void *context, unsigned thread, size_t digit)
{
	struct split *split = context;
	uint32_t first = digit ? split->ends[digit - 1] : 0, count = split->ends[digit] - first;
	struct tally_row_item *items = split->items + first;
	uint64_t varying = 0;

	(void)thread;
	memcpy(items, split->spare + first, count * sizeof(*items));
	for (uint32_t i = 1; i < count; i++)
		varying |= items[i].key ^ items[0].key;
	tally_row_sort(items, split->spare + first, count, varying, 1);
	return 0;
}

void tally_row_sort(struct tally_row_item *items, struct tally_row_item *spare, uint32_t count,
		    uint64_t varying, unsigned threads)
{
	unsigned top = varying ? 64 - (unsigned)__builtin_clzll(varying) : 0;
	unsigned shift = top > DIGIT_BITS ? top - DIGIT_BITS : 0;
	struct split split = {.items = items, .spare = spare};

	if (count < LONG_RUN || !shift) {
		sort_digits(items, spare, count, varying);
		return;
	}
	find_starts(items, count, shift, DIGITS, split.ends);
	move(items, spare, count, shift, DIGITS, split.ends); /* the starts are ends then */
	tally_pool_run(threads, DIGITS, sort_part, &split);
}
