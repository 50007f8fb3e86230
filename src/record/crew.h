/* Several threads that empty rings at once: see crew.c. */
#ifndef TALLY_RECORD_CREW_H
#define TALLY_RECORD_CREW_H

#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "collect/openset.h"
#include "record/ring_walk.h"
#include "write/writer.h"

#define TALLY_CREW_MOST 8 /* threads, the caller's included */

struct tally_crew;

/* Makes the threads, which then wait; `threads` from 2 to TALLY_CREW_MOST counts the caller's.
 * They have the caller's priority and take no signals.  0, -EAGAIN or -ENOMEM. */
int tally_crew_new(unsigned threads, const struct tally_openset *set, struct tally_writer *writer,
		   struct tally_crew **ret);
/* Ends the threads; NULL is taken. */
void tally_crew_free(struct tally_crew *crew);

struct tally_crew_pass {
	uint64_t bytes;   /* that went to the file */
	size_t fullest;   /* the fullest ring when the pass began, in 1/256 */
	unsigned threads; /* that it was shared out to, the caller's included */
};
/* Takes what all rings hold now into the file.  The caller's thread walks the side-band, with
 * `walk`, which gets the counts of all.  0 or -errno with words; *ret is filled in both cases. */
int tally_crew_pass(struct tally_crew *crew, struct tally_walk *walk, struct tally_crew_pass *ret,
		    struct tally_error *error);

#endif
