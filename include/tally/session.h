/* A session: a recording's records together with its processes and binaries.  It finds the thread,
 * the binary and the function of each sample.
 *
 * Opening it reads all records once: it learns from the side-band records which processes ran when,
 * and counts the samples.  After that samples do not depend on each other, and several threads read
 * them in blocks. */
#ifndef TALLY_SESSION_H
#define TALLY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/batch.h>
#include <tally/data.h>
#include <tally/error.h>
#include <tally/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_session;

struct tally_session_options {
	size_t size;       /* sizeof of this struct */
	const char *symfs; /* prefix of every binary's path; NULL: none */
	const char *kallsyms;
	const char *vmlinux;
	bool no_demangle;
	unsigned threads; /* 0: as many as processors */
	/* Called now and then with the bytes done and the bytes in all.  A result that is not 0
	 * cancels: -ECANCELED. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	/* The columns that sinks will ask for (TALLY_COLUMN_*, tally/batch.h); 0: not known.  With
	 * TALLY_COLUMN_COUNT, opening counts equal samples together, which makes a run for these
	 * columns faster.  Runs for other columns work too. */
	uint64_t columns;
	/* Records are taken in the order of the file, not of their times. */
	bool file_order;
	/* Unwound chains get no frames of inlined functions. */
	bool no_inlines;
	/* True: an address without a symbol counts for the function around it, if the binary says
	 * where that starts; and versions of a function that was compiled several times at run time
	 * (Java, JavaScript) are one function.  False: each address and each version is a frame of
	 * its own, as in perf. */
	bool functions;
	const char *build_id_dir; /* the build-id cache; NULL: $HOME/.debug */
	/* Further places of binaries and debug files, read while the session is made: folders laid
	 * out as /usr/lib/debug or as the build-id cache, and archives (tar, plain or compressed
	 * with zstd or bzip2) of such folders, as `perf archive` writes them. */
	const char *const *debug_dirs;
	size_t debug_dir_count;
	/* Recorded chains of user space get frames of inlined functions, too. */
	bool inlines;
	/* Each address is a frame of its own: what would be one frame without this is one for each
	 * place in the image.  struct tally_frame does not show the place. */
	bool places;
	/* Call chains begin with the branches of the sample's branch stack, the newest first: where
	 * each led, then where it came from.  Each end is a frame of its own.  Turns of a loop are
	 * one.  As `perf report --branch-history`. */
	bool branch_history;
	/* Call chains of branch stacks (--call-graph lbr) go on with the calls that an earlier
	 * sample of the thread had beyond the oldest branch that both have.  Samples are then read
	 * in the order of time by one thread.  As `perf report --stitch-lbr`; without effect where
	 * the recording does not say how many branches its processor keeps, or in which registers.
	 */
	bool stitch_lbr;
	/* Names are those that the recording has itself (struct tally_data_file), where it has some
	 * of a binary. */
	bool recorded_symbols;
};

struct tally_session_counts {
	uint64_t records, samples;
	/* Records or samples that the kernel could not store: the sum of the LOST records or that
	 * of the LOST_SAMPLES records, whichever is larger.  Both report the same losses. */
	uint64_t lost;
	uint64_t throttled;    /* THROTTLE records */
	uint64_t by_type[128]; /* records by type; types from 127 up are counted together */
	uint64_t first_time, last_time; /* ns, of samples; both 0 without PERF_SAMPLE_TIME */
	/* `unusable`: invalid records (see tally_data_damage.refused), which are counted nowhere
	 * else. `undecoded`: samples that the last run could not read, because the file was changed
	 * meanwhile. */
	uint64_t unusable, undecoded;
	/* Of a live source: records, mostly samples, that were dropped because they were not taken
	 * in time. */
	uint64_t dropped;
};

/* Reads all records once: processes, maps, counts.  The session borrows `data` until it is freed.
 * 0; -ECANCELED: `progress` cancelled; -E2BIG: an option is unknown; -ENOMEM; or an error of
 * reading. */
int tally_session_new(struct tally_data *data, const struct tally_session_options *options,
		      struct tally_session **ret, struct tally_error *error);
void tally_session_free(struct tally_session *session);
struct tally_data *tally_session_data(const struct tally_session *session);
/* Borrowed until the session is freed. */
const struct tally_session_counts *tally_session_counts(const struct tally_session *session);
/* Samples of one event. */
uint64_t tally_session_event_samples(const struct tally_session *session, size_t event);

/* Gives the build-ids of the binaries that the recording maps without a build-id, read from this
 * machine's files; binaries that do not exist are left out.  All records are read, from the first
 * one.  The array is the caller's; release with tally_data_build_ids_free(). */
int tally_data_mapped_build_ids(struct tally_data *data, struct tally_data_build_id **ret,
				size_t *ret_count, struct tally_error *error);
void tally_data_build_ids_free(struct tally_data_build_id *ids, size_t count);

/* What readers of a recording need that know no dumps of code made at run time (jit-PID.dump). */
struct tally_jit_files {
	size_t size;         /* sizeof of this struct, set by the caller */
	size_t dumps, files; /* that were read, and written */
	/* MMAP2 records that map the files, and the places of records that would hide them: for
	 * struct tally_repair_options. */
	void *records;
	size_t records_size;
	uint64_t *left_out;
	size_t left_out_count;
};
/* Writes each function of the dumps that the recording's processes mapped to an ELF file of its
 * own, jitted-PID-NUMBER.so, in `folder`; NULL: in the folder of the dump.  Files of these names
 * are replaced.  *ret is for tally_jit_files_free(). */
int tally_session_jit_files(const struct tally_session *session, const char *folder,
			    struct tally_jit_files *ret, struct tally_error *error);
void tally_jit_files_free(struct tally_jit_files *files);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
