/* What a recording's header knows, as text and as JSON. */
#ifndef TALLY_HEADER_H
#define TALLY_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/data.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Functions here return 0, -ENOMEM, or what writing failed with (-EPIPE, -ENOSPC, ...). */

enum tally_header_flags {
	TALLY_HEADER_FULL = 1,     /* topology, caches and memory too: perf's -I */
	TALLY_HEADER_HARMLESS = 2, /* for a terminal: bytes that it may act on as \xNN */
};

/* The lines that `perf script --header-only` prints, "# ========" around them.  Of a stream perf
 * says there only that it is one; what its records tell of the machine is
 * tally_header_stream_text(). */
int tally_header_text(const struct tally_data *data, unsigned flags, FILE *out);

/* Of a stream, the lines that `perf script --header` prints when the records with them come, which
 * is behind the header's and before all samples; of a file, nothing. */
int tally_header_stream_text(const struct tally_data *data, unsigned flags, FILE *out);

struct tally_evlist_options {
	size_t size;       /* sizeof of this struct */
	bool verbose;      /* every member of the attr that is not 0 */
	bool freq;         /* the sampling rate */
	bool group;        /* groups in braces; not with the two before */
	bool trace_fields; /* the fields of tracepoints */
	bool harmless;     /* for a terminal: bytes that it may act on as \xNN */
};

/* The events, a line each, as `perf evlist` prints them. */
int tally_evlist_text(const struct tally_data *data, const struct tally_evlist_options *options,
		      FILE *out);
/* The events as JSON; see tally-evlist(1). */
int tally_evlist_json(const struct tally_data *data, FILE *out);

/* What a walk over a recording's records counts. */
struct tally_summary;

struct tally_summary_options {
	size_t size; /* sizeof of this struct */
	/* Called now and then with bytes done and in all; not 0 ends the walk with -EINTR. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/* Walks over all records from the start (see tally_data_rewind()); `data` is not to be walked by
 * others meanwhile.  0, -ENOMEM, -EINTR, or what reading failed with. */
int tally_summary_new(struct tally_data *data, const struct tally_summary_options *options,
		      struct tally_summary **ret, struct tally_error *error);
void tally_summary_free(struct tally_summary *summary);

/* All that is known of the recording, for people and as JSON (see tally-info(1)).  `summary` NULL:
 * only what the header says. */
int tally_info_text(const struct tally_data *data, const struct tally_summary *summary, FILE *out);
int tally_info_json(const struct tally_data *data, const struct tally_summary *summary, FILE *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
