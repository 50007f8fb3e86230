/* The shape of a sample with a branch stack.
 *
 * The attr may ask for the index of the newest branch or for counters although the kernel or the
 * processor gave none.  The fields must fill the record, so if the attr's shape does not fit,
 * others are tried. */
#ifndef TALLY_WIRE_SAMPLE_SHAPE_H
#define TALLY_WIRE_SAMPLE_SHAPE_H

#include <tally/record.h>

/* Whether an event's samples may have another shape than its attr says. */
bool tally_sample_shape_varies(const struct tally_layout *layout);

/* The layout of this sample: `layout`, or another one, made in `room`. NULL: no shape fits.
 * `swapped`: the record has the other byte order. */
const struct tally_layout *tally_sample_shape(const struct tally_layout *layout,
					      const struct tally_record *record, bool swapped,
					      struct tally_layout *room);

/* Reads the first `count` fields of layout->fields, which follow those at fixed offsets; needs
 * sample_holds(). 0, or -EBADMSG. *ret_at is the offset after them, or the start of the incomplete
 * field. */
int tally_sample_read_fields(const struct tally_layout *layout, const struct tally_record *record,
			     size_t count, struct tally_sample *ret, size_t *ret_at);

#endif
