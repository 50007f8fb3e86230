/* Repair: a recording is written again as one regular file that every perf reads. */
#ifndef TALLY_REPAIR_H
#define TALLY_REPAIR_H

#include <tally/data.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_repair_options {
	size_t size; /* sizeof of this struct */
	/* Attrs are cut to the 128 bytes that perf 5.13 to 6.2 read, even if fields behind these
	 * are set. */
	bool compat;
	/* Keep records of types that perf 6.1 does not know, though it stops reading there. */
	bool keep_unknown;
	/* Build-ids that the new file names besides those that it has; borrowed during the call. */
	const struct tally_data_build_id *build_ids;
	size_t build_id_count;
	/* Called now and then with bytes done and in all; a result that is not 0 cancels:
	 * -ECANCELED.  May be NULL. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	/* Whole records of native byte order, which come behind those of the recording; and places,
	 * in ascending order, of records that are left out (tally_record.offset). Where one of both
	 * is given, no marks are kept of how far records are in order of time: readers sort all.
	 * Borrowed during the call. */
	const void *records;
	size_t records_size;
	const uint64_t *left_out;
	size_t left_out_count;
};

struct tally_repair_result {
	size_t size;               /* sizeof of this struct, set by the caller */
	uint64_t records, samples; /* that the new file has */
	uint64_t bytes;            /* of the new file */
	/* Records that were left out: of types that perf 6.1 does not know; and those that are
	 * invalid (see tally_data_damage.refused) or stop perf 6.1. */
	uint64_t unknown, untrusted;
	uint32_t first_unknown_type;
	uint64_t first_untrusted_at; /* as tally_record.offset */
	unsigned features;           /* sections that were kept or made again */
	unsigned features_lost;
	unsigned first_feature_lost; /* its number */
	uint32_t attr_size;          /* of the new file */
	bool attrs_cut;              /* fields of attrs were lost to `compat` */
	/* There are tracepoints without their formats: perf does not read such a file. */
	bool formats_missing;
};

/* Writes all of `data` that can be trusted to a new file (an old one of that name becomes NAME.old;
 * "-" is a stream to standard output): header, ids and attrs of the least size, records, features.
 * Compressed records and those of a stream or directory become plain ones of native byte order.
 * All records are read, from the first one; tally_data_damage() then says what could not be read.
 * -EEXIST when `path` is the recording itself.  After a failure there is no new file. */
int tally_data_repair(struct tally_data *data, const char *path,
		      const struct tally_repair_options *options, struct tally_repair_result *ret,
		      struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
