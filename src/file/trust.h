/* Which records can be trusted: one rule, which everything that reads a recording asks before it
 * counts.
 *
 * A record is trusted when its event is known, its fields are there (those of a sample fill it to
 * its last byte), and what the kernel always writes the same is so: nothing beside the CPU, no
 * count that no counter can reach, no name longer than a path can be.  A record that is refused is
 * counted as damage, with its offset, and left out of everything. */
#ifndef TALLY_FILE_TRUST_H
#define TALLY_FILE_TRUST_H

#include <tally/data.h>
#include "base/bytes.h"

/* What a trusted sample of one event is like. */
struct file_trust {
	const struct tally_layout *layout;
	uint64_t period_most;
	uint16_t fixed;            /* bytes of its header and its fields of fixed place */
	int16_t cpu_at, period_at; /* below 0: it has none */
	bool varies;               /* more fields follow */
	bool quick;                /* these are no more than the next two, which most have */
	bool chain, raw;
};

/* The rule for an event's samples; borrowed until close. */
const struct file_trust *tally_file_trust(const struct tally_data *data, size_t event);
/* The part of it for samples with more than that. */
bool tally_file_trusts_shape(const struct file_trust *trust, const struct tally_record *record);
/* Any record, in native byte order. */
bool tally_file_trusts(const struct tally_data *data, const struct tally_record *record);
/* Records that are no samples. */
bool tally_file_trusts_other(const struct tally_data *data, const struct tally_record *record);

/* Whether a call chain and raw bytes fill the sample. */
static inline bool file_fills_quickly(const struct file_trust *trust, const uint8_t *bytes,
				      size_t size)
{
	size_t at = trust->fixed;

	if (trust->chain) {
		uint64_t count;

		if (size < at + 8)
			return false;
		count = load_u64(bytes + at);
		if (count > (size - at) / 8 - 1)
			return false;
		at += 8 + (size_t)count * 8;
	}
	if (trust->raw) {
		if (size < at + 8)
			return false;
		at += ((uint64_t)load_u32(bytes + at) + 4 + 7) & ~(uint64_t)7;
	}
	return at == size;
}

static inline bool file_trusts_sample(const struct file_trust *trust,
				      const struct tally_record *record)
{
	const uint8_t *bytes = record->bytes;
	uint16_t size = record->size;

	if (!trust->varies) {
		if (size != trust->fixed)
			return false;
	} else if (trust->quick) {
		if (!file_fills_quickly(trust, bytes, size))
			return false;
	} else if (size < trust->fixed || !tally_file_trusts_shape(trust, record)) {
		return false;
	}
	return (trust->period_at < 0 || load_u64(bytes + trust->period_at) <= trust->period_most) &&
	       (trust->cpu_at < 0 || !load_u32(bytes + trust->cpu_at + 4));
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

/* What a walk over the part behind it refused goes on top. */
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

/* Whether the size at least of a record that is refused can be trusted.  If not, no record can
 * stand where it does. */
bool tally_file_ends_well(const struct tally_data *data, const struct tally_record *record);
/* Counts one as damage, if none behind it was counted before. */
void tally_file_refuse(struct tally_data *data, const struct tally_record *record);
/* Counts them as damage, in place of what an earlier walk refused. */
void tally_file_tell_refused(struct tally_data *data, const struct file_refused *refused);

#endif
