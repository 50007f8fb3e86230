/* Looks at what the side-band's rings hold between two passes, and takes nothing out of them: what
 * processes have mapped is to be opened while they run, and many containers do so for less time
 * than a pass waits. */
#ifndef TALLY_RECORD_LOOK_H
#define TALLY_RECORD_LOOK_H

#include "record/drain.h"

struct tally_plan;

/* How long a mapping waits to be looked at, ms, at most. A process that lives for less time than
 * between two samples is rarely in one, so this grows as the frequency falls. */
int tally_look_interval(const struct tally_plan *plan);
/* Where the kernel wakes us for records of the side-band, what is less than it wakes for waits so
 * long while nothing comes. */
#define TALLY_LOOK_MOST_MS 100

enum tally_looked {
	TALLY_LOOKED_NOTHING, /* nothing came since the last look */
	TALLY_LOOKED_SOME,
	TALLY_LOOKED_FULL, /* a ring is half full: a pass is due */
};
/* Between two passes. The next one knows what was seen. */
enum tally_looked tally_look(struct tally_drain *drain);

#endif
