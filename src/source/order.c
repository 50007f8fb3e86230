#include "source/order.h"

#include <errno.h>
#include <stdlib.h>

/* Where the times of an event's records are. */
static void event_places(const struct tally_source *source, size_t event, int *sample_at,
			 int *trailer_back)
{
	const struct tally_layout *layout = &tally_data_event(source->data, event)->layout;

	*sample_at = layout->at[TALLY_FIXED_TIME];
	*trailer_back = layout->trailer_at[TALLY_FIXED_TIME];
}

bool tally_order_in_file(const struct tally_source *source)
{
	if (source->by_offset || !source->event_count)
		return true;
	/* perf does not sort recordings whose side-band records have no time; of a stream it does
	 * not know that in time. */
	return tally_data_kind(source->data) != TALLY_DATA_PIPE &&
	       !tally_data_event(source->data, 0)->layout.sample_id_all;
}

bool tally_order_same_places(const struct tally_source *source, int *ret_sample_at,
			     int *ret_trailer_back)
{
	event_places(source, 0, ret_sample_at, ret_trailer_back);
	for (size_t i = 1; i < source->event_count; i++) {
		int at, back;

		event_places(source, i, &at, &back);
		if (at != *ret_sample_at || back != *ret_trailer_back)
			return false;
	}
	return true;
}

void tally_order_init(struct order *order, const struct tally_source *source, bool samples,
		      bool others)
{
	*order = (struct order){
	    .source = source,
	    .samples = samples,
	    .others = others,
	    .rounds = !tally_data_total_order(source->data),
	    .next_try = SIZE_MAX,
	};
	order->file_order = tally_order_in_file(source);
	if (!order->file_order)
		order->same_places =
		    tally_order_same_places(source, &order->sample_at, &order->trailer_back);
}

void tally_order_done(struct order *order)
{
	tally_time_queue_done(&order->queue);
	free(order->least);
	order->least = NULL;
}

/* Where samples are not asked for, what is before the first and behind the last other record of a
 * piece is not looked at. */
static void skip_samples(const struct order *order, const struct source_piece *piece, size_t *at)
{
	if (!order->samples && *at < piece->first_other)
		*at = piece->first_other;
}

static inline bool is_passed(const struct order *order, const struct source_piece *piece, size_t at)
{
	return !order->samples && at >= piece->behind_others;
}

/* A record as the walk sees it. */
struct sight {
	const uint8_t *bytes;
	uint32_t type;
	uint16_t size;
};

static uint64_t place_of(const struct order_cursor *cursor, uint16_t size)
{
	return (uint64_t)cursor->piece << (ORDER_SIZE_BITS + ORDER_OFFSET_BITS) |
	       (uint64_t)(cursor->at / 8) << ORDER_SIZE_BITS | size / 8;
}

static __attribute__((noinline)) void places_of_event(struct order *order,
						      const struct sight *sight, int *at, int *back)
{
	const struct tally_source *source = order->source;
	const struct tally_record record = {
	    .bytes = sight->bytes,
	    .type = sight->type,
	    .size = sight->size,
	};
	int event;

	if (sight->type == PERF_RECORD_SAMPLE)
		event = source_event_of(source, &order->ids, &record);
	else
		event = tally_data_event_of(source->data, &record);
	*at = -1;
	if (event >= 0 || sight->type != PERF_RECORD_SAMPLE)
		event_places(source, event < 0 ? 0 : (size_t)event, at, back);
}

/* The time by which a record is sorted; 0: it comes where it stands. */
static inline uint64_t time_of(struct order *order, const struct sight *sight)
{
	int at = order->sample_at, back = order->trailer_back;
	uint64_t time;

	/* Records of the perf tool have no trailer. */
	if (sight->type >= 64 || order->file_order)
		return 0;
	if (__builtin_expect(!order->same_places, 0))
		places_of_event(order, sight, &at, &back);
	if (sight->type != PERF_RECORD_SAMPLE)
		at = back > 0 ? (int)sight->size - back : -1;
	if (at < (int)sizeof(struct perf_event_header) || at + 8 > (int)sight->size)
		return 0;
	time = load_u64(sight->bytes + at);
	return time == UINT64_MAX ? 0 : time;
}

/* The record at the cursor; false at the end of its piece.  *ret_extent: bytes to the next one. */
static inline bool see(const struct source_piece *piece, const struct order_cursor *cursor,
		       struct sight *ret, size_t *ret_extent)
{
	const struct perf_event_header *header = (const void *)(piece->bytes + cursor->at);
	size_t left = piece->size - cursor->at;

