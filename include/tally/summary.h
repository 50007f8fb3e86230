/* What a recording contains: its header and counts of its records, as text and as JSON. */
#ifndef TALLY_SUMMARY_H
#define TALLY_SUMMARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/data.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The counts of one walk over the records of a recording. */
struct tally_summary;

struct tally_summary_options {
	size_t size; /* sizeof of this struct */
	/* Called now and then with bytes done and in all; a result that is not 0 cancels:
	 * -ECANCELED. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

/* Walks over all records from the start (see tally_data_rewind()); nothing else may read records of
 * `data` meanwhile.  0, -ENOMEM, -ECANCELED, or an error of reading. */
int tally_summary_new(struct tally_data *data, const struct tally_summary_options *options,
		      struct tally_summary **ret, struct tally_error *error);
void tally_summary_free(struct tally_summary *summary);

/* Write all that is known of the recording, for people and as JSON (see tally-info(1)).  `summary`
 * NULL: only what the header says.  0, -ENOMEM, or -errno of writing. */
int tally_info_text(const struct tally_data *data, const struct tally_summary *summary, FILE *out);
int tally_info_json(const struct tally_data *data, const struct tally_summary *summary, FILE *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
