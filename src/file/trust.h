/* Which records can be trusted: one rule, which everything that reads a recording asks before it
 * counts.
 *
 * A record is trusted when its event is known, its fields are there (those of a sample fill it to
 * its last byte), and its values are possible: cpu_reserved is 0, no count is larger than two
 * years of ns, no name is longer than a path can be.  A record that is refused is counted as
 * damage, with its offset, and left out of everything. */
#ifndef TALLY_FILE_TRUST_H
#define TALLY_FILE_TRUST_H

#include <tally/data.h>
#include "wire/sample_read.h"

/* The rule for samples of one event. */
struct file_trust {
	const struct tally_layout *layout;
	uint64_t period_most;
};

/* The rule for an event's samples, the first of an array with those of the following events;
 * borrowed until close. */
const struct file_trust *tally_file_trust(const struct tally_data *data, size_t event);
/* Any record, in native byte order. */
bool tally_file_trusts(const struct tally_data *data, const struct tally_record *record);
/* Records that are not samples. */
bool tally_file_trusts_other(const struct tally_data *data, const struct tally_record *record);

static inline bool file_trusts_sample(const struct file_trust *trust,
				      const struct tally_record *record)
{
	const struct tally_layout *layout = trust->layout;

	return sample_fills(layout, record) &&
	       sample_word(layout, record->bytes, TALLY_FIXED_PERIOD) <= trust->period_most &&
	       !sample_half(layout, record->bytes, TALLY_FIXED_CPU, 1, 0);
}

/* The records that a pass over the whole recording refused. */
struct file_refused {
	struct tally_record first; /* in the order of their offsets, if there are any */
	uint64_t count, bytes, last_at;
};

static inline void file_refuse(struct file_refused *refused, const struct tally_record *record)
{
	if (!refused->count++)
		refused->first = *record;
	refused->bytes += record->size;
	refused->last_at = record->offset;
}

/* Adds the result of a pass over the following part. */
static inline void file_refused_add(struct file_refused *to, const struct file_refused *more)
{
	if (!more->count)
		return;
	if (!to->count)
		to->first = more->first;
	to->count += more->count;
	to->bytes += more->bytes;
	to->last_at = more->last_at;
}

/* Whether at least the size of a refused record can be trusted.  If not, there is no record at this
 * offset. */
bool tally_file_ends_well(const struct tally_data *data, const struct tally_record *record);
/* Counts one as damage, unless a later one was counted before. */
void tally_file_refuse(struct tally_data *data, const struct tally_record *record);
/* The records that were refused in earlier windows of a stream; none for other recordings, which
 * are read from their start each time. */
struct file_refused tally_file_refused_before(const struct tally_data *data);
/* Counts them as damage, in place of the result of an earlier pass. */
void tally_file_count_refused(struct tally_data *data, const struct file_refused *refused);

#endif
