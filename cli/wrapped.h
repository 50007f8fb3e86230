/* Text that is broken between words, as a terminal is wide. */
#ifndef TALLY_CLI_WRAPPED_H
#define TALLY_CLI_WRAPPED_H

#include <stddef.h>
#include <stdio.h>

/* Writes the text and a line feed; lines have at most `width` columns, but for longer words. 0: one
 * line. */
void cli_put_wrapped(const char *text, size_t length, unsigned width, FILE *to);

#endif
