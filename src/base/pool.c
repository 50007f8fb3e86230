#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct pool {
	tally_pool_fn run;
	void *context;
	size_t pieces;
	atomic_size_t next;
	atomic_int failure;
};

struct worker {
	struct pool *pool;
	unsigned number;
	pthread_t thread;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct pool *pool = worker->pool;

	while (!atomic_load_explicit(&pool->failure, memory_order_relaxed)) {
		size_t piece = atomic_fetch_add(&pool->next, 1);
		int result, none = 0;

		if (piece >= pool->pieces)
			break;
		result = pool->run(pool->context, worker->number, piece);
		if (result < 0)
			atomic_compare_exchange_strong(&pool->failure, &none, result);
	}
	return NULL;
}

/* Of a thread.  By default it is what a program's first thread may have, `ulimit -s`, which may be
 * less than demangling a long name takes.  Pages that are not touched take no memory. */
#define STACK_SIZE ((size_t)8 << 20)

/* An errno. */
static int start_thread(pthread_t *thread, void *(*run)(void *context), void *context)
{
	pthread_attr_t attr;
	int result = pthread_attr_init(&attr);

	if (result)
		return result;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	result = pthread_create(thread, &attr, run, context);
	pthread_attr_destroy(&attr);
	return result;
}

int tally_pool_run(unsigned workers, size_t pieces, tally_pool_fn run, void *context)
{
	struct pool pool = {.run = run, .context = context, .pieces = pieces};
	struct worker self = {.pool = &pool}, *others;
	unsigned started = 0;

	if (workers > pieces)
		workers = (unsigned)pieces;
	if (workers <= 1) {
		work(&self);
		return atomic_load(&pool.failure);
	}
	others = calloc(workers - 1, sizeof(*others));
	/* Fewer threads than asked for still do all the work. */
	while (others && started < workers - 1) {
		others[started] = (struct worker){.pool = &pool, .number = started + 1};
		if (start_thread(&others[started].thread, work, &others[started]))
			break;
		started++;
	}
	work(&self);
	for (unsigned i = 0; i < started; i++)
		pthread_join(others[i].thread, NULL);
	free(others);
	return atomic_load(&pool.failure);
}

struct turns {
	tally_pool_fn run, take;
	void *context;
	pthread_mutex_t lock; /* of what is below */
	pthread_cond_t taken;
	size_t turn; /* the piece that is taken next */
	int failed;
};

static int run_and_take(void *context, unsigned worker, size_t piece)
{
	struct turns *turns = context;
	int result = turns->run(turns->context, worker, piece);

	pthread_mutex_lock(&turns->lock);
	while (result >= 0 && !turns->failed && turns->turn < piece)
		pthread_cond_wait(&turns->taken, &turns->lock);
	if (result >= 0)
		result = turns->failed ? turns->failed : turns->take(turns->context, worker, piece);
	if (result < 0)
		turns->failed = result;
	turns->turn++;
	pthread_cond_broadcast(&turns->taken);
	pthread_mutex_unlock(&turns->lock);
	return result;
}

int tally_pool_run_in_turn(unsigned workers, size_t pieces, tally_pool_fn run, tally_pool_fn take,
			   void *context)
{
	struct turns turns = {.run = run, .take = take, .context = context};
	int result;

	pthread_mutex_init(&turns.lock, NULL);
	pthread_cond_init(&turns.taken, NULL);
	result = tally_pool_run(workers, pieces, run_and_take, &turns);
	pthread_cond_destroy(&turns.taken);
	pthread_mutex_destroy(&turns.lock);
	return result;
}

unsigned tally_pool_width(void)
{
	cpu_set_t set;
	int count;

	/* The set holds 1,024 processors; on larger machines the call fails. */
	count = sched_getaffinity(0, sizeof(set), &set) ? (int)sysconf(_SC_NPROCESSORS_ONLN)
							: CPU_COUNT(&set);
	return count > 0 ? (unsigned)count : 1;
}

int tally_thread_start_quiet(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = -start_thread(thread, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}
