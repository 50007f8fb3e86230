/* Half a million rows are not rare (call chains by frame pointers go astray into numbers that are
 * no addresses), and most of them are alike: one sample each.  Comparing two would be comparing
 * texts nearly each time, so texts are ranked once, and rows are sorted by numbers alone: by what
 * matters most first, then each run of equals by what matters next.  Runs stand in order of arrival
 * until then, so that what is read of their rows is read in memory's order. */
#include "profile/row_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)
/* Shorter runs are sorted by insertion, and by smaller digits. */
#define SHORT_RUN  32U
#define MIDDLE_RUN 4096U
#define NO_RANK    UINT32_MAX
#define AHEAD      16
#define IN_PLACE   (1u << 18) /* fewer rows are put in order where they are */

enum level { EVENT, CHILDREN, SELF, BINARY, SYMBOL, PLACE, LEVELS };

/* Packed: there are two of them a row when most memory is in use. */
struct item {
	uint64_t key;
	uint32_t row;
} __attribute__((packed));

/* A text and what it stands for, while ranks are given. */
struct ranked {
	const char *text;
	uint32_t number;
};

struct ordering {
	const struct tally_rows_plan *plan;
	const struct tally_contexts *contexts;
	const struct tally_places *places;
	const struct tally_row *list;
	uint32_t count;
	struct item *items, *spare;
	uint32_t *symbol_rank;  /* by frame; NO_RANK: it has none */
	uint32_t *context_rank; /* by context */
	uint32_t *dso_rank;     /* by dso */
};

