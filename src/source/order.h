/* The order in which perf delivers a file's records: one pass over their headers, which gives
 * batches of records in that order.
 *
 * A record with a time waits in the queue; FINISHED_ROUND releases the records that are not newer
 * than the newest record up to the round before; the end of the file releases the rest.  Records
 * without a time keep their place.  Source: the perf.data format (FINISHED_ROUND), and perf 6.1's
 * behaviour.
 *
 * Memory: 16 bytes for each record of two rounds.  If no round ends for more than ORDER_LOOK_AHEAD
 * records, the headers up to the next round's end (or the file's) are read ahead, which gives for
 * each piece the smallest time after it; from then on a record is released when no later record can
 * precede it.  So a file without rounds takes 16 bytes for each of ORDER_LOOK_AHEAD records and
 * twice as many as stand before one that precedes them, and 8 bytes for each 256 KiB of the
 * file. */
#ifndef TALLY_SOURCE_ORDER_H
#define TALLY_SOURCE_ORDER_H

#include "source/source.h"
#include "source/time_queue.h"

#define ORDER_BATCH_RECORDS 2048U
/* Bytes of records in a batch; the last one may pass it. */
#define ORDER_BATCH_BYTES ((size_t)64 * 1024)

#define ORDER_LOOK_AHEAD ((size_t)256 * 1024)

/* A record's place: its piece, its offset there and its size, both in words of 8 bytes. */
#define ORDER_SIZE_BITS   13
#define ORDER_OFFSET_BITS 19

/* In place of a record's place: the token of a sink for it (record_sink.h). */
#define ORDER_TOKEN (1ULL << 63)

struct order_batch {
	uint64_t *places;
	size_t count, bytes;
	size_t room; /* ORDER_BATCH_RECORDS at least */
};

struct order_cursor {
	size_t piece, at;
};

enum order_state {
	ORDER_WALK,
	ORDER_LOOK, /* ahead: records without a time are given out, of the others only the time is
		       read */
	ORDER_RELEASE, /* then back to the walk */
	ORDER_END,
};

struct order {
	const struct tally_source *source;
	bool samples, others; /* whether samples are asked for, and other records */
	bool file_order;      /* all keep their place */
	bool rounds;          /* FINISHED_ROUND is obeyed */
	/* Where samples and trailers have their time when all events have it at the same place; 0:
	 * by event. */
	int sample_at, trailer_back;
	bool same_places;
	struct source_id_cache ids;

	enum order_state state;
	struct order_cursor walk;
	struct order_cursor ahead; /* until where records without a time were handed out */
	bool ahead_ends;           /* no round ends before the file does */
	uint64_t *least;           /* by piece: the smallest time in it, later: after it */
	size_t least_from;         /* the piece in which the look ahead began */
	size_t next_try;           /* with so many waiting, try to release some */

	struct time_queue queue;
	/* As perf has them: what would wait, the youngest when it came last, and what the next
	 * round releases (0: nothing). */
	uint64_t waiting, youngest, limit;
	uint64_t released; /* earlier than perf would */
	uint64_t passed;   /* bytes that the walk is behind, for progress */
};

/* Whether perf keeps all records in the order of the file, because not all have a time. */
bool tally_order_in_file(const struct tally_source *source);
/* Whether there are events, and the records of all of them have their times at the same offsets;
 * gives those of the first event. */
bool tally_order_same_places(const struct tally_source *source, int *ret_sample_at,
			     int *ret_trailer_back);
/* Of samples, of other records, or of both. */
void tally_order_init(struct order *order, const struct tally_source *source, bool samples,
		      bool others);
void tally_order_done(struct order *order);
/* Fills an empty batch with the next records; it stays empty at the end.  0 or -ENOMEM. */
int tally_order_next(struct order *order, struct order_batch *batch);

static inline const struct source_piece *order_piece(const struct tally_source *source,
						     uint64_t place)
{
	return &source->pieces[place >> (ORDER_SIZE_BITS + ORDER_OFFSET_BITS)];
}

/* In its piece. */
static inline size_t order_offset(uint64_t place)
{
	return (place >> ORDER_SIZE_BITS & ((1U << ORDER_OFFSET_BITS) - 1)) * 8;
}

static inline const uint8_t *order_bytes(const struct tally_source *source, uint64_t place)
{
	return order_piece(source, place)->bytes + order_offset(place);
}

/* The record at a place; false when the file was changed since it was looked at. */
static inline bool order_record(const struct tally_source *source, uint64_t place,
				struct tally_record *ret)
{
	const struct source_piece *piece = order_piece(source, place);
	const uint8_t *bytes = order_bytes(source, place);
	const struct perf_event_header *header = (const void *)bytes;

	*ret = (struct tally_record){
	    .bytes = bytes,
	    .offset = piece->offset + (uint64_t)(bytes - piece->bytes),
	    .type = header->type,
	    .misc = header->misc,
	    .size = header->size,
	};
	return ret->size >= sizeof(*header) &&
	       ret->size <= piece->size - (size_t)(bytes - piece->bytes);
}

#endif
