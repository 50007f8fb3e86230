/* The one way to read a sample: by its event's layout, which was made once from the attr.
 *
 * A sample is a header, fields that have the same place in every sample of the event, and then
 * fields of varying size.  How to read it:
 *
 *	const struct tally_layout *layout = &tally_data_event(data, event)->layout;
 *
 *	1. Some fields, into a struct.  `want` is a mask of PERF_SAMPLE_*, the columns that the
 *	   caller asks for; nothing else is written.  False: the record is too short for them.
 *
 *		struct tally_sample sample;
 *		if (!sample_read(layout, record, want, &sample))
 *			damaged++;
 *
 *	   sample.present gets the bits of what is there.  Fields at fixed places (SAMPLE_FIXED)
 *	   that are wanted and not there read as 0, the pid and tid as -1 (as in perf); of the
 *	   others look at `present` first.  Chains, raw bytes, ... are pointers into the record.
 *	   Where `want` is a constant, or `want & constant`, the compiler leaves out the tests of
 *	   all other fields.
 *
 *	2. One column at a time, of fields at fixed places: one check, then any of them.
 *
 *		if (sample_holds(layout, record)) {
 *			times[i] = sample_word(layout, record->bytes, TALLY_FIXED_TIME);
 *			tids[i] = sample_tid(layout, record->bytes);
 *		}
 *
 *	3. Whether a sample can be trusted, that is: whether its fields fill it to its last byte.
 *	   Such a sample holds all its fields, so the check of 1 and 2 succeeds.
 *
 *		if (!sample_fills(layout, record))
 *			refuse(record);
 *
 * The record is in native byte order, and record->bytes has record->size bytes; everything else in
 * it may be wrong.  Nothing is allocated. */
#ifndef TALLY_WIRE_SAMPLE_READ_H
#define TALLY_WIRE_SAMPLE_READ_H

#include <stdbool.h>
#include <tally/record.h>
#include "base/bytes.h"

/* The fields at fixed places, one each in enum tally_fixed. */
#define SAMPLE_FIXED                                                                               \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		    PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
		    PERF_SAMPLE_PERIOD))

/* Whether the record is long enough for all fields at fixed offsets. */
static inline bool sample_holds(const struct tally_layout *layout,
				const struct tally_record *record)
{
	return record->size >= layout->variable_at;
}

/* The word of a field at a fixed place; 0 when the event does not have it. */
static inline uint64_t sample_word(const struct tally_layout *layout, const uint8_t *bytes,
				   enum tally_fixed field)
{
	return layout->at[field] >= 0 ? load_u64(bytes + layout->at[field]) : 0;
}

/* The same for the first or second half of a word; `none` is the value if the event does not have
 * it. */
static inline uint32_t sample_half(const struct tally_layout *layout, const uint8_t *bytes,
				   enum tally_fixed field, unsigned half, uint32_t none)
{
	return layout->at[field] >= 0 ? load_u32(bytes + layout->at[field] + half * 4) : none;
}

/* Samples without a thread belong to thread -1, as in perf. */
static inline uint32_t sample_pid(const struct tally_layout *layout, const uint8_t *bytes)
{
	return sample_half(layout, bytes, TALLY_FIXED_TID, 0, UINT32_MAX);
}

static inline uint32_t sample_tid(const struct tally_layout *layout, const uint8_t *bytes)
{
	return sample_half(layout, bytes, TALLY_FIXED_TID, 1, UINT32_MAX);
}

/* Copies a word of two halves to two adjacent members: pid and tid, cpu and cpu_reserved. */
static inline void sample_copy_word(const struct tally_layout *layout, const uint8_t *bytes,
				    enum tally_fixed field, uint64_t none, void *to)
{
	store_u64(to, layout->at[field] >= 0 ? load_u64(bytes + layout->at[field]) : none);
}

_Static_assert(offsetof(struct tally_sample, tid) == offsetof(struct tally_sample, pid) + 4 &&
		   offsetof(struct tally_sample, cpu_reserved) ==
		       offsetof(struct tally_sample, cpu) + 4,
	       "halves of a word");

