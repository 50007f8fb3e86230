/* The side-band of a flight recorder (overwritten rings), in memory until samples are written:
 * their processes ran within the last moments, so what is older need not be kept. It is in two
 * parts; when the newer one is full, the older one goes, and a description of what runs then begins
 * the next. */
#ifndef TALLY_RECORD_SIDE_KEPT_H
#define TALLY_RECORD_SIDE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/record.h>
#include "base/buf.h"
#include "write/writer.h"

struct tally_openset;

struct tally_side_kept { /* all zero is empty and valid */
	struct tally_buf older, newer;
	size_t described; /* bytes of the newer part: its description */
	size_t most;      /* bytes of a part beside its description */
};

/* So many bytes that the rings have no older samples: minutes of a machine that only starts
 * processes. */
size_t tally_side_kept_most(const struct tally_openset *set);

void tally_side_kept_done(struct tally_side_kept *kept);
/* Whether the next part should begin. */
bool tally_side_kept_is_full(const struct tally_side_kept *kept);
/* The latest time of its records, laid out that way; 0: it has none. */
uint64_t tally_side_kept_latest(const struct tally_side_kept *kept,
				const struct tally_layout *layout);
/* Begins the next part with records that describe what runs, which it takes over. */
void tally_side_kept_turn(struct tally_side_kept *kept, struct tally_buf *running);
/* Appends all of it, and is empty then. The bytes, or -errno with words. */
int64_t tally_side_kept_write(struct tally_side_kept *kept, struct tally_writer *writer,
			      struct tally_error *error);

#endif
