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

struct tally_shown { /* all zero is valid, for a table without symbols */
	_Atomic(struct tally_shown_piece *) *pieces;
};

/* Room for a table of `count` symbols.  0 or -ENOMEM. */
int tally_shown_init(struct tally_shown *shown, size_t count);
/* Room for more, of a table of `before`; what was made stays. */
int tally_shown_grow(struct tally_shown *shown, size_t before, size_t count);
void tally_shown_done(struct tally_shown *shown);

#endif
