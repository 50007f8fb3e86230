#include "session/time_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

/* A stretch that was in so many spans is not looked at from its start again. */
#define SPANS_PATIENT 3U

#define SIZE_MASK ((1U << ORDER_SIZE_BITS) - 1)

static size_t stretch_bytes(const struct session_stretch *stretch)
{
	return (stretch->place & SIZE_MASK) * 8 + 8;
}

/* Slices of the recording's time in which stretches are counted. */
#define SLICES 4096U

/* At most so many bytes of stretches have a time in common: those that have one in the same slice.
 * Told without sorting; UINT64_MAX when it cannot be. */
static uint64_t rough_overlap(const struct tally_session *session)
{
	uint64_t begin = session->counts.first_time, open = 0, most = 0, slice;
	uint64_t *begun = calloc((SLICES + 1) * 2, sizeof(*begun));
	uint64_t *ended = begun + SLICES + 1;

	if (!begun)
		return UINT64_MAX;
	slice = (session->counts.last_time - begin) / SLICES + 1;
	for (size_t i = 0; i < session->stretch_count; i++) {
		const struct session_stretch *stretch = &session->stretches[i];

		/* Both are times of samples, which the counts are of. */
		begun[(stretch->first - begin) / slice] += stretch_bytes(stretch);
		ended[(stretch->last - begin) / slice] += stretch_bytes(stretch);
	}
	for (size_t i = 0; i < SLICES; i++) {
		open += begun[i];
		most = open > most ? open : most;
		open -= ended[i];
	}
	free(begun);
	return most;
}

/* The stretches by their first, or last, times. */
static int sort(struct time_queue *queue, const struct tally_session *session, bool by_last)
{
	int64_t count;

	for (size_t i = 0; i < session->stretch_count; i++) {
		const struct session_stretch *stretch = &session->stretches[i];

		if (time_queue_put(queue, by_last ? stretch->last : stretch->first, i))
			return -ENOMEM;
	}
	count = tally_time_queue_release(queue, UINT64_MAX);
	return count < 0 ? (int)count : 0;
}

/* The most bytes of stretches that have a time in common, or -ENOMEM. */
static int64_t overlap(const struct tally_session *session)
{
	struct time_queue firsts = {0}, lasts = {0};
	uint64_t open = 0, most = 0;
	int64_t begun, ended = 0;
	int result = sort(&firsts, session, false);

	if (!result)
		result = sort(&lasts, session, true);
	while (!result) {
		const struct time_entry *begins, *ends;

		begun = tally_time_queue_next(&firsts, &begins);
		ended = tally_time_queue_next(&lasts, &ends);
		if (begun <= 0 || ended <= 0)
			break;
		if (begins->time <= ends->time) {
			open += stretch_bytes(&session->stretches[begins->place]);
			most = open > most ? open : most;
			time_queue_taken(&firsts, 1);
		} else {
			open -= stretch_bytes(&session->stretches[ends->place]);
			time_queue_taken(&lasts, 1);
		}
	}
	if (!result && (begun < 0 || ended < 0))
		result = -ENOMEM;
	tally_time_queue_done(&firsts);
	tally_time_queue_done(&lasts);
	return result ? result : (int64_t)most;
}

int tally_time_spans_init(struct time_spans *spans, const struct tally_session *session,
			  size_t bytes)
{
	int64_t most = 0;

	*spans = (struct time_spans){.session = session, .bytes = bytes};
	if (rough_overlap(session) > SPANS_OVERLAP)
		most = overlap(session);
	if (most < 0)
		return (int)most;
	return most > (int64_t)SPANS_OVERLAP ? -E2BIG : sort(&spans->queue, session, false);
}

void tally_time_spans_done(struct time_spans *spans)
{
	tally_time_queue_done(&spans->queue);
	free(spans->open);
	*spans = (struct time_spans){0};
}

