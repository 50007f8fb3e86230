#include "source/deferred.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "base/sorted.h"

#define COOKIE_AT 8
#define COUNT_AT  16
#define WORDS_AT  24

bool tally_deferred_read(const struct tally_layout *layout, const struct tally_record *record,
			 uint64_t time, struct source_deferred *ret)
{
	int back = layout->trailer_at[TALLY_FIXED_TID];

	if (back <= 0 || record->size < WORDS_AT + layout->trailer_size ||
	    load_u64(record->bytes + COUNT_AT) >
		(record->size - WORDS_AT - (uint64_t)layout->trailer_size) / 8)
		return false;
	*ret = (struct source_deferred){
	    .cookie = load_u64(record->bytes + COOKIE_AT),
	    .time = time,
	    .tid = load_u32(record->bytes + record->size - back + 4),
	    .record = record->bytes,
	};
	return true;
}

static int by_thread(const struct source_deferred *a, uint32_t tid, uint64_t cookie)
{
	if (a->tid != tid)
		return a->tid < tid ? -1 : 1;
	return a->cookie < cookie ? -1 : a->cookie > cookie;
}

static int compare(const void *left, const void *right)
{
	const struct source_deferred *a = left, *b = right;
	int order = by_thread(a, b->tid, b->cookie);

	return order ? order : a->time < b->time ? -1 : a->time > b->time;
}

void tally_deferred_sort(struct source_deferred *list, size_t count)
{
	if (count)
		qsort(list, count, sizeof(*list), compare);
}

uint64_t tally_deferred_find(const struct source_deferred *list, size_t count, uint32_t tid,
			     uint64_t cookie, uint64_t time, const uint64_t **ret)
{
	struct source_deferred wanted = {.tid = tid, .cookie = cookie, .time = time};
	size_t low = SORTED_BOUND(at, 0, count, compare(&list[at], &wanted) < 0);

	if (low == count || by_thread(&list[low], tid, cookie))
		return 0;
	*ret = (const void *)(list[low].record + WORDS_AT);
	return load_u64(list[low].record + COUNT_AT);
}
