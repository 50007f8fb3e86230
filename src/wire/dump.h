/* Records and attrs as text, one NAME=VALUE a line, for people and for comparing.
 *
 * Made from the same rows as decoding, so a new row needs nothing here.  Text from the recording is
 * escaped, so that no terminal acts on it. */
#ifndef TALLY_WIRE_DUMP_H
#define TALLY_WIRE_DUMP_H

#include <tally/record.h>
#include "base/buf.h"

/* Adds all fields of a decoded record: first TYPE and misc, then the body, then the trailer with
 * "sample_id." before its names.  0 or -ENOMEM. */
int tally_body_dump(const struct tally_layout *layout, const struct tally_body *body,
		    struct tally_buf *to);

/* Adds the members of an attr that are not 0 (type and size always); bits by name. */
int tally_attr_dump(const struct tally_attr *attr, struct tally_buf *to);

#endif
