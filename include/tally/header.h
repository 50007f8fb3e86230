/* The header of a recording as text, as perf prints it.
 *
 * Functions return 0, -ENOMEM, or the error of writing (-EPIPE, -ENOSPC, ...). */
#ifndef TALLY_HEADER_H
#define TALLY_HEADER_H

#include <stdio.h>
#include <tally/data.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum tally_header_flags {
	TALLY_HEADER_FULL = 1, /* topology, caches and memory too: perf's -I */
	TALLY_HEADER_RAW = 2,  /* text of the recording is not escaped */
};

/* The lines that `perf script --header-only` prints, "# ========" around them.  Of a stream perf
 * prints there only that it is one; what its records say about the machine is
 * tally_header_stream_text(). */
int tally_header_text(const struct tally_data *data, unsigned flags, FILE *out);

/* Of a stream, the lines that `perf script --header` prints when the records with them come, after
 * the header and before all samples; of a file, nothing. */
int tally_header_stream_text(const struct tally_data *data, unsigned flags, FILE *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
