/* The filter between the order of records and what reads their batches. */
#ifndef TALLY_SESSION_FILTER_STAGE_H
#define TALLY_SESSION_FILTER_STAGE_H

#include "session/filter.h"
#include "source/order.h"

/* Text that comes before a record of the batch. */
struct filter_text {
	size_t record; /* its index */
	size_t early;  /* so much of it by early() */
	size_t end;    /* in the batch's text */
};

struct filtered_batch {
	struct order_batch batch;
	uint8_t *dropped; /* by record, an enum tally_dropped */
	struct filter_text *texts;
	size_t text_count, text_room;
	struct tally_buf text;
};

struct filter_stage {
	const struct tally_sample_filter *filter;
	const struct tally_record_sink *sink;
	struct tally_resolver resolver;
	struct tally_resolved sample;
	struct filtered_batch *batches; /* by slot */
	unsigned slots;
	uint64_t made; /* batches */
	bool ended;    /* by the filter */
};

/* 0 or -ENOMEM. */
int tally_filter_stage_init(struct filter_stage *stage, struct tally_session *session,
			    const struct tally_record_sink *sink, unsigned slots);
void tally_filter_stage_done(struct filter_stage *stage);
/* Takes the next batch out of the order through the filter, into its slot; it is empty at the end.
 * 0 or -errno. */
int tally_filter_stage_make(struct filter_stage *stage, struct order *order);

#endif
