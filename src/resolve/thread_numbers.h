/* Threads by number: a pid and tid with the name and the address space that it had for some time.
 */
#ifndef TALLY_RESOLVE_THREAD_NUMBERS_H
#define TALLY_RESOLVE_THREAD_NUMBERS_H

#include <pthread.h>
#include <stdint.h>
#include "base/chunks.h"

struct thread_row {
	uint32_t pid, tid;
	uint32_t comm;  /* number of a string */
	uint32_t space; /* its id */
};

/* Rows never move: threads read while one adds. */
struct tally_thread_numbers {
	pthread_mutex_t lock;
	struct tally_chunks rows; /* struct thread_row */
	uint32_t *slots;          /* number + 1; 0: free */
	uint32_t room;            /* of slots, a power of two */
};

void tally_thread_numbers_init(struct tally_thread_numbers *threads);
void tally_thread_numbers_done(struct tally_thread_numbers *threads);
/* The row's number, added when it is new; UINT32_MAX: out of memory. */
uint32_t tally_thread_number(struct tally_thread_numbers *threads, const struct thread_row *row);
/* NULL: there is no such number. */
const struct thread_row *tally_thread_row(const struct tally_thread_numbers *threads,
					  uint32_t number);

#endif
