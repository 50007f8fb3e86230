/* Bytes to a zlib stream. */
#ifndef TALLY_PAGE_PAGE_DEFLATE_H
#define TALLY_PAGE_PAGE_DEFLATE_H

#include <stdbool.h>
#include "base/buf.h"

/* Appends the stream of all bytes; `to->failed` says whether memory was enough. */
void tally_page_deflate(const struct tally_buf *bytes, bool plain, struct tally_buf *to);

#endif
