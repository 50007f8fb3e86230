/* Merging: recordings of several runs or hosts become one file, which perf reads, too.
 *
 * Events that are the same in several recordings become one.  Which recording a sample is of stays
 * known: struct tally_data_recording (tally/info.h) says how. */
#ifndef TALLY_MERGE_H
#define TALLY_MERGE_H

#include <tally/data.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum tally_merge_times {
	/* Each recording begins where the one before ends, whatever its clock. */
	TALLY_MERGE_IN_TURN,
	/* Times stay: of recordings of one host, or of hosts with one clock. */
	TALLY_MERGE_SAME_CLOCK,
};

struct tally_merge_options {
	size_t size; /* sizeof of this struct */
	enum tally_merge_times times;
	/* A name for each file, or NULL: their paths.  A merged file keeps the names that its
	 * recordings have.  A name that two of them have gets a number. */
	const char *const *names;
	/* What the new file says of its making; NULL: nothing. */
	const char *const *cmdline;
	size_t cmdline_count;
	/* Called now and then with bytes done and in all; a result that is not 0 cancels:
	 * -ECANCELED.  May be NULL. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
};

struct tally_merge_result {
	size_t size;               /* sizeof of this struct, set by the caller */
	size_t recordings, events; /* that the new file has */
	uint64_t records, samples;
	uint64_t bytes; /* of the new file */
	/* Records that were left out: invalid ones, those of unknown types, those with numbers of
	 * processes that Linux does not give, and those that would have more than 65,528 bytes. */
	uint64_t left_out;
	/* Recordings whose kernel is not that of the first one, so that perf, which knows one
	 * kernel, has no names, or wrong ones, for their samples in the kernel. */
	size_t other_kernels;
	/* Tracepoints whose format differs from that of an event of the same name. */
	size_t other_formats;
};

/* Writes all records of the recordings, of which there may be 512 in all, to a new file (an old one
 * of that name becomes NAME.old).  Memory does not grow with the number of records.  All are read
 * twice; tally_data_damage() then says what could not be read.  -EINVAL: there are fewer than two
 * files, or one cannot be merged; -EEXIST: `path` is one of them; after a failure there is no new
 * file. */
int tally_data_merge(struct tally_data *const *data, size_t count, const char *path,
		     const struct tally_merge_options *options, struct tally_merge_result *ret,
		     struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
