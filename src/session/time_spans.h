/* The order of samples by time alone, in spans: each is a batch of its own, that any thread puts in
 * order by itself.  Who takes the next span learns only which stretches are in it; their records
 * are looked at without the lock that taking needs, and are in the caches when they are shown.
 *
 * Memory: 16 bytes a stretch, and 40 bytes for each sample of a thread's span, which has no more
 * than SPANS_OVERLAP bytes of samples beyond a batch. */
#ifndef TALLY_SESSION_TIME_SPANS_H
#define TALLY_SESSION_TIME_SPANS_H

#include "session/order.h"

/* Bytes of stretches that have times in common: 1,024 rings' at the most that a stretch is long. */
#define SPANS_OVERLAP ((uint64_t)32 << 20)

/* A stretch that a span may have samples of. */
struct span_stretch {
	uint32_t number;
	uint32_t spans; /* that it was in, about */
	uint64_t place; /* of its first sample that was not in a span before, as far as is known */
};

/* What one thread took. */
struct time_span {
	uint64_t from, until; /* [from, until) */
	struct span_stretch *stretches;
	size_t count, room;
	/* Its samples on their way into order. */
	struct time_entry *spare[2];
	size_t entry_count, entry_room;
	size_t *bounds; /* of ascending runs */
	size_t bound_room;
};

struct time_spans {
	const struct tally_session *session;
	struct time_queue queue; /* numbers of stretches that are in no span yet, by first time */
	uint64_t from;
	/* Those that the next span may have samples of, in the order of the file. */
	struct span_stretch *open;
	size_t open_count, open_room;
	size_t bytes;    /* of stretches that a span begins */
	uint64_t passed; /* bytes of stretches, for progress */
};

/* A span begins stretches of so many bytes: the more, the fewer are in two of them; what is made of
 * a span should stay in a processor's second cache.  0; -E2BIG: too many stretches overlap;
 * -ENOMEM.  To be done in any case. */
int tally_time_spans_init(struct time_spans *spans, const struct tally_session *session,
			  size_t bytes);
void tally_time_spans_done(struct time_spans *spans);
/* 1: the next span, which may turn out to be empty; 0: there is none; -ENOMEM. */
int tally_time_spans_next(struct time_spans *spans, struct time_span *ret);

void tally_time_span_done(struct time_span *span);
/* Looks at some samples of one piece, in the order of the file, and may put a token in place of a
 * sample's place. */
typedef void (*tally_span_token_fn)(void *context, struct time_entry *entries, size_t count);
/* Fills an empty batch with a span's samples, in order; `tokens` or NULL.  0 or -ENOMEM. */
int tally_time_span_fill(const struct tally_session *session, struct time_span *span,
			 tally_span_token_fn tokens, void *context, struct order_batch *batch);

#endif
