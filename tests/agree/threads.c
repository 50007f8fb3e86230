/* N threads (argument 1) that each name themselves and compute a little; or for argument 2 seconds,
 * from when all are there, which "ready" on stdout says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static double seconds;
static pthread_barrier_t all_there;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *work(void *number)
{
	volatile unsigned long sum = 0;
	double end;
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", (long)number);
	prctl(PR_SET_NAME, name);
	if (seconds > 0)
		pthread_barrier_wait(&all_there);
	end = now() + seconds;
	do {
		for (unsigned long i = 0; i < 1500000; i++)
			sum += i * i;
	} while (now() < end);
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));

	seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
	pthread_barrier_init(&all_there, NULL, (unsigned)count + 1);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	if (seconds > 0) {
		pthread_barrier_wait(&all_there);
		puts("ready");
		fflush(stdout);
	}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
