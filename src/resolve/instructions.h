/* Machine code as a sample's addresses lead to it. */
#ifndef TALLY_RESOLVE_INSTRUCTIONS_H
#define TALLY_RESOLVE_INSTRUCTIONS_H

#include "image/insn_length.h"
#include "resolve/locate.h"

/* Copies the code at a location and behind it, at most `size` bytes.  Their count; 0: there is none
 * to read (the kernel's, of a binary that is not here, memory).  *ret_64_bit: of which width it is.
 */
size_t tally_resolver_code(const struct tally_location *location, void *to, size_t size,
			   bool *ret_64_bit);

/* Of the x86 instruction that the bytes begin with; 0: they are none, or this is built without what
 * knows. */
size_t tally_resolver_insn_length(struct tally_resolver *resolver, bool is_64_bit,
				  const uint8_t *bytes, size_t size);

#endif
