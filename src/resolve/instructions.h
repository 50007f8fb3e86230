/* The machine code at a sample's addresses. */
#ifndef TALLY_RESOLVE_INSTRUCTIONS_H
#define TALLY_RESOLVE_INSTRUCTIONS_H

#include "code/insn_length.h"
#include "resolve/locate.h"

/* Copies the code from a location on, at most `size` bytes.  Returns their number; 0: the code
 * cannot be read (of the kernel, of a missing binary, of memory). *ret_64_bit: whether it is 64-bit
 * code. */
size_t tally_resolver_code(const struct tally_location *location, void *to, size_t size,
			   bool *ret_64_bit);

/* The length of the x86 instruction at the start of the bytes; 0: it is invalid, or tally was built
 * without a disassembler. */
size_t tally_resolver_insn_length(struct tally_resolver *resolver, bool is_64_bit,
				  const uint8_t *bytes, size_t size);

#endif