	/* All this was looked at before; but a file can be written to. */
	if (left < sizeof(*header) || cursor->at >> 3 >> ORDER_OFFSET_BITS ||
	    header->size < sizeof(*header) || header->size % 8 || header->size > left)
		return false;
	*ret = (struct sight){
	    .bytes = piece->bytes + cursor->at,
	    .type = header->type,
	    .size = header->size,
	};
	*ret_extent = header->size;
	if (__builtin_expect(header->type == PERF_RECORD_AUXTRACE ||
				 header->type == PERF_RECORD_HEADER_TRACING_DATA,
			     0)) {
		const struct tally_record record = {
		    .bytes = ret->bytes, .type = ret->type, .size = ret->size};
		uint64_t extent = tally_record_extent(&record);

		*ret_extent = extent < left ? (size_t)extent : left;
	}
	return true;
}

static bool full(const struct order_batch *batch)
{
	return batch->count == ORDER_BATCH_RECORDS || batch->bytes >= ORDER_BATCH_BYTES;
}

static inline void hand_out(struct order_batch *batch, uint64_t place)
{
	batch->places[batch->count++] = place;
	batch->bytes += (place & ((1U << ORDER_SIZE_BITS) - 1)) * 8;
}

/* Begins a release; the walk goes on after it. */
static int release(struct order *order, uint64_t limit, int64_t *ret)
{
	int64_t count = tally_time_queue_release(&order->queue, limit);

	if (count < 0)
		return (int)count;
	*ret = count;
	order->state = ORDER_RELEASE;
	return 0;
}

/* What FINISHED_ROUND does to the queue.  As perf, one that finds nothing waiting changes nothing.
 */
static int end_round(struct order *order)
{
	int64_t count = 0;
	int result = 0;

	if (!order->waiting)
		return 0;
	if (order->limit) {
		result = release(order, order->limit, &count);
		order->waiting -= (uint64_t)count + order->released;
	}
	order->released = 0;
	order->limit = order->youngest;
	return result;
}

/* Whether the walk is where the look ahead has been. */
static inline bool was_ahead(const struct order *order)
{
	return order->walk.piece < order->ahead.piece ||
	       (order->walk.piece == order->ahead.piece && order->walk.at < order->ahead.at);
}

static void end_ahead(struct order *order)
{
	order->next_try = SIZE_MAX;
	order->ahead_ends = false;
}

static int begin_ahead(struct order *order)
{
	if (!order->least)
		order->least = calloc(order->source->piece_count, sizeof(*order->least));
	if (!order->least)
		return -ENOMEM;
	order->ahead = order->walk;
	order->least_from = order->walk.piece;
	order->least[order->least_from] = UINT64_MAX;
	order->state = ORDER_LOOK;
	return 0;
}

/* The least times of pieces become those of all that is behind a piece. */
static void turn_least(struct order *order)
{
	size_t last = order->ahead.piece < order->source->piece_count
			  ? order->ahead.piece
			  : order->source->piece_count - 1;
	uint64_t least = UINT64_MAX;

	for (size_t i = last + 1; i-- > order->least_from;) {
		uint64_t own = order->least[i];

		order->least[i] = least;
		least = own < least ? own : least;
	}
	order->state = ORDER_WALK;
	order->next_try = 0;
}

/* Looks on until the batch is full, or a round or the file ends. */
static void look(struct order *order, struct order_batch *batch)
{
	const struct tally_source *source = order->source;
	struct order_cursor *ahead = &order->ahead;

	while (ahead->piece < source->piece_count) {
		const struct source_piece *piece = &source->pieces[ahead->piece];
		uint64_t *least = &order->least[ahead->piece];
		struct sight sight;
		size_t extent;

		skip_samples(order, piece, &ahead->at);
		for (; !is_passed(order, piece, ahead->at) && see(piece, ahead, &sight, &extent);
		     ahead->at += extent) {
			uint64_t time;

			if (sight.type == PERF_RECORD_SAMPLE && !order->samples)
				continue;
			time = time_of(order, &sight);
			if (time) {
				*least = time < *least ? time : *least;
				continue;
			}
			/* It is the walk that ends the round. */
			if (sight.type == PERF_RECORD_FINISHED_ROUND && order->rounds) {
				turn_least(order);
				return;
			}
			if (sight.type != PERF_RECORD_SAMPLE && !order->others)
				continue;
			if (full(batch))
				return;
			hand_out(batch, place_of(ahead, sight.size));
		}
		*ahead = (struct order_cursor){.piece = ahead->piece + 1};
		if (ahead->piece < source->piece_count)
			order->least[ahead->piece] = UINT64_MAX;
	}
	order->ahead_ends = true;
	turn_least(order);
}

