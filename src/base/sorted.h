/* Binary search in what is sorted. */
#ifndef TALLY_BASE_SORTED_H
#define TALLY_BASE_SORTED_H

/* The first index in [from, to) for which BEFORE does not hold; `to` when it holds for each. BEFORE
 * is an expression of the index, whose name is AT: true for a beginning of the range, false for the
 * rest. */
#define SORTED_BOUND(at, from, to, before)                                                       \
	({                                                                                       \
		__typeof__((to) + 0) sorted_low = (from), sorted_high = (to);                    \
                                                                                                 \
		while (sorted_low < sorted_high) {                                               \
			__typeof__(sorted_low) at = sorted_low + (sorted_high - sorted_low) / 2; \
                                                                                                 \
			if (before)                                                              \
				sorted_low = at + 1;                                             \
			else                                                                     \
				sorted_high = at;                                                \
		}                                                                                \
		sorted_low;                                                                      \
	})

#endif
