/* Collects what filters print.  They share libc's stdout with us, and their text must come before
 * the line of the current sample, which other threads write later.  So while a filter runs, stdout
 * is a stream of ours that keeps all text, whether or not the filter flushes it. */
#ifndef TALLY_PLUGIN_OWN_STDOUT_H
#define TALLY_PLUGIN_OWN_STDOUT_H

#include <stdio.h>
#include <stdio_ext.h>
#include "base/buf.h"

struct own_stdout {
	FILE *ours, *before;
	struct tally_buf text; /* who takes it clears it */
};

/* Must not be moved until it is done.  0 or -ENOMEM. */
int tally_own_stdout_init(struct own_stdout *own);
void tally_own_stdout_done(struct own_stdout *own);
/* Writes the text to the program's stdout, after earlier output. */
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
