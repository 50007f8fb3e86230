/* A finished text to a stream. */
#ifndef TALLY_BASE_PUT_H
#define TALLY_BASE_PUT_H

#include <stdio.h>
#include "base/buf.h"

/* Writes the text, frees it; 0, -ENOMEM, or what writing failed with. */
int tally_buf_put(struct tally_buf *text, FILE *out);
/* The same with all that a terminal may act on but ends of lines and tabs as \xNN. */
int tally_buf_put_escaped(struct tally_buf *text, FILE *out);

#endif
