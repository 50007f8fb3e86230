/* How soon the recorder gets a CPU. */
#ifndef TALLY_RECORDER_PRIORITY_H
#define TALLY_RECORDER_PRIORITY_H

#include <stdbool.h>

/* The recorder must get a CPU before the programs that it records: else, among 500 busy threads, it
 * opens them seconds late, and rings that fill at 100 MB/s overflow.  Returns the priority to
 * restore; without CAP_SYS_NICE nothing changes. */
int tally_priority_raise(void);
/* Copies of stacks fill rings so fast that their reader must run at once, among however many busy
 * threads.  Threads and processes that it starts are usual ones.  Without the right nothing
 * changes.
 */
void tally_priority_first(bool first);
/* The caller's thread has a priority of SCHED_FIFO, 1 to 99, until tally_priority_first(false); its
 * children do not. 0 or -errno. */
int tally_priority_realtime(unsigned priority);

#endif
