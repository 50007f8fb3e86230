/* Whether hardware breakpoints work.  Some hypervisors let a guest set its debug registers and
 * never deliver what they find: events open there and count nothing. */
#ifndef TALLY_KERNEL_BREAKPOINTS_H
#define TALLY_KERNEL_BREAKPOINTS_H

enum tally_breakpoints {
	TALLY_BREAKPOINTS_UNKNOWN, /* cannot be tried: no rights, or no register is free */
	TALLY_BREAKPOINTS_FIRE,
	TALLY_BREAKPOINTS_SILENT,
};

/* Watches a variable of its own, once.  For any thread. */
enum tally_breakpoints tally_breakpoints(void);

#endif