/* Opens stretches until a span is long enough; *ret_until is where it ends.  0 or -ENOMEM. */
static int open_some(struct time_spans *spans, uint64_t *ret_until)
{
	const struct tally_session *session = spans->session;
	uint64_t least = spans->open_count ? spans->from : UINT64_MAX;
	size_t bytes = 0;

	for (;;) {
		const struct time_entry *next;
		int64_t count = tally_time_queue_next(&spans->queue, &next);
		const struct session_stretch *stretch;

		if (count < 0)
			return (int)count;
		if (!count) {
			*ret_until = UINT64_MAX;
			return 0;
		}
		least = next->time < least ? next->time : least;
		if (bytes >= spans->bytes && next->time > least) {
			*ret_until = next->time;
			return 0;
		}
		if (spans->open_count == spans->open_room) {
			size_t room = spans->open_room ? spans->open_room * 2 : 64;

			if (!array_resize(&spans->open, room, sizeof(*spans->open)))
				return -ENOMEM;
			spans->open_room = room;
		}
		stretch = &session->stretches[next->place];
		spans->open[spans->open_count++] =
		    (struct span_stretch){.number = (uint32_t)next->place, .place = stretch->place};
		bytes += stretch_bytes(stretch);
		spans->passed += stretch_bytes(stretch);
		time_queue_taken(&spans->queue, 1);
	}
}

static int by_number(const void *left, const void *right)
{
	const struct span_stretch *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* New ones stand behind, in the order of their times. */
static void sort_open(struct time_spans *spans, size_t old)
{
	bool sorted = true;

	for (size_t i = old ? old : 1; sorted && i < spans->open_count; i++)
		sorted = spans->open[i - 1].number < spans->open[i].number;
	if (!sorted)
		qsort(spans->open, spans->open_count, sizeof(*spans->open), by_number);
}

/* The samples of a stretch, one by one. */
struct stretch_walk {
	const uint8_t *bytes; /* of the stretch */
	size_t at, rest;      /* in it; of the last sample */
	size_t limit;         /* bytes of its piece */
	int time_at;
};

static struct stretch_walk walk_begin(const struct tally_session *session, uint64_t place)
{
	const struct session_piece *piece =
	    &session->pieces[place >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS)];
	const uint8_t *bytes = order_bytes(session, place);

	return (struct stretch_walk){
	    .bytes = bytes,
	    .rest = (place & SIZE_MASK) * 8,
	    .limit = piece->size - (size_t)(bytes - piece->bytes),
	    .time_at = session->stretch_time_at,
	};
}

/* The size and time of the sample that comes next, which walk->at is behind then; 0: no more. */
static inline size_t walk_next(struct stretch_walk *walk, uint64_t *ret_time)
{
	while (walk->at <= walk->rest) {
		const struct perf_event_header *header = (const void *)(walk->bytes + walk->at);
		struct tally_record record = {
		    .bytes = walk->bytes + walk->at, .type = header->type, .size = header->size};
		uint64_t extent;

		/* All this was looked at before; but a file can be written to. */
		if (record.size < sizeof(*header) || record.size % 8 ||
		    record.size > walk->limit - walk->at)
			return 0;
		session_prefetch(record.bytes, record.size);
		if (__builtin_expect(record.type != PERF_RECORD_SAMPLE, 0)) {
			extent = tally_record_extent(&record);
			if (extent > walk->limit - walk->at)
				return 0;
			walk->at += (size_t)extent;
			continue;
		}
		if (record.size < (size_t)walk->time_at + 8)
			return 0;
		*ret_time = load_u64(record.bytes + walk->time_at);
		walk->at += record.size;
		return record.size;
	}
	return 0;
}

/* Moves to the first sample from a time on. */
static void pass_over(const struct tally_session *session, struct span_stretch *open, uint64_t from)
{
	struct stretch_walk walk = walk_begin(session, open->place);
	uint64_t time;
	size_t before = 0;

	while (walk_next(&walk, &time) && time < from)
		before = walk.at;
	/* What stands behind the last sample that is younger is no sample before the next one. */
	if (before > walk.rest)
		before = walk.rest;
	open->place += ((uint64_t)(before / 8) << ORDER_SIZE_BITS) - before / 8;
}

/* What a span that ends at a time leaves for the next one. */
static void keep_open(struct time_spans *spans, uint64_t until)
{
	const struct tally_session *session = spans->session;
	size_t kept = 0;

	for (size_t i = 0; i < spans->open_count && until != UINT64_MAX; i++) {
		struct span_stretch open = spans->open[i];

		if (session->stretches[open.number].last < until)
			continue;
		if (++open.spans > SPANS_PATIENT)
			pass_over(session, &open, until);
		spans->open[kept++] = open;
	}
	spans->open_count = kept;
	spans->from = until;
}

