/* The events of a recording, listed as text and as JSON.
 *
 * Functions return 0, -ENOMEM, or the error of writing (-EPIPE, -ENOSPC, ...). */
#ifndef TALLY_EVLIST_H
#define TALLY_EVLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <tally/data.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_evlist_options {
	size_t size;       /* sizeof of this struct */
	bool verbose;      /* every member of the attr that is not 0 */
	bool freq;         /* the sampling rate */
	bool group;        /* groups in braces; not with the two before */
	bool trace_fields; /* the fields of tracepoints */
	bool raw_text;     /* text of the recording is not escaped */
};

/* The events, a line each, as `perf evlist` prints them. */
int tally_evlist_text(const struct tally_data *data, const struct tally_evlist_options *options,
		      FILE *out);
/* The events as JSON; see tally-evlist(1). */
int tally_evlist_json(const struct tally_data *data, FILE *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
