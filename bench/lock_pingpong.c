/* Two threads that wait for each other by a lock and a condition, 100,000 times: what recording
 * blocked threads costs. */
#include <pthread.h>

#define TURNS 100000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *play(void *context)
{
	int own = context != NULL;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < TURNS; i++) {
		while (turn != own)
			pthread_cond_wait(&turned, &lock);
		turn = !own;
		pthread_cond_signal(&turned);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, play, &other))
		return 1;
	play(NULL);
	return pthread_join(other, NULL);
}
