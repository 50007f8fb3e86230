/* A session: a recording's records joined with its processes and binaries, so that each sample is
 * shown with the place where it ran.
 *
 * Opening makes one pass: side-band records build the processes over time, samples are counted.
 * After that samples are independent of each other and are visited in blocks by several threads. */
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
	/* Called now and then with bytes done and of how many; not 0 interrupts with -ECANCELED. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	/* The columns that sinks will ask for (TALLY_COLUMN_*, tally/batch.h); 0: not known.  With
	 * TALLY_COLUMN_COUNT equal samples are counted together while opening; runs for other
	 * columns are right too, but no faster. */
	uint64_t columns;
	/* Records count in the order of the file, whatever their times say. */
	bool file_order;
	/* Chains that are unwound have no frames of functions that were inlined. */
	bool no_inlines;
	/* A place without a symbol is the function around it, as far as the binary says where that
	 * starts; and what was compiled several times while a program ran (versions of a function
	 * of Java or JavaScript) is one function.  Else each is apart, as in perf. */
	bool functions;
	const char *build_id_dir; /* the build-id cache; NULL: $HOME/.debug */
};

struct tally_session_counts {
	uint64_t records, samples;
	/* Records or samples the kernel could not store: the larger of what LOST records say and of
	 * what LOST_SAMPLES say, which tell the same losses in two ways. */
	uint64_t lost;
	uint64_t throttled;             /* THROTTLE records */
	uint64_t by_type[128];          /* records by type, those from 127 up together */
	uint64_t first_time, last_time; /* ns, of samples; both 0 without PERF_SAMPLE_TIME */
	/* Invalid records (see tally_data_damage.refused), which are counted nowhere else; and
	 * samples that the last run could not read, as the file was changed meanwhile. */
	uint64_t unusable, undecoded;
	/* Of a live source: records, nearly always samples, that were dropped because nobody took
	 * them in time. */
	uint64_t dropped;
};

/* Walks over all records once: processes, maps, counts.  The session borrows `data` until it is
 * freed. 0; -ECANCELED: `progress` said so; -E2BIG: an option is not known; -ENOMEM; or what
 * reading gave. */
int tally_session_new(struct tally_data *data, const struct tally_session_options *options,
		      struct tally_session **ret, struct tally_error *error);
void tally_session_free(struct tally_session *session);
struct tally_data *tally_session_data(const struct tally_session *session);
/* Borrowed until the session is freed. */
const struct tally_session_counts *tally_session_counts(const struct tally_session *session);
/* Samples of one event. */
uint64_t tally_session_event_samples(const struct tally_session *session, size_t event);

/* Build-ids of the binaries that the recording maps without one, read from this machine's files;
 * what is not there is left out.  Records are read from their beginning.  The array is the
 * caller's, for tally_data_build_ids_free(). */
int tally_data_mapped_build_ids(struct tally_data *data, struct tally_data_build_id **ret,
				size_t *ret_count, struct tally_error *error);
void tally_data_build_ids_free(struct tally_data_build_id *ids, size_t count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
