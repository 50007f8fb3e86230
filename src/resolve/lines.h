/* Source lines and inlined functions of located addresses.
 *
 * Locate the address first (locate.h); answers are kept with the image, so that the second time is
 * one table look-up. */
#ifndef TALLY_RESOLVE_LINES_H
#define TALLY_RESOLVE_LINES_H

#include <stdbool.h>
#include "base/buf.h"
#include "image/inlines.h"
#include "resolve/locate.h"

/* The line of a located address. 0; -ENOENT: it is unknown, and ret->address is what to print for
 * it; -ENOMEM. */
int tally_resolver_line(struct tally_resolver *resolver, const struct tally_located *located,
			struct tally_line *ret);

/* Appends what perf prints as srcline: "qsort.c:81" (the base name, or the whole path), "libc.so.6[
 * 27249]" when nothing knows the address; and nothing when perf prints nothing (no mapping, or a
 * function whose line is not known).  0 or -ENOMEM. */
int tally_resolver_srcline(struct tally_resolver *resolver, const struct tally_located *located,
			   bool whole_path, struct tally_buf *to);

/* The functions at an address of an unwound stack (not of a recorded call chain: perf asks for
 * those of PERF_SAMPLE_STACK_USER alone), innermost first.  *ret_count 0: one plain frame, to be
 * shown as any other.  Else perf shows each of them in place of the frame, all with its ip, and
 * with the offset from the start of its symbol; those with `inlined` set have " (inlined)" where
 * others have the image.  With srcline each has that of its own: tally_inline_srcline().  Borrowed
 * for as long as the session.  0 or -ENOMEM. */
int tally_resolver_inlines(struct tally_resolver *resolver, const struct tally_located *located,
			   const struct tally_inline **ret, size_t *ret_count);

/* Appends "file:line" as perf does for one of these. */
void tally_inline_srcline(const struct tally_inline *one, bool whole_path, struct tally_buf *to);

#endif
