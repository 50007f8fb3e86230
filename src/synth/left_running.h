/* Processes that a recorded command started and that still run when it has ended. */
#ifndef TALLY_SYNTH_LEFT_RUNNING_H
#define TALLY_SYNTH_LEFT_RUNNING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All zero: notes nothing. */
struct tally_left_running {
	uint64_t *begun; /* a bit for each pid: has begun and not ended */
};

/* 0 or -ENOMEM. */
int tally_left_running_init(struct tally_left_running *left_running);
void tally_left_running_done(struct tally_left_running *left_running);

/* Notes a whole FORK or EXIT record, with its header. Records of several CPUs come in any order, so
 * each inverts the bit: it is unchanged after a begin and an end. */
void tally_left_running_note(struct tally_left_running *left_running, const uint8_t *record,
			     size_t size);

/* Those that run now, ascending; the caller frees them, NULL for none. `root` is the folder that
 * holds proc. 0 or -ENOMEM. */
int tally_left_running_find(const struct tally_left_running *left_running, const char *root,
			    pid_t **ret, size_t *ret_count);

#endif