static inline void sample_read_fixed(const struct tally_layout *layout, const uint8_t *bytes,
				     uint64_t want, struct tally_sample *ret)
{
	const uint64_t rare =
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID;

	if (want & PERF_SAMPLE_IP)
		ret->ip = sample_word(layout, bytes, TALLY_FIXED_IP);
	if (want & PERF_SAMPLE_TID)
		sample_copy_word(layout, bytes, TALLY_FIXED_TID, UINT64_MAX,
				 (uint8_t *)ret + offsetof(struct tally_sample, pid));
	if (want & PERF_SAMPLE_TIME)
		ret->time = sample_word(layout, bytes, TALLY_FIXED_TIME);
	if (want & PERF_SAMPLE_CPU)
		sample_copy_word(layout, bytes, TALLY_FIXED_CPU, 0,
				 (uint8_t *)ret + offsetof(struct tally_sample, cpu));
	if (want & PERF_SAMPLE_PERIOD)
		ret->period = sample_word(layout, bytes, TALLY_FIXED_PERIOD);
	if (!(want & rare))
		return;
	if (want & PERF_SAMPLE_IDENTIFIER)
		ret->identifier = sample_word(layout, bytes, TALLY_FIXED_IDENTIFIER);
	if (want & PERF_SAMPLE_ADDR)
		ret->addr = sample_word(layout, bytes, TALLY_FIXED_ADDR);
	if (want & PERF_SAMPLE_ID)
		ret->id = sample_word(layout, bytes, TALLY_FIXED_ID);
	if (want & PERF_SAMPLE_STREAM_ID)
		ret->stream_id = sample_word(layout, bytes, TALLY_FIXED_STREAM_ID);
}

/* Reads a call chain, and raw bytes after it or without it, if no other field of varying size is
 * before them (layout->direct). `at` is then the offset after them. */
static inline bool sample_read_chain(const uint8_t *bytes, size_t size, size_t *at,
				     struct tally_sample *ret)
{
	uint64_t count;

	if (size - *at < 8)
		return false;
	count = load_u64(bytes + *at);
	if (count > (size - *at) / 8 - 1)
		return false;
	ret->callchain_nr = count;
	ret->callchain = (const void *)(bytes + *at + 8);
	*at += 8 + (size_t)count * 8;
	return true;
}

static inline bool sample_read_raw(const uint8_t *bytes, size_t size, size_t *at,
				   struct tally_sample *ret)
{
	uint64_t end;

	if (size - *at < 4)
		return false;
	ret->raw_size = load_u32(bytes + *at);
	ret->raw = bytes + *at + 4;
	end = align_up(*at + 4 + (uint64_t)ret->raw_size, 8);
	if (end > size)
		return false;
	*at = (size_t)end;
	return true;
}

/* Reads the fields of varying size, up to the last one that is in `present`; later members are 0.
 * Needs sample_holds(). 0, or -EBADMSG: *ret_at, which may be NULL, is the start of the incomplete
 * field, or 0 if the fields have no shape that the attr allows. */
int tally_sample_read_rest(const struct tally_layout *layout, const struct tally_record *record,
			   uint64_t present, struct tally_sample *ret, size_t *ret_at);

/* Reads the fields of `want`; false if the record is too short for them. */
static inline bool sample_read(const struct tally_layout *layout, const struct tally_record *record,
			       uint64_t want, struct tally_sample *ret)
{
	uint64_t present = want & layout->sample_type;
	size_t at = layout->variable_at;

	if (!sample_holds(layout, record))
		return false;
	ret->present = present;
	sample_read_fixed(layout, record->bytes, want, ret);
	if (!(present & ~SAMPLE_FIXED))
		return true;
	if (present & ~layout->direct)
		return !tally_sample_read_rest(layout, record, present, ret, NULL);
	if ((layout->sample_type & PERF_SAMPLE_CALLCHAIN) &&
	    !sample_read_chain(record->bytes, record->size, &at, ret))
		return false;
	return !(present & PERF_SAMPLE_RAW) ||
	       sample_read_raw(record->bytes, record->size, &at, ret);
}

/* The part of sample_fills() for samples with fields that are not read directly. */
bool tally_sample_fills(const struct tally_layout *layout, const struct tally_record *record);

/* Whether the fields end exactly at the record's end, in one of the shapes that samples of its
 * event can have, and do not contradict each other. */
static inline bool sample_fills(const struct tally_layout *layout,
				const struct tally_record *record)
{
	uint64_t varied = layout->sample_type & ~SAMPLE_FIXED;
	size_t at = layout->variable_at;
	struct tally_sample sample;

	if (!varied)
		return record->size == at;
	if (!sample_holds(layout, record))
		return false;
	if (varied & ~layout->direct)
		return tally_sample_fills(layout, record);
	if ((varied & PERF_SAMPLE_CALLCHAIN) &&
	    !sample_read_chain(record->bytes, record->size, &at, &sample))
		return false;
	if ((varied & PERF_SAMPLE_RAW) &&
	    !sample_read_raw(record->bytes, record->size, &at, &sample))
		return false;
	return at == record->size;
}

#endif
