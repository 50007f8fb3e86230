/* What others ask of a recorder that runs: by a signal's handler, or from another thread that waits
 * until it is done. */
#ifndef TALLY_RECORDER_ORDERS_H
#define TALLY_RECORDER_ORDERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum tally_order {
	TALLY_ORDER_SWITCH = 1 << 0,   /* the next file */
	TALLY_ORDER_SNAPSHOT = 1 << 1, /* what overwritten rings hold */
	TALLY_ORDER_ENABLE = 1 << 2,
	TALLY_ORDER_DISABLE = 1 << 3,
};

struct tally_orders {
	int fd; /* an eventfd, readable while something is asked */
	atomic_uint asked;
	atomic_ullong count; /* of askings */
	unsigned long long taken;
	pthread_mutex_t lock; /* of the rest */
	pthread_cond_t changed;
	unsigned long long finished;
	bool ended;
};

int tally_orders_init(struct tally_orders *orders); /* 0 or -errno */
void tally_orders_done(struct tally_orders *orders);

/* Async-signal-safe. Enable and disable: the last one counts. */
void tally_orders_ask(struct tally_orders *orders, unsigned order);
/* Waits until all that was asked before is done. 0; -ECANCELED: the recording ended before. */
int tally_orders_wait(struct tally_orders *orders);

/* The recorder's side: what is asked now, which it then does and finishes. */
unsigned tally_orders_take(struct tally_orders *orders);
void tally_orders_finish(struct tally_orders *orders);
void tally_orders_end(struct tally_orders *orders); /* nothing more is done */

#endif
