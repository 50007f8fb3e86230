/* A profile with its labels as the message that a server takes.
 *
 * Source: push/v1/push.proto and types/v1/types.proto of github.com/grafana/pyroscope, whose
 * numbers of fields are named in series.c. */
#ifndef TALLY_PUSH_SERIES_H
#define TALLY_PUSH_SERIES_H

#include <stdbool.h>
#include <tally/push.h>
#include "base/buf.h"

/* Adds a PushRequest of one series, but for the `size` bytes of the profile, which are its end.
 * Such messages one behind another are a PushRequest with all their series.  0; -EINVAL with words:
 * a label; -ENOMEM, -errno. */
int tally_push_series_head(struct tally_buf *to, const struct tally_push_label *labels,
			   size_t count, uint64_t size, struct tally_error *error);
/* Whether the first `have` bytes of a file of `size` bytes begin such a message, and it has its
 * length.  16 bytes are enough. */
bool tally_push_series_is_whole(const uint8_t *bytes, size_t have, uint64_t size);

#endif
