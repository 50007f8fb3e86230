/* How long a machine instruction is. */
#ifndef TALLY_CODE_INSN_LENGTH_H
#define TALLY_CODE_INSN_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest of x86. */
#define INSN_MOST 15

struct insn_decoder; /* one for each width, made when it is needed */

/* NULL: built without, or out of memory. */
struct insn_decoder *tally_insn_decoder_new(bool is_64_bit);
void tally_insn_decoder_free(struct insn_decoder *decoder);
/* Of the x86 instruction that the bytes begin with; 0: they are none. */
size_t tally_insn_length(struct insn_decoder *decoder, const uint8_t *bytes, size_t size);

#endif
