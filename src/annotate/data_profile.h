/* Samples by the types of the objects that their instructions access. */
#ifndef TALLY_ANNOTATE_DATA_PROFILE_H
#define TALLY_ANNOTATE_DATA_PROFILE_H

#include "annotate/place_sums.h"
#include "types/data_types.h"

/* Samples at one offset of a type, by event. */
struct data_sum {
	struct data_types *types;
	const char *image; /* short name */
	const char *path;
	uint32_t type;
	int64_t offset;
	uint32_t event;
	uint64_t samples, period;
};

/* One type, with its samples at all offsets. */
struct data_profile_type {
	const struct data_sum *sums; /* by offset and event */
	size_t count;
	const char *name;
	uint64_t size;
	uint64_t samples; /* of all events */
	double share;     /* of 1, by period, in the event that has the largest */
};

struct tally_data_profile {
	struct tally_session *session;
	struct place_sums places; /* its totals */
	struct data_sum *sums;    /* by type, offset, event */
	size_t sum_count, sum_room;
	struct data_profile_type *list; /* the largest share first */
	size_t type_count, type_room;
	size_t event_count;
	uint64_t samples[ACCESS_OUTCOMES]; /* of all events */
	uint64_t all;
};

/* The samples and periods of an event between two offsets of a type. */
struct data_amount {
	uint64_t samples, period;
};
struct data_amount tally_data_amount(const struct data_profile_type *type, uint32_t event,
				     uint64_t from, uint64_t until);
/* Whether a type is called so, with or without "struct ". */
bool tally_data_type_is_called(const struct data_profile_type *type, const char *name);
/* Why samples have no type, as a sentence. */
const char *tally_data_outcome_text(unsigned outcome);

/* data_text.c, data_json.c: what tally_data_profile_write() writes. */
struct json;
int tally_data_text(const struct tally_data_profile *profile,
		    const struct tally_data_profile_text *options, struct tally_buf *to);
int tally_data_json(const struct tally_data_profile *profile,
		    const struct tally_data_profile_text *options, struct tally_buf *to);
/* Whether the options leave a type out. */
bool tally_data_is_shown(const struct data_profile_type *type,
			 const struct tally_data_profile_text *options);

#endif
