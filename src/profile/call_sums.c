#include "profile/call_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

#define LATELY_LEAST (1U << 14)
#define LATELY_MOST  (1U << 20)

void tally_call_sums_done(struct tally_call_sums *sums)
{
	free(sums->list);
	free(sums->lately);
	*sums = (struct tally_call_sums){0};
}

/* What was met lately is not worth moving. */
static int grow_lately(struct tally_call_sums *sums)
{
	uint32_t room = sums->lately ? sums->lately_room * 4 : LATELY_LEAST;
	uint32_t *lately = table_new(room, sizeof(*lately));

	if (!lately)
		return -ENOMEM;
	free(sums->lately);
	sums->lately = lately;
	sums->lately_room = room;
	return 0;
}

int tally_call_sums_reserve(struct tally_call_sums *sums, uint32_t more)
{
	uint64_t room = sums->room ? sums->room : 1024;

	if (!sums->lately || (sums->count > sums->lately_room && sums->lately_room < LATELY_MOST)) {
		int result = grow_lately(sums);

		if (result)
			return result;
	}
	while (room - sums->count < more)
		room *= 2;
	if (room == sums->room)
		return 0;
	if (room > INT32_MAX || !array_resize(&sums->list, room, sizeof(*sums->list)))
		return -ENOMEM;
	sums->room = (uint32_t)room;
	return 0;
}

int tally_call_sums_join(struct tally_call_sums *sums, const struct tally_call_sums *from,
			 const uint32_t *contexts)
{
	int result = from->count ? tally_call_sums_reserve(sums, from->count) : 0;

	for (uint32_t i = 0; !result && i < from->count; i++) {
		sums->list[sums->count] = from->list[i];
		sums->list[sums->count++].context = contexts[from->list[i].context];
	}
	return result;
}

/* The slot of a sum in a table by hash: of an equal one, or free. */
static uint32_t *slot_of(const struct tally_call_sum *list, uint32_t *slots, uint32_t mask,
			 const struct tally_call_sum *sum)
{
	uint32_t at = call_sum_hash(sum->context, sum->stack, sum->frame) & mask;

	while (slots[at]) {
		const struct tally_call_sum *known = &list[slots[at] - 1];

		if (known->stack == sum->stack && known->frame == sum->frame &&
		    known->context == sum->context && known->samples <= UINT32_MAX - sum->samples)
			break;
		at = (at + 1) & mask;
	}
	return &slots[at];
}

int tally_call_sums_join_equal(struct tally_call_sums *sums)
{
	uint32_t room = array_room(0, sums->count + sums->count / 2 + 1, 1024), count = 0;
	uint32_t *slots = table_new(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->count; i++) {
		struct tally_call_sum sum = sums->list[i];
		uint32_t *slot = slot_of(sums->list, slots, room - 1, &sum);

		if (*slot) {
			sums->list[*slot - 1].self += sum.self;
			sums->list[*slot - 1].samples += sum.samples;
		} else {
			sums->list[count] = sum;
			*slot = ++count;
		}
	}
	free(slots);
	sums->count = count;
	/* Numbers have changed. */
	free(sums->lately);
	sums->lately = NULL;
	sums->lately_room = 0;
	return 0;
}

int tally_call_sums_order(const struct tally_call_sums *sums, uint32_t contexts, uint32_t **ret)
{
	uint32_t *starts = calloc((size_t)contexts + 1, sizeof(*starts));
	uint32_t *order = array_new((size_t)sums->count + 1, sizeof(*order));

	if (!starts || !order) {
		free(starts);
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->count; i++)
		starts[sums->list[i].context]++;
	counts_to_starts(starts, contexts);
	for (uint32_t i = 0; i < sums->count; i++)
		order[starts[sums->list[i].context]++] = i;
	free(starts);
	*ret = order;
	return 0;
}
