#include "stacks/block_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#define SPARE_MOST 2 /* one is filled while another is unwound */
/* Of an empty block; one that was nearly empty so many times in a row keeps no more. */
#define SPARE_BYTES (1U << 20)
#define SPARE_TIMES 8
/* Most stacks are not deeper: a smaller copy cuts more of them than it saves. */
#define COPY_LEAST 16384

void tally_block_queue_init(struct tally_block_queue *queue, size_t bytes_most, uint64_t file_most)
{
	*queue = (struct tally_block_queue){
	    .bytes_most = bytes_most, .file_most = file_most, .file = -1};
	queue->last = &queue->first;
	queue->later_last = &queue->later;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->more, NULL);
}

static void free_list(struct tally_stack_block *block)
{
	while (block) {
		struct tally_stack_block *next = block->next;

		tally_stack_block_free(block);
		block = next;
	}
}

void tally_block_queue_done(struct tally_block_queue *queue)
{
	if (!queue->last)
		return;
	free_list(queue->first);
	free_list(queue->later);
	free_list(queue->spare);
	if (queue->file >= 0)
		close(queue->file);
	pthread_cond_destroy(&queue->more);
	pthread_mutex_destroy(&queue->lock);
	*queue = (struct tally_block_queue){0};
}

struct tally_stack_block *tally_block_queue_take_empty(struct tally_block_queue *queue)
{
	struct tally_stack_block *block;

	pthread_mutex_lock(&queue->lock);
	block = queue->spare;
	if (block) {
		queue->spare = block->next;
		queue->spare_count--;
	}
	pthread_mutex_unlock(&queue->lock);
	if (!block)
		block = calloc(1, sizeof(*block));
	return block;
}

static size_t bytes_that_wait(struct tally_block_queue *queue)
{
	size_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->bytes;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}

uint32_t tally_block_queue_copy_most(struct tally_block_queue *queue)
{
	return bytes_that_wait(queue) < queue->bytes_most / 4 * 3 ? TALLY_STACK_COPY_MOST
								  : COPY_LEAST;
}

bool tally_block_queue_waits(struct tally_block_queue *queue)
{
	bool waits;

	pthread_mutex_lock(&queue->lock);
	waits = queue->first;
	pthread_mutex_unlock(&queue->lock);
	return waits;
}

bool tally_block_queue_is_long(struct tally_block_queue *queue)
{
	return bytes_that_wait(queue) > queue->bytes_most / 16;
}

/* On a disk if possible: /tmp may be memory. */
static int open_file(void)
{
	const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && fd < 0; i++)
		if (folders[i] && folders[i][0])
			fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd;
}

static bool write_all(int fd, const uint8_t *bytes, size_t size, uint64_t at)
{
	while (size) {
		ssize_t wrote = pwrite(fd, bytes, size, (off_t)at);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		bytes += wrote;
		size -= (size_t)wrote;
		at += (uint64_t)wrote;
	}
	return true;
}

