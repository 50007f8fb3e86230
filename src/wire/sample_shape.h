/* The shape of a sample with a branch stack.
 *
 * A recorder may have asked for the index of the newest branch or for counters, and keep it so in
 * the attr, where the kernel or the processor gave none.  The fields must fill the record, so
 * another shape is tried where the attr's does not fit. */
#ifndef TALLY_WIRE_SAMPLE_SHAPE_H
#define TALLY_WIRE_SAMPLE_SHAPE_H

#include <tally/record.h>

/* Whether an event's samples may have another shape than its attr says. */
bool tally_sample_shape_varies(const struct tally_layout *layout);

/* The layout that this sample has: `layout`, or one that is made in `room`.  NULL: none of the
 * shapes fits.  `swapped`: the record has the other byte order. */
const struct tally_layout *tally_sample_shape(const struct tally_layout *layout,
					      const struct tally_record *record, bool swapped,
					      struct tally_layout *room);

/* Reads the first `count` fields behind those at fixed places, as layout->fields has them; needs
 * sample_holds().  0, or -EBADMSG.  *ret_at is behind them, or where the field begins that the
 * record ends within. */
int tally_sample_read_fields(const struct tally_layout *layout, const struct tally_record *record,
			     size_t count, struct tally_sample *ret, size_t *ret_at);

#endif
