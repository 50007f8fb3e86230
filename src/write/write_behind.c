#include "write/write_behind.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/pool.h"

/* One write in the buffer; its bytes follow, padded to 8. */
struct entry {
	uint64_t size;
	uint32_t op;
	uint32_t last; /* nothing follows up to the end of the buffer */
};

struct tally_write_behind {
	tally_write_behind_fn write;
	void *context;
	uint8_t *bytes;
	size_t room;
	/* Entries are in [head, tail), or in [head, end of the buffer) and [0, tail).  When an
	 * entry is put into an empty buffer both are 0 again: a thread that keeps up needs the
	 * first pages only.  Behind an entry there is always room for one that ends the buffer. */
	size_t head, tail, used;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	bool quit;
	int code;
	struct tally_error error;
	pthread_t thread;
};

static struct entry *entry_at(struct tally_write_behind *behind, size_t at)
{
	return (void *)(behind->bytes + at);
}

static size_t entry_room(size_t size)
{
	return sizeof(struct entry) + (size_t)align_up(size, 8);
}

/* --- the thread --- */

/* With the lock: drops the oldest entry. */
static void drop_first(struct tally_write_behind *behind)
{
	struct entry *entry = entry_at(behind, behind->head);
	size_t took = entry->last ? behind->room - behind->head : entry_room(entry->size);

	behind->used -= took;
	behind->head = entry->last ? 0 : behind->head + took;
	pthread_cond_signal(&behind->emptied);
}

static void *behind_main(void *context)
{
	struct tally_write_behind *behind = context;

	pthread_mutex_lock(&behind->lock);
	for (;;) {
		const struct entry *entry;
		int code = 0;

		while (!behind->used && !behind->quit)
			pthread_cond_wait(&behind->filled, &behind->lock);
		if (!behind->used)
			break;
		entry = entry_at(behind, behind->head);
		if (!behind->code && entry->op) {
			pthread_mutex_unlock(&behind->lock);
			code = behind->write(behind->context, entry->op, entry + 1,
					     (size_t)entry->size, &behind->error);
			pthread_mutex_lock(&behind->lock);
		}
		if (code)
			behind->code = code;
		drop_first(behind);
	}
	pthread_mutex_unlock(&behind->lock);
	return NULL;
}

/* --- the caller --- */

int tally_write_behind_new(size_t room, tally_write_behind_fn write, void *context,
			   struct tally_write_behind **ret)
{
	struct tally_write_behind *behind = calloc(1, sizeof(*behind));
	void *bytes;
	int code;

	if (!behind)
		return -ENOMEM;
	bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED) {
		free(behind);
		return -ENOMEM;
	}
	behind->bytes = bytes;
	behind->room = room & ~(size_t)7;
	behind->write = write;
	behind->context = context;
	pthread_mutex_init(&behind->lock, NULL);
	pthread_cond_init(&behind->filled, NULL);
	pthread_cond_init(&behind->emptied, NULL);
	code = tally_thread_start_quiet(&behind->thread, behind_main, behind);
	if (code) {
		munmap(bytes, room);
		free(behind);
		return code;
	}
	*ret = behind;
	return 0;
}

static int refuse(struct tally_write_behind *behind, struct tally_error *error)
{
	return tally_fail(error, behind->code, behind->error.position, "%s", behind->error.text);
}

/* With the lock: makes room for an entry in one run, perhaps at the buffer's start.  False: wait.
 */
static bool find_room(struct tally_write_behind *behind, size_t need)
{
	size_t until_end;

	if (!behind->used)
		behind->head = behind->tail = 0;
	until_end = behind->room - behind->tail;
	if (behind->used && behind->tail <= behind->head)
		return behind->head - behind->tail >= need;
	if (until_end >= need)
		return true;
	if (behind->head < need)
		return false;
	/* What is left at the end is an entry of nothing. */
	*entry_at(behind, behind->tail) = (struct entry){.last = 1};
	behind->used += until_end;
	behind->tail = 0;
	return true;
}

static size_t size_of(const struct iovec *iov, int count)
{
	size_t size = 0;

	for (int i = 0; i < count; i++)
		size += iov[i].iov_len;
	return size;
}

static void copy_in(uint8_t *to, const struct iovec *iov, int count)
{
	for (int i = 0; i < count; i++) {
		if (iov[i].iov_len)
			memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
}

/* What does not fit: after all before it, by the caller. */
static int write_now(struct tally_write_behind *behind, unsigned op, const struct iovec *iov,
		     int count, size_t size, struct tally_error *error)
{
	uint8_t *whole = malloc(size + 1);
	int code;

	if (!whole)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	copy_in(whole, iov, count);
	pthread_mutex_lock(&behind->lock);
	while (behind->used)
		pthread_cond_wait(&behind->emptied, &behind->lock);
	code = behind->code ? refuse(behind, error) : 0;
	pthread_mutex_unlock(&behind->lock);
	if (!code)
		code = behind->write(behind->context, op, whole, size, error);
	free(whole);
	return code;
}

int tally_write_behind_put(struct tally_write_behind *behind, unsigned op, const struct iovec *iov,
			   int count, struct tally_error *error)
{
	size_t size = size_of(iov, count), need = entry_room(size) + sizeof(struct entry);
	struct entry *entry;
	int code;

	if (need > behind->room / 2)
		return write_now(behind, op, iov, count, size, error);
	pthread_mutex_lock(&behind->lock);
	while (!behind->code && !find_room(behind, need))
		pthread_cond_wait(&behind->emptied, &behind->lock);
	code = behind->code ? refuse(behind, error) : 0;
	entry = entry_at(behind, behind->tail);
	pthread_mutex_unlock(&behind->lock);
	if (code)
		return code;
	/* The thread does not look beyond `used`. */
	*entry = (struct entry){.size = size, .op = op};
	copy_in((uint8_t *)(entry + 1), iov, count);
	pthread_mutex_lock(&behind->lock);
	behind->tail += entry_room(size);
	behind->used += entry_room(size);
	pthread_cond_signal(&behind->filled);
	pthread_mutex_unlock(&behind->lock);
	return 0;
}

int tally_write_behind_finish(struct tally_write_behind *behind, struct tally_error *error)
{
	int code;

	if (!behind)
		return 0;
	pthread_mutex_lock(&behind->lock);
	behind->quit = true;
	pthread_cond_signal(&behind->filled);
	pthread_mutex_unlock(&behind->lock);
	pthread_join(behind->thread, NULL);
	code = behind->code ? refuse(behind, error) : 0;
	pthread_cond_destroy(&behind->filled);
	pthread_cond_destroy(&behind->emptied);
	pthread_mutex_destroy(&behind->lock);
	munmap(behind->bytes, behind->room);
	free(behind);
	return code;
}
