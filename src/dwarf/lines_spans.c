#include "dwarf/lines_spans.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "base/table.h"

/* Functions of programs are some ten within each other, and at most some hundred. */
#define LOOK_MOST 16384U

void tally_spans_done(struct tally_spans *spans)
{
	free(spans->list);
	*spans = (struct tally_spans){0};
}

int tally_spans_add(struct tally_spans *spans, uint64_t low, uint64_t high, uint32_t index)
{
	if (low >= high)
		return 0;
	if (spans->count >= UINT32_MAX / 2 ||
	    !array_next(&spans->list, &spans->room, spans->count, 64, sizeof(*spans->list)))
		return -ENOMEM;
	spans->list[spans->count++] = (struct tally_span){.low = low, .high = high, .index = index};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct tally_span *one = a, *other = b;

	if (one->low != other->low)
		return one->low < other->low ? -1 : 1;
	if (one->high != other->high) /* the wider is the outer one */
		return one->high > other->high ? -1 : 1;
	return one->index < other->index ? -1 : one->index > other->index;
}

/* Going back from a span, those that have ended where it starts can hold nothing from there on. */
void tally_spans_finish(struct tally_spans *spans)
{
	if (!spans->count)
		return;
	qsort(spans->list, spans->count, sizeof(*spans->list), compare);
	for (size_t i = 1; i < spans->count; i++) {
		uint32_t outer = (uint32_t)i;

		while (outer && spans->list[outer - 1].high <= spans->list[i].low)
			outer = spans->list[outer - 1].outer;
		spans->list[i].outer = outer;
	}
}

static const struct tally_span *holding(const struct tally_spans *spans, uint32_t from,
					uint64_t address, uint32_t *looked_at)
{
	while (from && spans->list[from - 1].high <= address && *looked_at < LOOK_MOST) {
		from = spans->list[from - 1].outer;
		++*looked_at;
	}
	return from && ++*looked_at < LOOK_MOST ? &spans->list[from - 1] : NULL;
}

const struct tally_span *tally_spans_first(const struct tally_spans *spans, uint64_t address,
					   uint32_t *looked_at)
{
	size_t from = SORTED_BOUND(at, 0, spans->count, spans->list[at].low <= address);

	return holding(spans, (uint32_t)from, address, looked_at);
}

const struct tally_span *tally_spans_next(const struct tally_spans *spans,
					  const struct tally_span *span, uint64_t address,
					  uint32_t *looked_at)
{
	return holding(spans, span->outer, address, looked_at);
}
