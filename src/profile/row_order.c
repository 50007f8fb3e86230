/* Half a million rows are not rare (call chains by frame pointers go astray into numbers that are
 * no addresses), and most of them are alike: one sample each.  Comparing two would be comparing
 * texts nearly each time, so texts are ranked once, and rows are sorted by numbers alone: digit by
 * digit, from what matters least to what matters most. */
#include "profile/row_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)
#define NO_RANK    UINT32_MAX

struct item {
	uint64_t key;
	uint32_t row;
};

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
	uint32_t *symbol_rank;  /* by row; NO_RANK: it has none */
	uint32_t *context_rank; /* by context */
	uint32_t *dso_rank;     /* by dso */
};

/* Sorts by the keys and leaves what is equal as it stood. */
static void sort_items(struct ordering *by)
{
	uint64_t varying = 0;

	for (uint32_t i = 1; i < by->count; i++)
		varying |= by->items[i].key ^ by->items[0].key;
	while (varying) {
		unsigned shift = (unsigned)__builtin_ctzll(varying);
		uint32_t starts[DIGITS] = {0}, at = 0;
		struct item *sorted = by->spare;

		for (uint32_t i = 0; i < by->count; i++)
			starts[by->items[i].key >> shift & (DIGITS - 1)]++;
		for (uint32_t i = 0; i < DIGITS; i++) {
			uint32_t here = starts[i];

			starts[i] = at;
			at += here;
		}
		for (uint32_t i = 0; i < by->count; i++)
			sorted[starts[by->items[i].key >> shift & (DIGITS - 1)]++] = by->items[i];
		by->spare = by->items;
		by->items = sorted;
		varying &= shift + DIGIT_BITS < 64 ? ~0ULL << (shift + DIGIT_BITS) : 0;
	}
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

/* Each symbol is ranked once, however many contexts have it: by_frame tells which were. */
static int rank_symbols(struct ordering *by)
{
	const struct tally_places *places = by->places;
	uint32_t *by_frame = calloc((size_t)places->frame_count + 1, sizeof(*by_frame));
	struct ranked *texts = NULL;
	uint32_t known = 0, room = 0;
	int result = by_frame ? 0 : -ENOMEM;

	for (uint32_t i = 0; !result && i < by->count; i++) {
		uint32_t key = by->list[i].key;
		struct tally_frame frame = tally_session_frame(places->session, key);

		by->items[i] = (struct item){.key = frame.place, .row = i};
		by->symbol_rank[i] = NO_RANK;
		if (!frame.symbol)
			continue;
		if (!by_frame[key]) {
			if (known == room) {
				struct ranked *more;

				room = room ? room * 2 : 1024;
				more = reallocarray(texts, room, sizeof(*texts));
				if (!more) {
					result = -ENOMEM;
					break;
				}
				texts = more;
			}
			texts[known] = (struct ranked){.text = frame.symbol, .number = known};
			by_frame[key] = ++known;
		}
		by->symbol_rank[i] = by_frame[key] - 1;
	}
	if (!result && known) {
		uint32_t *ranks = malloc(known * sizeof(*ranks));

		if (ranks) {
			rank_texts(texts, known, ranks);
			for (uint32_t i = 0; i < by->count; i++)
				if (by->symbol_rank[i] != NO_RANK)
					by->symbol_rank[i] = ranks[by->symbol_rank[i]];
		} else {
			result = -ENOMEM;
		}
		free(ranks);
	}
	free(texts);
	free(by_frame);
	return result;
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

/* The items as reports list the rows. */
static int order_items(struct ordering *by)
{
	const struct tally_key_set *keys = &by->plan->keys;

	if (rank_contexts(by) || rank_dsos(by))
		return -ENOMEM;
	if (keys->symbol) {
		if (rank_symbols(by))
			return -ENOMEM;
		sort_items(by);
		for (uint32_t i = 0; i < by->count; i++)
			by->items[i].key = by->symbol_rank[by->items[i].row];
		sort_items(by);
	} else {
		for (uint32_t i = 0; i < by->count; i++)
			by->items[i] = (struct item){.row = i};
	}
	for (uint32_t i = 0; i < by->count; i++) {
		const struct tally_row *row = &by->list[by->items[i].row];
		uint64_t dso = 0;

		if (keys->symbol)
			dso = by->dso_rank[by->places->dso_of[row->key]];
		else if (keys->dso)
			dso = by->dso_rank[row->key - 1];
		by->items[i].key = (uint64_t)by->context_rank[row->context] << 32 | dso;
	}
	sort_items(by);
	for (uint32_t i = 0; i < by->count; i++)
		by->items[i].key = ~by->list[by->items[i].row].self;
	sort_items(by);
	for (uint32_t i = 0; i < by->count; i++)
		by->items[i].key = ~by->list[by->items[i].row].children;
	sort_items(by);
	if (by->plan->event_count > 1) {
		for (uint32_t i = 0; i < by->count; i++)
			by->items[i].key =
			    by->contexts->list[by->list[by->items[i].row].context].event;
		sort_items(by);
	}
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
	by.symbol_rank = malloc(room * sizeof(*by.symbol_rank));
	if (!result && (!by.items || !by.spare || !by.symbol_rank))
		result = -ENOMEM;
	if (!result)
		result = order_items(&by);
	free(by.spare);
	free(by.symbol_rank);
	free(by.context_rank);
	free(by.dso_rank);
	if (!result) {
		void *fitting;

		permute(rows->list, by.items, rows->count);
		fitting = reallocarray(rows->list, room, sizeof(*rows->list));
		if (fitting) {
			rows->list = fitting;
			rows->room = rows->count;
		}
	}
	free(by.items);
	return result;
}
