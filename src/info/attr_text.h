/* An attr's members as text, in perf's order and spelling: what `perf evlist -v` and
 * `perf script --header` print. */
#ifndef TALLY_INFO_ATTR_TEXT_H
#define TALLY_INFO_ATTR_TEXT_H

#include <tally/attr.h>
#include "base/buf.h"

/* Called for each member that is not 0. */
typedef void (*tally_attr_visit)(void *context, const char *name, const char *value);

void tally_attr_each(const struct tally_attr *attr, tally_attr_visit visit, void *context);

/* PERF_SAMPLE_* bits in words, "IP|TID|TIME"; bits that perf has no word for are left out. */
void tally_sample_type_text(struct tally_buf *to, uint64_t sample_type);

#endif
