/* Writes a finished text to a stream. */
#ifndef TALLY_BASE_PUT_H
#define TALLY_BASE_PUT_H

#include <stdio.h>
#include "base/buf.h"

/* Writes the text and frees it; 0, -ENOMEM, or -errno of writing. */
int tally_buf_put(struct tally_buf *text, FILE *out);
/* The same, but bytes that a terminal acts on become \xNN; line ends and tabs stay. */
int tally_buf_put_escaped(struct tally_buf *text, FILE *out);

#endif
