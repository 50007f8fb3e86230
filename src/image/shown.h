/* Symbols as they are given out: made when first asked for, because of a table's hundred thousand a
 * report asks for a few hundred. */
#ifndef TALLY_IMAGE_SHOWN_H
#define TALLY_IMAGE_SHOWN_H

#include <stdatomic.h>
#include <stddef.h>
#include "image/image.h"

/* Few symbols to a piece, as those that are asked for are far apart. */
enum { TALLY_SHOWN_PIECE = 16 };

struct tally_shown_piece {
	_Atomic(const struct tally_symbol *) symbols[TALLY_SHOWN_PIECE];
};

/* Room for symbols; of a table that grew, with the smaller ones that threads may still read. */
struct tally_shown_room {
	size_t count;
	struct tally_shown_room *before;
	_Atomic(struct tally_shown_piece *) pieces[];
};

struct tally_shown { /* all zero is valid, for a table without symbols */
	_Atomic(struct tally_shown_room *) room;
};

/* Room for a table of `count` symbols, as many as before or more; what was made stays. While a
 * thread does this none may show symbols, but others may ask for those that were. 0 or -ENOMEM. */
int tally_shown_grow(struct tally_shown *shown, size_t count);
/* Makes a symbol now, under the image's lock: its table will be replaced. 0 or -ENOMEM. */
int tally_shown_keep(struct tally_image *image, size_t index);
void tally_shown_done(struct tally_shown *shown);

#endif
