/* A few threads that divide numbered pieces of work among them. */
#ifndef TALLY_BASE_POOL_H
#define TALLY_BASE_POOL_H

#include <pthread.h>
#include <stddef.h>

/* Called with worker 0..workers-1 and each piece 0..pieces-1 once; a result below 0 stops the
 * rest. */
typedef int (*tally_pool_fn)(void *context, unsigned worker, size_t piece);

/* Runs all pieces on `workers` threads (the caller's is worker 0) and waits.  Pieces are taken in
 * ascending order.  Returns 0, or the first failure, or -errno when no thread could be made. */
int tally_pool_run(unsigned workers, size_t pieces, tally_pool_fn run, void *context);

/* The same, and the worker that ran a piece calls `take` with it when all pieces before were taken:
 * in ascending order, one at a time. */
int tally_pool_run_in_turn(unsigned workers, size_t pieces, tally_pool_fn run, tally_pool_fn take,
			   void *context);

/* Processors this process may use, at least 1. */
unsigned tally_pool_width(void);

/* Starts a thread of the library's own that takes no signals: they are the program's.  0 or -errno.
 */
int tally_thread_start_quiet(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
