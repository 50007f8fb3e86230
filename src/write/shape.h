/* What stands in a feature's payload, as far as that is one of the simple kinds. */
#ifndef TALLY_WRITE_SHAPE_H
#define TALLY_WRITE_SHAPE_H

#include "base/buf.h"
#include "file/cursor.h"

/* A word a kind of value: 4 and 8 are numbers of so many bytes, s is a string (u32 length, bytes),
 * [...] is a u32 count and so many times what stands between, (...) the same with a u64 count, w is
 * a u64 number of bits and the words that hold them, ? ends the payload when nothing is left, c
 * and d are two u32, or one, for each available CPU.  NULL: this library cannot say. */
const char *tally_file_shape(unsigned feature);

/* Whether a payload has this shape; its values in native order are added to `to`, unless that is
 * NULL.  Bytes behind the last value are left out. */
bool tally_file_shape_walk(const char *shape, struct file_cursor payload, uint32_t cpus,
			   struct tally_buf *to);

#endif
