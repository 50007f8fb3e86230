/* Processes that a recorded command started and that run on when it has ended. */
#ifndef TALLY_RECORD_SURVIVORS_H
#define TALLY_RECORD_SURVIVORS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All zero is one that notes nothing. */
struct tally_survivors {
	uint64_t *begun; /* a bit for each number of a process: began, and did not end */
};

/* 0 or -ENOMEM. */
int tally_survivors_init(struct tally_survivors *survivors);
void tally_survivors_done(struct tally_survivors *survivors);

/* A FORK or EXIT record, whole, from its header on.  Records of several CPUs may come in any
 * order, so each turns the bit over: a process that began and ended has it as it was. */
void tally_survivors_note(struct tally_survivors *survivors, const uint8_t *record, size_t size);

/* Those that run now, ascending; the caller's to free(), NULL for none.  `root` is the folder that
 * holds proc.  0 or -ENOMEM. */
int tally_survivors_find(const struct tally_survivors *survivors, const char *root, pid_t **ret,
			 size_t *ret_count);

#endif
