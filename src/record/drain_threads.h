/* Threads that drain the sample rings of some CPUs each to files of their own, for as long as a
 * recording runs.  The side-band stays with the caller's thread. */
#ifndef TALLY_RECORD_DRAIN_THREADS_H
#define TALLY_RECORD_DRAIN_THREADS_H

#include <stddef.h>
#include <stdint.h>
#include "collect/notice.h"
#include "collect/openset.h"
#include "record/ring_walk.h"
#include "record/thread_spec.h"

struct tally_drain_threads;

struct tally_drain_threads_options {
	const struct tally_openset *set;
	const struct tally_thread_spec *spec; /* borrowed until the start */
	const char *folder;                   /* of the recording; exists */
	int compress_level;
	int wake_fd; /* an eventfd, written to when a thread fails */
	const struct tally_notice *notice;
};

/* Makes the files, data.0 for the first CPU and so on, and starts the threads.  0 or -errno with
 * words. */
int tally_drain_threads_start(const struct tally_drain_threads_options *options,
			      struct tally_drain_threads **ret, struct tally_error *error);
/* 0, or the failure of a thread. */
int tally_drain_threads_check(struct tally_drain_threads *threads, struct tally_error *error);
/* After the events were disabled: each thread reads its rings once more and ends.  Adds up what
 * they counted, and closes the files.  0 or the first failure. */
int tally_drain_threads_finish(struct tally_drain_threads *threads,
			       struct tally_walk_counts *counts, struct tally_error *error);
/* After the end: bytes of the files; before and after compression. */
struct tally_drain_threads_bytes {
	uint64_t files, pack_in, pack_out;
};
struct tally_drain_threads_bytes
tally_drain_threads_bytes(const struct tally_drain_threads *threads);
/* Ends threads that still run.  NULL is fine. */
void tally_drain_threads_free(struct tally_drain_threads *threads);

#endif
