/* How many of the recorded threads ran at a time: from records of context switches.
 *
 * perf's --latency (Linux 6.15) counts them while it reads the records in the order of time; here
 * one walk makes a list of the times at which the number changed, which all threads look up. */
#ifndef TALLY_KEY_KEY_PARALLEL_H
#define TALLY_KEY_KEY_PARALLEL_H

#include <stdint.h>
#include <tally/error.h>

struct key_parallel;
struct tally_session;

/* -ENOENT, with words: the recording has no records of context switches, or none with times and
 * CPUs; -ENOMEM; or an error of reading. */
int tally_key_parallel_new(struct tally_session *session, struct key_parallel **ret,
			   struct tally_error *error);
void tally_key_parallel_free(struct key_parallel *parallel); /* NULL is fine */
/* How many threads ran at that time; at least 1. */
uint64_t tally_key_parallel_at(const struct key_parallel *parallel, uint64_t time);

#endif
