/* The shape of a feature's payload, if it is a simple one. */
#ifndef TALLY_WRITE_SHAPE_H
#define TALLY_WRITE_SHAPE_H

#include "base/buf.h"
#include "file/cursor.h"

/* A string with a character for each value: 4 and 8 are numbers of so many bytes, s is a string
 * (u32 length, bytes), [...] is a u32 count and so many times the part in the brackets, (...) the
 * same with a u64 count, w is a u64 number of bits and the words with these bits, ? ends the
 * payload if nothing is left, c and d are two u32, or one, for each available CPU.  NULL:
 * unknown. */
const char *tally_file_shape(unsigned feature);

/* Whether a payload has this shape; its values in native order are added to `to`, unless that is
 * NULL.  Bytes after the last value are left out. */
bool tally_file_shape_walk(const char *shape, struct file_cursor payload, uint32_t cpus,
			   struct tally_buf *to);

#endif
