/* Text into buffers, and from them to a stream; the public functions are in <tally/text.h>. */
#ifndef TALLY_BASE_TEXT_H
#define TALLY_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/text.h>
#include "base/buf.h"

/* The length of the UTF-8 character at `at`; 0: it is invalid (incomplete, too long, a surrogate,
 * over U+10FFFF) or a C1 control.  `left` is at least 1.  Source: RFC 3629. */
size_t tally_text_utf8(const uint8_t *at, size_t left);

/* Adds text with control bytes, DEL and invalid UTF-8 as \xNN, so that no terminal acts on it. */
void tally_text_add_escaped(struct tally_buf *to, const char *text, size_t length);

/* Writes the text and frees it; 0, -ENOMEM, or -errno of writing. */
int tally_buf_put(struct tally_buf *text, FILE *out);
/* The same, but bytes that a terminal acts on become \xNN; line ends and tabs stay. */
int tally_buf_put_escaped(struct tally_buf *text, FILE *out);

#endif
