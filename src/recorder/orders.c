#include "recorder/orders.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int tally_orders_init(struct tally_orders *orders)
{
	*orders = (struct tally_orders){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (orders->fd < 0)
		return -errno;
	pthread_mutex_init(&orders->lock, NULL);
	pthread_cond_init(&orders->changed, NULL);
	return 0;
}

void tally_orders_done(struct tally_orders *orders)
{
	if (orders->fd < 0)
		return;
	close(orders->fd);
	orders->fd = -1;
	pthread_mutex_destroy(&orders->lock);
	pthread_cond_destroy(&orders->changed);
}

void tally_orders_ask(struct tally_orders *orders, unsigned order)
{
	const unsigned both = TALLY_ORDER_ENABLE | TALLY_ORDER_DISABLE;
	unsigned now = atomic_load(&orders->asked), next;
	uint64_t one = 1;
	int before = errno;

	do
		next = (order & both ? now & ~both : now) | order;
	while (!atomic_compare_exchange_weak(&orders->asked, &now, next));
	atomic_fetch_add(&orders->count, 1);
	/* It fails only when the counter is full, and then the reader is awake anyway. */
	if (write(orders->fd, &one, sizeof(one)) < 0)
		errno = before;
}

int tally_orders_wait(struct tally_orders *orders)
{
	unsigned long long until = atomic_load(&orders->count);
	int result;

	pthread_mutex_lock(&orders->lock);
	while (orders->finished < until && !orders->ended)
		pthread_cond_wait(&orders->changed, &orders->lock);
	result = orders->finished < until ? -ECANCELED : 0;
	pthread_mutex_unlock(&orders->lock);
	return result;
}

unsigned tally_orders_take(struct tally_orders *orders)
{
	uint64_t times;

	if (read(orders->fd, &times, sizeof(times)) < 0)
		times = 0; /* somebody else was faster: there is nothing to wait for */
	orders->taken = atomic_load(&orders->count);
	return atomic_exchange(&orders->asked, 0);
}

void tally_orders_finish(struct tally_orders *orders)
{
	pthread_mutex_lock(&orders->lock);
	orders->finished = orders->taken;
	pthread_cond_broadcast(&orders->changed);
	pthread_mutex_unlock(&orders->lock);
}

void tally_orders_end(struct tally_orders *orders)
{
	pthread_mutex_lock(&orders->lock);
	orders->ended = true;
	pthread_cond_broadcast(&orders->changed);
	pthread_mutex_unlock(&orders->lock);
}
