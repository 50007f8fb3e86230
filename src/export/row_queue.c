#include "export/row_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/pool.h"

/* Small enough for a processor's second cache, and enough of them to even out who is faster. */
#define BLOCKS     4U
#define BLOCK_SIZE ((size_t)128 << 10)

struct row_queue {
	int (*apply)(void *context, const uint8_t *bytes, size_t size);
	void *context;
	struct tally_buf blocks[BLOCKS];
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t moved;
	uint64_t given, taken; /* blocks; the next one is filled */
	bool ends;
	int failed;
};

static void *take_blocks(void *context)
{
	struct row_queue *queue = context;

	pthread_mutex_lock(&queue->lock);
	while (!queue->ends) {
		const struct tally_buf *block = &queue->blocks[queue->taken % BLOCKS];
		int result = queue->failed;

		if (queue->taken == queue->given) {
			pthread_cond_wait(&queue->moved, &queue->lock);
			continue;
		}
		pthread_mutex_unlock(&queue->lock);
		if (!result)
			result = queue->apply(queue->context, block->data, block->size);
		pthread_mutex_lock(&queue->lock);
		queue->failed = result;
		queue->taken++;
		pthread_cond_broadcast(&queue->moved);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

int tally_row_queue_new(int (*apply)(void *context, const uint8_t *bytes, size_t size),
			void *context, struct row_queue **ret)
{
	struct row_queue *queue = calloc(1, sizeof(*queue));
	int result;

	if (!queue)
		return -ENOMEM;
	queue->apply = apply;
	queue->context = context;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->moved, NULL);
	result = tally_thread_start_quiet(&queue->thread, take_blocks, queue);
	if (!result) {
		*ret = queue;
		return 0;
	}
	pthread_cond_destroy(&queue->moved);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
	return result;
}

void tally_row_queue_free(struct row_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	queue->ends = true;
	pthread_cond_broadcast(&queue->moved);
	pthread_mutex_unlock(&queue->lock);
	pthread_join(queue->thread, NULL);
	for (unsigned i = 0; i < BLOCKS; i++)
		tally_buf_done(&queue->blocks[i]);
	pthread_cond_destroy(&queue->moved);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

struct tally_buf *tally_row_queue_block(struct row_queue *queue)
{
	return &queue->blocks[queue->given % BLOCKS];
}

/* Gives the block away, and waits until no more than `most` are left. */
static int give(struct row_queue *queue, unsigned most)
{
	int result = tally_row_queue_block(queue)->failed;

	if (result)
		return result;
	pthread_mutex_lock(&queue->lock);
	queue->given++;
	pthread_cond_broadcast(&queue->moved);
	while (queue->given - queue->taken > most)
		pthread_cond_wait(&queue->moved, &queue->lock);
	result = queue->failed;
	pthread_mutex_unlock(&queue->lock);
	tally_buf_clear(tally_row_queue_block(queue));
	return result;
}

int tally_row_queue_added(struct row_queue *queue)
{
	return tally_row_queue_block(queue)->size < BLOCK_SIZE ? 0 : give(queue, BLOCKS - 1);
}

int tally_row_queue_drain(struct row_queue *queue)
{
	return give(queue, 0);
}
