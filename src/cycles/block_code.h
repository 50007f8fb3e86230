/* Where the instructions of a function begin. */
#ifndef TALLY_CYCLES_BLOCK_CODE_H
#define TALLY_CYCLES_BLOCK_CODE_H

#include <stdint.h>

struct tally_session;

struct block_code {     /* all zero is empty; one is used for function after function */
	uint8_t *marks; /* by byte of the function: BLOCK_CODE_* */
	uint32_t size, room;
	uint32_t count; /* instructions */
};

/* Reads the function of that frame, which begins at that place of its image.  0; -ENOENT: its code
 * cannot be read or decoded, or is too long; -ENOMEM. */
int tally_block_code_read(struct block_code *code, struct tally_session *session, uint32_t frame,
			  uint64_t place, uint32_t size);
/* Counts the instructions that begin in [start, end], all of them and those that were not covered
 * so far, which are now. */
uint32_t tally_block_code_cover(struct block_code *code, uint32_t start, uint32_t end,
				uint32_t *ret_all);
void tally_block_code_done(struct block_code *code);

#endif
