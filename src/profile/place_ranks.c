#include "profile/place_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "profile/places.h"

#define AHEAD 16

/* Most texts differ in their first bytes, which are compared without a look at the texts. */
struct ranked {
	uint64_t head;
	const char *text;
	uint32_t number;
};

static struct ranked ranked_text(const char *text, uint32_t number)
{
	struct ranked made = {.text = text, .number = number};

	for (unsigned i = 0; i < sizeof(made.head) && text[i]; i++)
		made.head |= (uint64_t)(unsigned char)text[i] << (56 - 8 * i);
	return made;
}

static int compare_texts(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	return a->text == b->text ? 0 : strcmp(a->text, b->text);
}

/* Equal texts get equal ranks. */
static void rank_texts(struct ranked *texts, uint32_t count, uint32_t *ranks)
{
	uint32_t rank = 0;

	qsort(texts, count, sizeof(*texts), compare_texts);
	for (uint32_t i = 0; i < count; i++) {
		rank += i && compare_texts(&texts[i - 1], &texts[i]);
		ranks[texts[i].number] = rank;
	}
}

static int rank_symbols(const struct tally_places *places, uint32_t *ranks)
{
	struct ranked *texts = NULL;
	size_t known = 0, room = 0;

	memset(ranks, 0xff, places->frame_count * sizeof(*ranks));
	for (uint32_t frame = 1; frame < places->frame_count; frame++) {
		const char *symbol;

		tally_session_frame_ahead(places->session, frame + AHEAD);
		if (places->place_of[frame] != frame)
			continue;
		symbol = tally_session_frame(places->session, frame).symbol;
		if (!symbol)
			continue;
		if (!array_next(&texts, &room, known, 1024, sizeof(*texts))) {
			free(texts);
			return -ENOMEM;
		}
		texts[known++] = ranked_text(symbol, frame);
	}
	if (known)
		rank_texts(texts, (uint32_t)known, ranks);
	free(texts);
	return 0;
}

static int rank_dsos(const struct tally_places *places, uint32_t *ranks)
{
	uint32_t count = (uint32_t)places->dsos.count;
	struct ranked *texts = malloc(((size_t)count + 1) * sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		texts[i] = ranked_text(places->dsos.text[i], i);
	rank_texts(texts, count, ranks);
	free(texts);
	return 0;
}

int tally_place_ranks_make(const struct tally_places *places, bool symbols,
			   struct tally_place_ranks *ret)
{
	*ret = (struct tally_place_ranks){
	    .symbol =
		symbols ? malloc(((size_t)places->frame_count + 1) * sizeof(*ret->symbol)) : NULL,
	    .dso = malloc(((size_t)places->dsos.count + 1) * sizeof(*ret->dso)),
	};
	if ((symbols && !ret->symbol) || !ret->dso)
		return -ENOMEM;
	return (symbols && rank_symbols(places, ret->symbol)) || rank_dsos(places, ret->dso)
		   ? -ENOMEM
		   : 0;
}

void tally_place_ranks_done(struct tally_place_ranks *ranks)
{
	free(ranks->symbol);
	free(ranks->dso);
	*ranks = (struct tally_place_ranks){0};
}
