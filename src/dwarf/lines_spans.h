/* Ranges of addresses that may contain each other, and which of them hold an address. */
#ifndef TALLY_DWARF_LINES_SPANS_H
#define TALLY_DWARF_LINES_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct tally_span {
	uint64_t low, high; /* [low, high) */
	uint32_t index;     /* of what it belongs to */
	uint32_t outer;     /* the nearest earlier span that reaches past `low`, + 1; 0: none */
};

struct tally_spans { /* all zero is empty and valid */
	struct tally_span *list;
	size_t count, room;
};

void tally_spans_done(struct tally_spans *spans);
/* Empty ranges are left out.  0 or -ENOMEM. */
int tally_spans_add(struct tally_spans *spans, uint64_t low, uint64_t high, uint32_t index);
/* To be called once, after all were added. */
void tally_spans_finish(struct tally_spans *spans);

/* Those that hold the address, the latest start first; NULL: no more.  *looked_at is 0 at first,
 * and counts: a file may be made to have very many around each other, which are
 * not all looked at. */
const struct tally_span *tally_spans_first(const struct tally_spans *spans, uint64_t address,
					   uint32_t *looked_at);
const struct tally_span *tally_spans_next(const struct tally_spans *spans,
					  const struct tally_span *span, uint64_t address,
					  uint32_t *looked_at);

#endif
