/* Whether hardware breakpoints work.  Some hypervisors let a guest set its debug registers and
 * never deliver what they find: events open there and count nothing. */
#ifndef TALLY_KERNEL_BREAKPOINTS_H
#define TALLY_KERNEL_BREAKPOINTS_H

#include <stdbool.h>

/* Watches a variable of its own once; true also where that cannot be tried (no rights, no register
 * free).  For any thread. */
bool tally_breakpoints_fire(void);

#endif
