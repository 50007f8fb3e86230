/* Half a million rows are not rare (call chains by frame pointers go astray into numbers that are
 * no addresses), and most of them are alike: one sample each.  Comparing two would be comparing
 * texts nearly each time, so texts are ranked once, and rows are sorted by numbers alone: by what
 * matters most first, then each run of equals by what matters next.  Runs stand in order of arrival
 * until then, so that what is read of their rows is read in memory's order. */
#include "profile/row_order.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/pool.h"
#include "base/table.h"
#include "profile/row_sort.h"
#include "session/run.h"

#define AHEAD 16
/* Rows of a cycle that are fetched before they are moved. */
#define CYCLE_AHEAD 6
#define PIECE       (1u << 15) /* rows that a thread takes at a time */
#define IN_PLACE    (1u << 18) /* fewer rows are put in order where they are */

enum level { EVENT, CHILDREN, SELF, BINARY, SYMBOL, PLACE, LEVELS };

struct ordering {
	const struct tally_rows_plan *plan;
	const struct tally_contexts *contexts;
	const struct tally_places *places;
	const struct tally_row *list;
	unsigned threads;
	struct tally_row_item *items, *spare;
	const struct tally_place_ranks *ranks;
	uint32_t *context_rank; /* by context */
};

static int compare_contexts(const void *left, const void *right, void *context)
{
	const struct ordering *by = context;
	const uint64_t *a = contexts_values(by->contexts, *(const uint32_t *)left);
	const uint64_t *b = contexts_values(by->contexts, *(const uint32_t *)right);
	const struct profile_keys *keys = by->plan->keys;
	int result = 0;

	for (size_t i = 0; i < keys->count && !result; i++) {
		unsigned key = keys->by_rank[i];

		result = tally_profile_key_compare(keys, key, a[key], b[key]);
	}
	return result;
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
		if (by->plan->keys->symbol)
			dso = by->ranks->dso[by->places->dso_of[row->key]];
		else if (by->plan->keys->image)
			dso = by->ranks->dso[row->key - 1];
		return (uint64_t)by->context_rank[row->context] << 32 | dso;
	case SYMBOL:
		return by->ranks->symbol[row->key];
	case PLACE:
	case LEVELS:
		break;
	}
	return tally_session_frame(by->places->session, row->key).place;
}

/* The keys of a run at one level, made in pieces. */
struct keying {
	const struct ordering *by;
	struct tally_row_item *items;
	uint32_t count;
	enum level level;
	atomic_uint_fast64_t varying;
};

static int make_keys(void *context, unsigned thread, size_t piece)
{
	struct keying *keying = context;
	const struct ordering *by = keying->by;
	struct tally_row_item *items = keying->items;
	uint32_t first = (uint32_t)piece * PIECE, end = keying->count;
	uint64_t varying = 0;

	(void)thread;
	if (end - first > PIECE)
		end = first + PIECE;
	for (uint32_t i = first; i < end; i++) {
		if (keying->level == PLACE && i + AHEAD < end)
			tally_session_frame_ahead(by->places->session,
						  by->list[items[i + AHEAD].row].key);
		items[i].key = key_at(by, items[i].row, keying->level);
		varying |= items[i].key ^ items[first].key;
	}
	if (first)
		varying |= items[first].key ^ key_at(by, items[0].row, keying->level);
	atomic_fetch_or_explicit(&keying->varying, varying, memory_order_relaxed);
	return 0;
}

static uint64_t take_keys(const struct ordering *by, struct tally_row_item *items, uint32_t count,
			  enum level level)
{
	struct keying keying = {.by = by, .items = items, .count = count, .level = level};

	tally_pool_run(by->threads, (count + PIECE - 1) / PIECE, make_keys, &keying);
	return atomic_load(&keying.varying);
}

/* Sorts a run whose rows are equal above this level. */
static void order_run(struct ordering *by, uint32_t first, uint32_t count, enum level level)
{
	struct tally_row_item *items = by->items + first;
	enum level levels = by->plan->keys->symbol ? LEVELS : SYMBOL;
	uint64_t varying = 0;

	for (; level < levels && !varying; level++)
		varying = take_keys(by, items, count, level);
	if (!varying)
		return;
	tally_row_sort(items, by->spare + first, count, varying, by->threads);
	for (uint32_t i = 0, end; level < levels && i < count; i = end) {
		for (end = i + 1; end < count && items[end].key == items[i].key;)
			end++;
		if (end - i > 1)
			order_run(by, first + i, end - i, level);
	}
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
 * each other's places, those that come soon being fetched. */
static void permute(struct tally_row *list, struct tally_row_item *items, uint32_t count)
{
	for (uint32_t start = 0; start < count; start++) {
		struct tally_row first = list[start];
		uint32_t to = start, from, ahead = start;

		for (unsigned i = 0; i < CYCLE_AHEAD && items[ahead].row != start; i++)
			ahead = items[ahead].row;
		while ((from = items[to].row) != start) {
			ahead = items[ahead].row;
			__builtin_prefetch(&list[ahead], 1);
			list[to] = list[from];
			items[to].row = to;
			to = from;
		}
		list[to] = first;
		items[to].row = to;
	}
}

struct copying {
	const struct tally_row *from;
	struct tally_row *to;
	const struct tally_row_item *items;
	uint32_t count;
};

static int copy_piece(void *context, unsigned thread, size_t piece)
{
	struct copying *copying = context;
	uint32_t first = (uint32_t)piece * PIECE, end = copying->count;

	(void)thread;
	if (end - first > PIECE)
		end = first + PIECE;
	for (uint32_t i = first; i < end; i++) {
		if (i + AHEAD < end)
			__builtin_prefetch(&copying->from[copying->items[i + AHEAD].row]);
		copying->to[i] = copying->from[copying->items[i].row];
	}
	return 0;
}

/* Where a row that takes another's place leads is only known when it was read, and many rows do not
 * fit the caches: they are copied, as what is read then is known before. */
static int copy_in_order(struct tally_rows *rows, const struct ordering *by)
{
	struct copying copying = {.from = rows->list, .items = by->items, .count = rows->count};

	copying.to = array_new((size_t)rows->count + 1, sizeof(*copying.to));
	if (!copying.to)
		return -ENOMEM;
	tally_pool_run(by->threads, (rows->count + PIECE - 1) / PIECE, copy_piece, &copying);
	free(rows->list);
	rows->list = copying.to;
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
	    .threads = tally_session_threads(places->session),
	    .ranks = plan->ranks,
	};
	int result = count_events(plan, contexts, rows);

	by.items = array_new(room, sizeof(*by.items));
	by.spare = array_new(room, sizeof(*by.spare));
	if (!by.items || !by.spare)
		result = -ENOMEM;
	if (!result)
		result = rank_contexts(&by);
	if (!result) {
		for (uint32_t i = 0; i < rows->count; i++)
			by.items[i].row = i;
		order_run(&by, 0, rows->count, EVENT);
	}
	free(by.spare);
	free(by.context_rank);
	if (!result && rows->count < IN_PLACE)
		permute(rows->list, by.items, rows->count);
	else if (!result)
		result = copy_in_order(rows, &by);
	free(by.items);
	return result;
}
