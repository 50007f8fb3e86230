/* Looks at what the side-band's rings hold between two passes, and takes nothing out of them: what
 * processes have mapped is to be opened while they run, and many containers do so for less time
 * than a pass waits. */
#ifndef TALLY_RECORD_LOOK_H
#define TALLY_RECORD_LOOK_H

#include "record/drain.h"

struct tally_plan;

/* How long a mapping waits to be looked at, ms, at most. A process that lives for less time than
 * between two samples is rarely in one, so this grows as the frequency falls: what waits is woken
 * for little else in a recording of days. */
int tally_look_interval(const struct tally_plan *plan);
/* Between two passes. The next one knows what was seen. */
void tally_look(struct tally_drain *drain);

#endif
