/* Wraps header lines of a report that are longer than the terminal is wide. */
#ifndef TALLY_BASE_WRAP_H
#define TALLY_BASE_WRAP_H

#include <stddef.h>
#include "base/buf.h"

/* Breaks lines of the text from byte `from` on at blanks, so that each fits `width` columns; the
 * following lines begin with "#   ".  A word that is too long stays whole.  Width 0: nothing. */
void tally_report_wrap(struct tally_buf *text, size_t from, size_t width);

#endif
