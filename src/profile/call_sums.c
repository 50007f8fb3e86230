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

int tally_call_sums_order(const struct tally_call_sums *sums, uint32_t contexts, uint32_t **ret)
{
	uint32_t *starts = calloc((size_t)contexts + 1, sizeof(*starts));
	uint32_t *order = malloc(((size_t)sums->count + 1) * sizeof(*order));

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