/* The walk ends a piece: releases what nothing behind it can precede. */
static int try_release(struct order *order, size_t piece)
{
	uint64_t limit = order->ahead_ends ? UINT64_MAX : order->limit;
	int64_t count = 0;
	int result;

	if (!limit)
		return 0;
	limit = order->least[piece] < limit ? order->least[piece] : limit;
	result = release(order, limit, &count);
	if (result)
		return result;
	order->released += (uint64_t)count;
	order->next_try = (order->queue.waiting - (uint64_t)count) * 2;
	if (order->next_try < ORDER_LOOK_AHEAD / 4)
		order->next_try = ORDER_LOOK_AHEAD / 4;
	return 0;
}

static int end_piece(struct order *order)
{
	size_t piece = order->walk.piece;

	order->passed = order->source->pieces[piece].offset + order->source->pieces[piece].size;
	order->walk = (struct order_cursor){.piece = piece + 1};
	if (order->walk.piece == order->source->piece_count) {
		int64_t count;

		order->walk.piece = order->source->piece_count;
		return release(order, UINT64_MAX, &count);
	}
	if (order->next_try != SIZE_MAX && was_ahead(order))
		return order->queue.waiting >= order->next_try ? try_release(order, piece) : 0;
	if (order->queue.waiting > ORDER_LOOK_AHEAD && order->next_try == SIZE_MAX)
		return begin_ahead(order);
	return 0;
}

/* A record without a time; false: the batch has no room for it. */
static bool pass(struct order *order, const struct sight *sight, struct order_batch *batch)
{
	if ((sight->type != PERF_RECORD_SAMPLE && !order->others) || was_ahead(order))
		return true;
	if (full(batch))
		return false;
	hand_out(batch, place_of(&order->walk, sight->size));
	return true;
}

/* Walks until the batch is full, or something is released. */
static int walk(struct order *order, struct order_batch *batch)
{
	const struct source_piece *piece = &order->source->pieces[order->walk.piece];
	struct order_cursor *at = &order->walk;
	struct sight sight;
	size_t extent;

	skip_samples(order, piece, &at->at);
	for (; !is_passed(order, piece, at->at) && see(piece, at, &sight, &extent);
	     at->at += extent) {
		uint64_t time;

		source_prefetch(sight.bytes, sight.size);
		if (sight.type == PERF_RECORD_SAMPLE && !order->samples)
			continue;
		time = time_of(order, &sight);
		if (__builtin_expect(time != 0, 1)) {
			if (time_queue_put(&order->queue, time, place_of(at, sight.size)))
				return -ENOMEM;
			if (time >= order->youngest || !order->waiting)
				order->youngest = time;
			order->waiting++;
			continue;
		}
		if (!pass(order, &sight, batch))
			return 0;
		if (sight.type == PERF_RECORD_FINISHED_ROUND && order->rounds) {
			at->at += extent;
			end_ahead(order);
			return end_round(order);
		}
	}
	return end_piece(order);
}

/* Hands out what is released; back to the walk when that is all. */
static int drain(struct order *order, struct order_batch *batch)
{
	while (!full(batch)) {
		const struct time_entry *entries;
		int64_t count = tally_time_queue_next(&order->queue, &entries);
		size_t done = 0;

		if (count < 0)
			return (int)count;
		if (!count) {
			order->state =
			    order->walk.piece < order->source->piece_count ? ORDER_WALK : ORDER_END;
			return 0;
		}
		while (done < (size_t)count && !full(batch))
			hand_out(batch, entries[done++].place);
		time_queue_taken(&order->queue, done);
	}
	return 0;
}

int tally_order_next(struct order *order, struct order_batch *batch)
{
	int result = 0;

	batch->count = batch->bytes = 0;
	if (order->state == ORDER_WALK && order->walk.piece == order->source->piece_count)
		order->state = ORDER_END;
	while (!result && order->state != ORDER_END && !full(batch)) {
		switch (order->state) {
		case ORDER_WALK:
			result = walk(order, batch);
			break;
		case ORDER_LOOK:
			look(order, batch);
			break;
		default:
			result = drain(order, batch);
		}
	}
	return result;
}
