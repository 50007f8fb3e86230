/* An attr as files have it: of any size, of either byte order. */
#ifndef TALLY_WIRE_ATTR_WIRE_H
#define TALLY_WIRE_ATTR_WIRE_H

#include <stdbool.h>
#include <tally/attr.h>

/* Reads `size` bytes (64 and more; attr->size becomes size).  Missing members are zero.  Bytes
 * beyond the known struct are ignored; *ret_beyond, which may be NULL, is set to whether any of
 * them was not 0. */
void tally_attr_decode(const void *bytes, size_t size, struct tally_attr *ret, bool *ret_beyond);

/* Writes `size` bytes of it, with zeros after the known members; its size field is `size`. */
void tally_attr_encode(const struct tally_attr *attr, void *bytes, size_t size);

/* Swaps `size` bytes of an attr between byte orders, in place; `to_native` is the direction. */
void tally_attr_swap(void *bytes, size_t size, bool to_native);

#endif
