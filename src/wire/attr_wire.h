/* An attr as files have it: of any size, of either byte order. */
#ifndef TALLY_WIRE_ATTR_WIRE_H
#define TALLY_WIRE_ATTR_WIRE_H

#include <stdbool.h>
#include <tally/attr.h>

/* Reads `size` bytes (64 and more; attr->size becomes size).  What is missing is zero; what is
 * beyond the known struct is left out, and *ret_beyond (NULL: not asked) says whether any of it was
 * set. */
void tally_attr_decode(const void *bytes, size_t size, struct tally_attr *ret, bool *ret_beyond);

/* Writes `size` bytes of it, zeros behind what is known; the size field says `size`. */
void tally_attr_encode(const struct tally_attr *attr, void *bytes, size_t size);

/* Swaps `size` bytes of an attr between byte orders, in place; `to_native` says
 * which way they go. */
void tally_attr_swap(void *bytes, size_t size, bool to_native);

#endif