static void sort_short(struct item *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct item item = items[i];
		uint32_t at = i;

		for (; at && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Sorts by the keys and leaves what is equal as it stood; `varying` has the bits in which any two
 * differ. */
static void sort_items(struct item *items, struct item *spare, uint32_t count, uint64_t varying)
{
	unsigned bits = count < MIDDLE_RUN ? 8 : DIGIT_BITS;
	uint32_t digits = 1u << bits;
	struct item *from = items, *to = spare, *swapped;

	if (count < SHORT_RUN) {
		sort_short(items, count);
		return;
	}
	while (varying) {
		unsigned shift = (unsigned)__builtin_ctzll(varying);
		uint32_t starts[DIGITS], at = 0;

		memset(starts, 0, digits * sizeof(*starts));
		for (uint32_t i = 0; i < count; i++)
			starts[from[i].key >> shift & (digits - 1)]++;
		for (uint32_t i = 0; i < digits; i++) {
			uint32_t here = starts[i];

			starts[i] = at;
			at += here;
		}
		for (uint32_t i = 0; i < count; i++)
			to[starts[from[i].key >> shift & (digits - 1)]++] = from[i];
		swapped = from;
		from = to;
		to = swapped;
		varying &= shift + bits < 64 ? ~0ULL << (shift + bits) : 0;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

static int compare_texts(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

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

/* Each symbol is ranked once, however many contexts have it. */
static int rank_symbols(struct ordering *by)
{
	const struct tally_places *places = by->places;
	struct ranked *texts = NULL;
	uint32_t known = 0, room = 0;

	by->symbol_rank = malloc(((size_t)places->frame_count + 1) * sizeof(*by->symbol_rank));
	if (!by->symbol_rank)
		return -ENOMEM;
	memset(by->symbol_rank, 0xff, places->frame_count * sizeof(*by->symbol_rank));
	for (uint32_t i = 0; i < by->count; i++) {
		uint32_t key = by->list[i].key;
		const char *symbol;

		if (i + AHEAD < by->count)
			tally_session_frame_ahead(places->session, by->list[i + AHEAD].key);
		if (by->symbol_rank[key] != NO_RANK)
			continue;
		symbol = tally_session_frame(places->session, key).symbol;
		if (!symbol)
			continue;
		if (known == room) {
			room = room ? room * 2 : 1024;
			if (!array_resize(&texts, room, sizeof(*texts))) {
				free(texts);
				return -ENOMEM;
			}
		}
		by->symbol_rank[key] = 0;
		texts[known++] = (struct ranked){.text = symbol, .number = key};
	}
	if (known)
		rank_texts(texts, known, by->symbol_rank);
	free(texts);
	return 0;
}

static int rank_dsos(struct ordering *by)
{
	uint32_t count = (uint32_t)by->places->dsos.count;
	struct ranked *texts = malloc(((size_t)count + 1) * sizeof(*texts));

	by->dso_rank = malloc(((size_t)count + 1) * sizeof(*by->dso_rank));
	if (!texts || !by->dso_rank) {
		free(texts);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		texts[i] = (struct ranked){.text = by->places->dsos.text[i], .number = i};
	rank_texts(texts, count, by->dso_rank);
	free(texts);
	return 0;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_contexts(const void *left, const void *right, void *context)
{
	const struct ordering *by = context;
	const struct tally_context *a = &by->contexts->list[*(const uint32_t *)left];
	const struct tally_context *b = &by->contexts->list[*(const uint32_t *)right];
	int result = 0;

	if (a->comm != b->comm)
		result = strcmp(tally_session_string(by->places->session, a->comm),
				tally_session_string(by->places->session, b->comm));
	if (!result)
		result = compare_numbers(a->pid, b->pid);
	if (!result)
		result = compare_numbers(a->tid, b->tid);
	return result ? result : compare_numbers(a->cpu, b->cpu);
}

static int rank_contexts(struct ordering *by)
{
	uint32_t count = by->contexts->count, rank = 0;
	uint32_t *order = malloc(((size_t)count + 1) * sizeof(*order));

	by->context_rank = malloc(((size_t)count + 1) * sizeof(*by->context_rank));
	if (!order || !by->context_rank) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_contexts, by);
	for (uint32_t i = 0; i < count; i++) {
		/* Those of two events may be equal. */
		rank += i && compare_contexts(&order[i - 1], &order[i], by);
		by->context_rank[order[i]] = rank;
	}
	free(order);
	return 0;
}

static uint64_t key_at(const struct ordering *by, uint32_t number, enum level level)
{
	const struct tally_row *row = &by->list[number];
	uint64_t dso = 0;

	switch (level) {
	case EVENT:
		return by->contexts->list[row->context].event;
	case CHILDREN:
		return ~row->children;
	case SELF:
		return ~row->self;
	case BINARY:
		if (by->plan->keys.symbol)
			dso = by->dso_rank[by->places->dso_of[row->key]];
		else if (by->plan->keys.dso)
			dso = by->dso_rank[row->key - 1];
		return (uint64_t)by->context_rank[row->context] << 32 | dso;
	case SYMBOL:
		return by->symbol_rank[row->key];
	case PLACE:
	case LEVELS:
		break;
	}
	return tally_session_frame(by->places->session, row->key).place;
}

/* Sorts a run whose rows are equal above this level. */
static void order_run(struct ordering *by, uint32_t first, uint32_t count, enum level level)
{
	struct item *items = by->items + first;
	enum level levels = by->plan->keys.symbol ? LEVELS : SYMBOL;
	uint64_t varying = 0;

	for (; level < levels && !varying; level++) {
		for (uint32_t i = 0; i < count; i++) {
			if (level == PLACE && i + AHEAD < count)
				tally_session_frame_ahead(by->places->session,
							  by->list[items[i + AHEAD].row].key);
			items[i].key = key_at(by, items[i].row, level);
			varying |= items[i].key ^ items[0].key;
		}
	}
	if (!varying)
		return;
	sort_items(items, by->spare + first, count, varying);
	for (uint32_t i = 0, end; level < levels && i < count; i = end) {
		for (end = i + 1; end < count && items[end].key == items[i].key;)
			end++;
		if (end - i > 1)
			order_run(by, first + i, end - i, level);
	}
}

/* The items as reports list the rows. */
static int order_items(struct ordering *by)
{
	if (rank_contexts(by) || rank_dsos(by) || (by->plan->keys.symbol && rank_symbols(by)))
		return -ENOMEM;
	for (uint32_t i = 0; i < by->count; i++)
		by->items[i].row = i;
	order_run(by, 0, by->count, EVENT);
	return 0;
}

static int count_events(const struct tally_rows_plan *plan, const struct tally_contexts *contexts,
			struct tally_rows *rows)
{
	rows->event_first = calloc((size_t)plan->event_count + 1, sizeof(*rows->event_first));
	if (!rows->event_first)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->count; i++)
		rows->event_first[contexts->list[rows->list[i].context].event + 1]++;
	for (uint32_t event = 0; event < plan->event_count; event++)
		rows->event_first[event + 1] += rows->event_first[event];
	return 0;
}

/* Puts the rows in the order of the items, which are used up: along each cycle of rows that take
 * each other's places. */
static void permute(struct tally_row *list, struct item *items, uint32_t count)
{
	for (uint32_t start = 0; start < count; start++) {
		struct tally_row first = list[start];
		uint32_t to = start, from;

		while ((from = items[to].row) != start) {
			list[to] = list[from];
			items[to].row = to;
			to = from;
		}
		list[to] = first;
		items[to].row = to;
	}
}

/* Where a row that takes another's place leads is only known when it was read, and many rows do not
 * fit the caches: they are copied, as what is read then is known before. */
static int copy_in_order(struct tally_rows *rows, const struct item *items)
{
	struct tally_row *list = malloc(((size_t)rows->count + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->count; i++) {
		if (i + AHEAD < rows->count)
			__builtin_prefetch(&rows->list[items[i + AHEAD].row]);
		list[i] = rows->list[items[i].row];
	}
	free(rows->list);
	rows->list = list;
	rows->room = rows->count;
	return 0;
}

int tally_row_order_make(const struct tally_rows_plan *plan, const struct tally_contexts *contexts,
			 const struct tally_places *places, struct tally_rows *rows)
{
	size_t room = (size_t)rows->count + 1;
	struct ordering by = {
	    .plan = plan,
	    .contexts = contexts,
	    .places = places,
	    .list = rows->list,
	    .count = rows->count,
	};
	int result = count_events(plan, contexts, rows);

	by.items = malloc(room * sizeof(*by.items));
	by.spare = malloc(room * sizeof(*by.spare));
	if (!result && (!by.items || !by.spare))
		result = -ENOMEM;
	if (!result)
		result = order_items(&by);
	free(by.spare);
	free(by.symbol_rank);
	free(by.context_rank);
	free(by.dso_rank);
	if (!result && rows->count < IN_PLACE)
		permute(rows->list, by.items, rows->count);
	else if (!result)
		result = copy_in_order(rows, by.items);
	free(by.items);
	return result;
}
