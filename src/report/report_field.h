/* Fields of a row, which columns of a report show: sums and keys, and how their values are written
 * and ordered. */
#ifndef TALLY_REPORT_REPORT_FIELD_H
#define TALLY_REPORT_REPORT_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/profile.h>
#include "base/buf.h"
#include "base/json.h"
#include "key/keys.h"

/* What a field without a key shows. */
enum report_made {
	REPORT_SUM,       /* a sum of the row */
	REPORT_IPC,       /* instructions per cycle of its function */
	REPORT_COVERAGE,  /* and how much of the function that is known of */
	REPORT_PREDICTED, /* of the branches in its call chains */
	REPORT_ABORT,
	REPORT_CYCLES,
};

struct report_field {
	const char *name, *title, *help;
	/* Of a sum: where it is in struct tally_profile_row, and whether its share is shown. */
	size_t offset, width;
	bool share;
	/* NULL: what `made` says.  The key's index among the profile's. */
	const struct profile_key *key;
	enum report_made made;
	size_t
	    index; /* of other fields than sums: the key with their function, + 1; 0: the row's */
	const struct profile_keys *keys; /* of a key */
	uint64_t unit;                   /* of a time: values are multiples of so many ns */
	uint64_t whole; /* what is 100 % of a share, if it is not what the event's others are of */
	const struct tally_session *session;
	const struct tally_cycles *cycles; /* NULL: none are known */
	const struct tally_profile *profile;
};

/* Finds a field by its name.  A key that the profile does not have is not found. */
bool tally_report_field_init(struct report_field *ret, const struct tally_profile *profile,
			     const char *name);

/* The values that the text of a cell depends on. */
struct report_field_source {
	const void *name;
	uint64_t number;
};

static inline bool report_field_is_sum(const struct report_field *field)
{
	return !field->key && field->made == REPORT_SUM;
}

/* The function that a row is of; with keys of branches alone, that which the branch went to. */
static inline struct tally_frame report_field_function(const struct report_field *field,
						       const struct tally_profile_row *row)
{
	return field->index
		   ? tally_session_frame(field->session, (uint32_t)row->values[field->index - 1])
		   : row->frame;
}

static inline uint64_t report_field_sum(const struct report_field *field,
					const struct tally_profile_row *row)
{
	return *(const uint64_t *)(const void *)((const char *)row + field->offset);
}

static inline struct report_field_source report_field_source(const struct report_field *field,
							     const struct tally_profile_row *row)
{
	const struct tally_frame *frame = &row->frame;

	if (!field->key && field->made >= REPORT_PREDICTED)
		return (struct report_field_source){.number = row->handle};
	if (!field->key && field->made)
		return (struct report_field_source){
		    .name = row->frame.symbol,
		    .number = field->index ? row->values[field->index - 1] : row->frame.place};
	if (!field->key)
		return (struct report_field_source){.number = report_field_sum(field, row)};
	switch (field->key->type) {
	case KEY_NAME:
		return (struct report_field_source){.name = row->comm};
	case KEY_IMAGE:
		return (struct report_field_source){.name = frame->image_name};
	case KEY_SYMBOL:
		return (struct report_field_source){
		    .name = frame->symbol,
		    .number = frame->symbol ? (uint64_t)frame->inlined << 8 | (uint8_t)frame->level
					    : frame->place};
	case KEY_TASK:
		return (struct report_field_source){row->comm, row->values[field->index]};
	case KEY_CODE: /* the text may depend on the number of samples */
		return (struct report_field_source){(const void *)(uintptr_t)row->samples,
						    row->values[field->index]};
	case KEY_SOURCE:
	case KEY_NUMBER:
	case KEY_TIME:
	case KEY_TEXT:
	case KEY_FRAME:
		break;
	}
	return (struct report_field_source){.number = row->values[field->index]};
}

static inline uint64_t report_field_whole(const struct report_field *field, uint64_t whole)
{
	return field->whole ? field->whole : whole;
}

/* The value as in a table for people; `whole` is 100 %. */
void tally_report_field_text(const struct report_field *field, const struct tally_profile_row *row,
			     uint64_t whole, struct tally_buf *to);
/* The value for programs: shares are percentages without a percent sign, a task is its number, a
 * function has no level; empty if it is unknown. */
void tally_report_field_plain(const struct report_field *field, const struct tally_profile_row *row,
			      uint64_t whole, struct tally_buf *to);
/* The same as a JSON value; null if it is unknown. */
void tally_report_field_json(const struct report_field *field, const struct tally_profile_row *row,
			     uint64_t whole, struct json *json);
/* Sums: the larger first; keys: by text or number.  Below 0, 0, above 0. */
int tally_report_field_compare(const struct report_field *field, const struct tally_profile_row *a,
			       const struct tally_profile_row *b);

#endif
