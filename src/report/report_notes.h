/* Header lines of a report about missing names and call chains, and what to do. */
#ifndef TALLY_REPORT_REPORT_NOTES_H
#define TALLY_REPORT_REPORT_NOTES_H

#include <stddef.h>
#include <tally/profile.h>
#include "base/buf.h"

/* Adds lines "# ..." for one event, each only if it concerns a large part of the samples. 0 or
 * -ENOMEM. */
int tally_report_notes(const struct tally_profile *profile, size_t event, struct tally_buf *to);

#endif
