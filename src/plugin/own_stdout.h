/* What filters print.  They share libc's stdout with us, and their text stands before the line of
 * the sample at hand, which other threads write later.  So while one runs, stdout is a stream of
 * ours that keeps what it is given, however the filter buffers it or flushes. */
#ifndef TALLY_PLUGIN_OWN_STDOUT_H
#define TALLY_PLUGIN_OWN_STDOUT_H

#include <stdio.h>
#include <stdio_ext.h>
#include "base/buf.h"

struct own_stdout {
	FILE *ours, *before;
	struct tally_buf text; /* who takes it clears it */
};

/* At a place of its own until done.  0 or -ENOMEM. */
int tally_own_stdout_init(struct own_stdout *own);
void tally_own_stdout_done(struct own_stdout *own);
/* The text goes to the program's stdout, behind what that holds. */
void tally_own_stdout_print(struct own_stdout *own);

static inline void own_stdout_begin(struct own_stdout *own)
{
	own->before = stdout;
	stdout = own->ours;
}

static inline void own_stdout_end(struct own_stdout *own)
{
	/* A filter that put its own stream there keeps it. */
	if (stdout == own->ours)
		stdout = own->before;
	if (__builtin_expect(__fpending(own->ours) != 0, 0))
		fflush(own->ours);
}

#endif
