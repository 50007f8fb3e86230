/* Processes that began and ended between two passes, and have no sample: nobody asks what they had
 * mapped. Of scripts and builds these are most. */
#ifndef TALLY_STACKS_SHORT_LIVED_H
#define TALLY_STACKS_SHORT_LIVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/map.h"

struct tally_short_lived { /* all zero is empty and valid */
	struct tally_map pids;
};

/* At the end, and before those of the next pass. */
void tally_short_lived_done(struct tally_short_lived *pids);
/* A process has a sample. 0 or -ENOMEM. */
int tally_short_lived_sampled(struct tally_short_lived *pids, uint32_t pid);
/* A record of a process, in the order of time, as the kernel wrote it. `early`: all samples that
 * were taken before it are known. 0 or -ENOMEM. */
int tally_short_lived_record(struct tally_short_lived *pids, const uint8_t *record, bool early);
/* The same records in the other direction, when all are known: what a process began with is needed,
 * too, if the process is. */
void tally_short_lived_fork(struct tally_short_lived *pids, const uint8_t *record);
/* After that: whether a record is of a process that nobody asks for. */
bool tally_short_lived_skips(const struct tally_short_lived *pids, const uint8_t *record);

#endif
