/* Tracing data made of formats. */
#ifndef MADE_TRACING_H
#define MADE_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"

struct made_format {
	const char *system, *text;
};

/* `printk` may be NULL. */
void made_tracing(struct tally_buf *to, const struct made_format *formats, size_t count,
		  const char *printk, bool big_endian);

#endif
