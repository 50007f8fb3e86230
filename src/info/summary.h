/* The counts of one pass over a recording's records. */
#ifndef TALLY_INFO_SUMMARY_H
#define TALLY_INFO_SUMMARY_H

#include <tally/summary.h>

#define SUMMARY_TYPES 256 /* record types below this have a row of their own */
#define SUMMARY_MORE  64  /* and this many of those above; the rest shares the last row */

struct summary_type {
	uint32_t type;
	uint64_t count, bytes; /* with the bytes that follow the record */
};

struct summary_event {
	uint64_t samples, period; /* period: the sum, if samples have one */
	uint64_t lost;            /* from LOST_SAMPLES and LOST records with the event's id */
};

struct tally_summary {
	struct summary_type types[SUMMARY_TYPES], more[SUMMARY_MORE];
	struct summary_event *events; /* as many as the recording has */
	uint64_t records, bytes, samples;
	uint64_t lost, lost_samples, throttled, unthrottled;
	uint64_t aux_records, aux_bytes, aux_truncated; /* AUX records: what the hardware wrote */
	uint64_t auxtrace_bytes;                        /* AUXTRACE: what reached the file */
	uint64_t first, last;                           /* ns; of samples */
	bool timed;                                     /* first and last are valid */
};

#endif
