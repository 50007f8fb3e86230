/* Several threads that drain rings at once: see drain_workers.c. */
#ifndef TALLY_RECORD_DRAIN_WORKERS_H
#define TALLY_RECORD_DRAIN_WORKERS_H

#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "collect/openset.h"
#include "record/ring_walk.h"
#include "write/writer.h"

#define TALLY_DRAIN_WORKERS_MOST 8 /* threads, with the caller's */

struct tally_drain_workers;

/* Makes the threads, which then wait; `threads` from 2 to TALLY_DRAIN_WORKERS_MOST includes the
 * caller's. They have the caller's priority and block all signals. 0, -EAGAIN or -ENOMEM. */
int tally_drain_workers_new(unsigned threads, const struct tally_openset *set,
			    struct tally_writer *writer, struct tally_drain_workers **ret);
/* Ends the threads. NULL does nothing. */
void tally_drain_workers_free(struct tally_drain_workers *workers);

struct tally_drain_workers_pass {
	uint64_t bytes;   /* written to the file */
	size_t fullest;   /* the fullest ring when the pass began, in 1/256 */
	unsigned threads; /* that took part, with the caller's */
};
/* Writes what all rings hold now to the file. The caller's thread walks the side-band with `walk`,
 * which gets the counts of all threads. 0 or -errno with words; *ret is set in both cases. */
int tally_drain_workers_pass(struct tally_drain_workers *workers, struct tally_walk *walk,
			     struct tally_drain_workers_pass *ret, struct tally_error *error);

#endif
