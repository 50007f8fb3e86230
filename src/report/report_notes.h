/* What a report says above its rows of names and chains that are missing, and what to do. */
#ifndef TALLY_REPORT_REPORT_NOTES_H
#define TALLY_REPORT_REPORT_NOTES_H

#include <stddef.h>
#include <tally/profile.h>
#include "base/buf.h"

/* Lines "# ..." of one event, each only when it is about a part of the samples that matters.
 * 0 or -ENOMEM. */
int tally_report_notes(const struct tally_profile *profile, size_t event, struct tally_buf *to);

#endif
