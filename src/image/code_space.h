/* An image's code as a disassembler needs it: the machine, and the addresses that its own file has
 * for places. */
#ifndef TALLY_IMAGE_CODE_SPACE_H
#define TALLY_IMAGE_CODE_SPACE_H

#include "code/disassembler.h"
#include "image/code_map.h"

struct tally_code_space {
	struct tally_image *image;
	struct tally_code_machine machine;
	struct tally_code_map map; /* empty: places are addresses */
};

/* For tally_code_space_close().  The machine is this one's where the image has no file.  0 or
 * -ENOMEM. */
int tally_code_space_open(struct tally_image *image, struct tally_code_space *ret);
void tally_code_space_close(struct tally_code_space *space);

/* The address that objdump shows for a place; of a dump, where the code was loaded. */
uint64_t tally_code_space_address(const struct tally_code_space *space, uint64_t place);
/* The place of such an address, which is the place itself where none is known. */
uint64_t tally_code_space_place(const struct tally_code_space *space, uint64_t address);

#endif
