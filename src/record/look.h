/* Looks at what the side-band's rings hold between two passes, and takes nothing out of them: what
 * processes have mapped is to be opened while they run, and many containers do so for less time
 * than a pass waits. */
#ifndef TALLY_RECORD_LOOK_H
#define TALLY_RECORD_LOOK_H

#include "record/drain.h"

/* How long a mapping waits to be looked at, ms, at most. */
#define TALLY_LOOK_MS 10

struct tally_look {        /* all zero: nothing was seen yet */
	size_t *seen;      /* bytes that each ring held at the last look */
	uint64_t at_least; /* passes that there were before it */
};

void tally_look_done(struct tally_look *look);
/* Between two passes. */
void tally_look(struct tally_look *look, struct tally_drain *drain);

#endif
