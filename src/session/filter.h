/* What decides, sample by sample and in the order in which perf delivers them, which samples of a
 * session are seen: on one thread, that of the visit's caller, as filters of others know no
 * threads. All else of a visit stays on its threads, which show what came through. */
#ifndef TALLY_SESSION_FILTER_H
#define TALLY_SESSION_FILTER_H

#include "base/buf.h"
#include "session/order.h"
#include "session/ordered.h"
#include "session/plan.h"
#include "session/resolver.h"

/* Why what shows samples leaves one out: bits, as perf has them for filters. */
#define TALLY_FILTERED_DSO    0x01U
#define TALLY_FILTERED_THREAD 0x02U
#define TALLY_FILTERED_SYMBOL 0x08U
#define TALLY_FILTERED_GUEST  0x10U
#define TALLY_FILTERED_HOST   0x20U

/* A sample at its turn. */
struct tally_turn {
	struct tally_resolver *resolver;
	const struct tally_record *record;
	struct tally_resolved *sample; /* joined with its thread once `joined` */
	const struct tally_ordered_visitor *visitor;
	bool joined;
	/* What early() made of it: whether it dropped the sample, and how much it printed. */
	bool dropped_early;
	size_t said_early;
};

enum tally_verdict {
	TALLY_TURN_KEEP,
	TALLY_TURN_DROP,
	TALLY_TURN_END, /* the visit ends without an error; what came before is shown */
};

struct tally_sample_filter {
	void *context;
	/* Before, and behind, what the visitor leaves out by itself; either may be NULL.  An enum
	 * tally_verdict, or -errno. */
	int (*early)(void *context, struct tally_turn *turn);
	int (*late)(void *context, struct tally_turn *turn);
	/* Text that it printed and that was not taken yet; who takes it clears it.  Size 0: none.
	 */
	struct tally_buf *(*said)(void *context);
	/* Puts that to stdout, for visitors that print nothing themselves. */
	void (*print)(void *context);
};

/* All samples go through it from now on, with all fields that they have, until another, or NULL, is
 * set.  Borrowed. */
void tally_session_set_filter(struct tally_session *session,
			      const struct tally_sample_filter *filter);
const struct tally_sample_filter *tally_session_filter(const struct tally_session *session);

/* The sample's thread, space and eras.  0 or -ENOMEM. */
static inline int turn_join(struct tally_turn *turn)
{
	const struct tally_session *session = turn->resolver->session;
	struct tally_resolved *sample = turn->sample;
	int result;

	if (turn->joined)
		return 0;
	result = resolver_join(turn->resolver, sample,
			       session->by_offset ? turn->record->offset : sample->sample.time);
	turn->joined = !result;
	return result;
}

/* One sample through the filter and what the visitor leaves out: an enum tally_verdict or -errno.
 */
int tally_turn_take(const struct tally_sample_filter *filter, struct tally_turn *turn);

/* --- for ordered.c: batches that went through the filter --- */

/* Text that stands before a record of the batch. */
struct filter_said {
	size_t record; /* its index; the count: behind all */
	size_t early;  /* so much of it by early() */
	size_t end;    /* in the batch's text */
};

enum filter_dropped { FILTER_KEPT, FILTER_DROPPED, FILTER_DROPPED_EARLY };

struct filter_batch {
	struct order_batch batch;
	uint8_t *dropped; /* by record, an enum filter_dropped */
	struct filter_said *said;
	size_t said_count, said_room;
	struct tally_buf text;
};

struct filter_stage {
	const struct tally_sample_filter *filter;
	const struct tally_ordered_visitor *visitor;
	struct tally_resolver resolver;
	struct tally_resolved sample;
	struct event_plan *plans; /* of all fields */
	/* Of those that need no decoder; NULL, or decode set: the above. */
	struct event_plan *quick;
	struct filter_batch *batches; /* by slot */
	unsigned slots;
	uint64_t made; /* batches */
	bool ended;    /* by the filter */
};

/* 0 or -ENOMEM. */
int tally_filter_stage_init(struct filter_stage *stage, struct tally_session *session,
			    const struct tally_ordered_visitor *visitor, unsigned slots);
void tally_filter_stage_done(struct filter_stage *stage);
/* Takes the next batch out of the order through the filter, into its slot; it is empty at the end.
 * 0 or -errno. */
int tally_filter_stage_make(struct filter_stage *stage, struct order *order);

#endif
