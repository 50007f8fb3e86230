/* What `record --verbose` prints: how events were opened, what already ran, and how the rings were
 * read. */
#ifndef TALLY_RECORDER_VERBOSE_H
#define TALLY_RECORDER_VERBOSE_H

#include "base/buf.h"
#include "record/drain.h"
#include "collect/notice.h"
#include "collect/openset.h"

/* Limits and capabilities, each event's attr as it was opened, and the rings. */
void tally_verbose_opened(const struct tally_notice *notice, const struct tally_limits *limits,
			  const struct tally_openset *set);
/* How many processes the records describe. */
void tally_verbose_described(const struct tally_notice *notice, const struct tally_buf *records);
/* How the drain went, and how many records it took. */
void tally_verbose_drained(const struct tally_notice *notice, const struct tally_drain *drain);

#endif