static int read_all(int fd, uint8_t *bytes, size_t size, uint64_t at)
{
	while (size) {
		ssize_t got = pread(fd, bytes, size, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		bytes += got;
		size -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

/* Only the thread that empties the rings writes the file and moves its end. */
static bool spill(struct tally_block_queue *queue, struct tally_stack_block *block)
{
	uint64_t at;
	bool free_again;

	if (queue->file < 0 && !queue->file_failed)
		queue->file_failed = (queue->file = open_file()) < 0;
	if (queue->file_failed)
		return false;
	pthread_mutex_lock(&queue->lock);
	free_again = !queue->waiting_in_file;
	pthread_mutex_unlock(&queue->lock);
	if (free_again)
		queue->file_end = 0;
	at = queue->file_end;
	if (at + block->samples.size > queue->file_most ||
	    !write_all(queue->file, block->samples.data, block->samples.size, at))
		return false;
	queue->file_end += block->samples.size;
	queue->spilled += block->samples.size;
	block->spilled = true;
	block->spilled_at = at;
	block->spilled_size = block->samples.size;
	tally_buf_done(&block->samples);
	return true;
}

void tally_block_queue_put(struct tally_block_queue *queue, struct tally_stack_block *block,
			   const struct tally_stack_events *events,
			   struct tally_stack_copies *copies)
{
	bool full;

	pthread_mutex_lock(&queue->lock);
	full = (queue->first || queue->later) &&
	       queue->bytes + block->samples.size > queue->bytes_most;
	pthread_mutex_unlock(&queue->lock);
	if (full && !spill(queue, block))
		tally_stack_block_drop(block, events, copies);
	block->next = NULL;
	pthread_mutex_lock(&queue->lock);
	if (queue->ended) {
		*queue->later_last = block;
		queue->later_last = &block->next;
	} else {
		*queue->last = block;
		queue->last = &block->next;
	}
	queue->bytes += block->side.size + block->samples.size;
	if (block->spilled)
		queue->waiting_in_file += block->spilled_size;
	pthread_cond_signal(&queue->more);
	pthread_mutex_unlock(&queue->lock);
}

void tally_block_queue_end(struct tally_block_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ended = true;
	pthread_cond_signal(&queue->more);
	pthread_mutex_unlock(&queue->lock);
}

void tally_block_queue_begin(struct tally_block_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ended = false;
	queue->spilled = 0;
	queue->first = queue->later;
	queue->last = queue->later ? queue->later_last : &queue->first;
	queue->later = NULL;
	queue->later_last = &queue->later;
	pthread_mutex_unlock(&queue->lock);
}

static int read_back(struct tally_block_queue *queue, struct tally_stack_block *block)
{
	int result = tally_buf_reserve(&block->samples, block->spilled_size);

	if (!result)
		result = read_all(queue->file, block->samples.data, block->spilled_size,
				  block->spilled_at);
	if (!result)
		block->samples.size = block->spilled_size;
	pthread_mutex_lock(&queue->lock);
	queue->waiting_in_file -= block->spilled_size;
	pthread_mutex_unlock(&queue->lock);
	return result;
}

int tally_block_queue_next(struct tally_block_queue *queue, struct tally_stack_block **ret)
{
	struct tally_stack_block *block;
	int result = 0;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first && !queue->ended)
		pthread_cond_wait(&queue->more, &queue->lock);
	block = queue->first;
	if (block) {
		queue->first = block->next;
		if (!queue->first)
			queue->last = &queue->first;
		queue->bytes -= block->side.size + block->samples.size;
	}
	pthread_mutex_unlock(&queue->lock);
	if (block && block->spilled)
		result = read_back(queue, block);
	*ret = block;
	return result;
}

/* What a burst needed is not kept for days; but passes at whole seconds find less than those
 * before and after, and to get the memory again costs more than to fill it. */
static void shrink(struct tally_buf *buf, unsigned *small)
{
	bool large = buf->room > SPARE_BYTES && buf->size < buf->room / 4;

	*small = large ? *small + 1 : 0;
	if (*small < SPARE_TIMES)
		return;
	tally_buf_done(buf);
	*small = 0;
}

void tally_block_queue_give(struct tally_block_queue *queue, struct tally_stack_block *block)
{
	shrink(&block->side, &block->side_small);
	shrink(&block->samples, &block->samples_small);
	tally_stack_block_clear(block);
	pthread_mutex_lock(&queue->lock);
	if (queue->spare_count < SPARE_MOST) {
		/* The one that waits longest is taken next, so that none keeps what a burst needed.
		 */
		struct tally_stack_block **last = &queue->spare;

		while (*last)
			last = &(*last)->next;
		block->next = NULL;
		*last = block;
		queue->spare_count++;
		block = NULL;
	}
	pthread_mutex_unlock(&queue->lock);
	tally_stack_block_free(block);
}
