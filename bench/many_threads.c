/* 500 threads that compute, sleep a little, and compute again: what a recorder of many threads
 * sees. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define THREADS 500
#define ROUNDS  20

static void *work(void *context)
{
	volatile unsigned long *sum = context;
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned long i = 0; i < 200000; i++)
			*sum += i * i;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(void)
{
	static unsigned long sums[THREADS];
	static pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &sums[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
