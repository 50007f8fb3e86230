/* Which records can be trusted: one rule, which everything that reads a recording asks before it
 * counts.
 *
 * A record is trusted when its event is known, its fields are there (those of a sample fill it to
 * its last byte), and what the kernel always writes in one way is written so: nothing beside the
 * CPU, no count that no counter can reach, no name longer than a path can be.  A record that is
 * refused is counted as damage, with its offset, and left out of everything. */
#ifndef TALLY_FILE_TRUST_H
#define TALLY_FILE_TRUST_H

#include <tally/data.h>
#include "wire/sample_read.h"

/* What a trusted sample of one event is like. */
struct file_trust {
	const struct tally_layout *layout;
	uint64_t period_most;
};

/* The rule for an event's samples, and behind it those of the events after it; borrowed until
 * close.
 */
const struct file_trust *tally_file_trust(const struct tally_data *data, size_t event);
/* Any record, in native byte order. */
bool tally_file_trusts(const struct tally_data *data, const struct tally_record *record);
/* Records that are no samples. */
bool tally_file_trusts_other(const struct tally_data *data, const struct tally_record *record);

static inline bool file_trusts_sample(const struct file_trust *trust,
				      const struct tally_record *record)
{
	const struct tally_layout *layout = trust->layout;

	return sample_fills(layout, record) &&
	       sample_word(layout, record->bytes, TALLY_FIXED_PERIOD) <= trust->period_most &&
	       !sample_half(layout, record->bytes, TALLY_FIXED_CPU, 1, 0);
}

/* What a walk over the whole recording refused. */
struct file_refused {
	struct tally_record first; /* in the order of their offsets, when there are any */
	uint64_t count, bytes, last_at;
};

static inline void file_refuse(struct file_refused *refused, const struct tally_record *record)
{
	if (!refused->count++)
		refused->first = *record;
	refused->bytes += record->size;
	refused->last_at = record->offset;
}

/* Adds what a walk over the part behind it refused. */
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

/* Whether at least the size of a refused record can be trusted.  If not, there is no record at its
 * place. */
bool tally_file_ends_well(const struct tally_data *data, const struct tally_record *record);
/* Counts one as damage, if none behind it was counted before. */
void tally_file_refuse(struct tally_data *data, const struct tally_record *record);
/* What was refused in windows of a stream before; nothing of other recordings, which are walked
 * from their start each time. */
struct file_refused tally_file_refused_before(const struct tally_data *data);
/* Counts them as damage, in place of what an earlier walk refused. */
void tally_file_tell_refused(struct tally_data *data, const struct file_refused *refused);

#endif
