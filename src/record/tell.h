/* What a person who asked for more is told: how it was opened, what was found, what came of it. */
#ifndef TALLY_RECORD_TELL_H
#define TALLY_RECORD_TELL_H

#include "base/buf.h"
#include "record/drain.h"
#include "collect/notice.h"
#include "collect/openset.h"

/* Limits and rights, each event's attr as it was opened, and the rings. */
void tally_tell_opened(const struct tally_notice *notice, const struct tally_limits *limits,
		       const struct tally_openset *set);
/* What was found running, by the records made of it. */
void tally_tell_described(const struct tally_notice *notice, const struct tally_buf *records);
/* How the drain went, and what it took. */
void tally_tell_drained(const struct tally_notice *notice, const struct tally_drain *drain);

#endif