int tally_time_spans_next(struct time_spans *spans, struct time_span *ret)
{
	size_t old = spans->open_count;
	uint64_t until = UINT64_MAX;
	int result = open_some(spans, &until);

	if (result)
		return result;
	ret->count = spans->open_count;
	if (!ret->count)
		return 0;
	sort_open(spans, old);
	if (ret->count > ret->room) {
		if (!array_resize(&ret->stretches, spans->open_room, sizeof(*ret->stretches)))
			return -ENOMEM;
		ret->room = spans->open_room;
	}
	memcpy(ret->stretches, spans->open, ret->count * sizeof(*ret->stretches));
	ret->from = spans->from;
	ret->until = until;
	keep_open(spans, until);
	return 1;
}

/* --- a thread's span --- */

void tally_time_span_done(struct time_span *span)
{
	free(span->stretches);
	free(span->spare[0]);
	free(span->spare[1]);
	free(span->bounds);
	*span = (struct time_span){0};
}

/* Room for all that the stretches may have. */
static int span_room(struct time_span *span, const struct tally_session *session)
{
	size_t least = (size_t)session->stretch_time_at + 8, entries = 0;

	for (size_t i = 0; i < span->count; i++)
		entries += (span->stretches[i].place & SIZE_MASK) * 8 / least + 1;
	if (entries > span->entry_room) {
		for (unsigned i = 0; i < 2; i++) {
			/* What is in them is not needed. */
			free(span->spare[i]);
			span->spare[i] = malloc((entries + entries / 4) * sizeof(*span->spare[i]));
		}
		span->entry_room = span->spare[0] && span->spare[1] ? entries + entries / 4 : 0;
		if (!span->entry_room)
			return -ENOMEM;
	}
	if (span->count + 1 > span->bound_room) {
		if (!array_resize(&span->bounds, span->room + 1, sizeof(*span->bounds)))
			return -ENOMEM;
		span->bound_room = span->room + 1;
	}
	return 0;
}

/* The samples of a stretch that are in the span, behind those of others: a run of their own unless
 * they are younger. */
static void collect(const struct tally_session *session, struct time_span *span, uint64_t place,
		    size_t *runs)
{
	struct stretch_walk walk = walk_begin(session, place);
	struct time_entry *entries = span->spare[0];
	size_t count = span->entry_count, first = count, size;
	uint64_t time;

	place &= ~(uint64_t)SIZE_MASK;
	while ((size = walk_next(&walk, &time)) && time < span->until) {
		entries[count] = (struct time_entry){
		    .time = time,
		    .place =
			place + ((uint64_t)((walk.at - size) / 8) << ORDER_SIZE_BITS) + size / 8,
		};
		count += time >= span->from;
	}
	if (count > first && (!first || entries[first].time < entries[first - 1].time))
		span->bounds[(*runs)++] = first;
	span->entry_count = count;
}

int tally_time_span_fill(const struct tally_session *session, struct time_span *span,
			 tally_span_token_fn tokens, void *context, struct order_batch *batch)
{
	const struct time_entry *entries;
	size_t runs = 0, from;
	int result = span_room(span, session);

	if (result)
		return result;
	span->entry_count = 0;
	for (size_t i = 0; i < span->count; i++) {
		if (i + 1 < span->count)
			__builtin_prefetch(order_bytes(session, span->stretches[i + 1].place));
		from = span->entry_count;
		collect(session, span, span->stretches[i].place, &runs);
		/* While they are in the nearest cache. */
		if (tokens && span->entry_count > from)
			tokens(context, span->spare[0] + from, span->entry_count - from);
	}
	span->bounds[runs] = span->entry_count;
	entries = tally_time_merge(span->spare, span->bounds, runs);
	if (span->entry_count > batch->room) {
		if (!array_resize(&batch->places, span->entry_room, sizeof(*batch->places)))
			return -ENOMEM;
		batch->room = span->entry_room;
	}
	for (size_t i = 0; i < span->entry_count; i++)
		batch->places[i] = entries[i].place;
	batch->count = span->entry_count;
	return 0;
}
