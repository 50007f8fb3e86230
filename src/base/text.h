/* Text into buffers; what is public of it is in <tally/text.h>. */
#ifndef TALLY_BASE_TEXT_H
#define TALLY_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <tally/text.h>
#include "base/buf.h"

/* Adds text with control bytes, DEL and invalid UTF-8 as \xNN, so that no terminal acts on it. */
void tally_text_escape(struct tally_buf *to, const char *text, size_t length);

#endif
