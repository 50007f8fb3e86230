#include "resolve/thread_numbers.h"

#include <stdbool.h>
#include "base/bytes.h"
#include "base/table.h"

void tally_thread_numbers_init(struct tally_thread_numbers *threads)
{
	*threads = (struct tally_thread_numbers){.room = 0};
	pthread_mutex_init(&threads->lock, NULL);
}

void tally_thread_numbers_done(struct tally_thread_numbers *threads)
{
	chunks_done(&threads->rows);
	free(threads->slots);
	threads->slots = NULL;
	pthread_mutex_destroy(&threads->lock);
}

static uint32_t hash_of(const struct thread_row *row)
{
	uint64_t hash = hash_u64((uint64_t)row->pid << 32 | row->tid);

	return (uint32_t)hash_mix(hash, row->space ^ (uint64_t)row->comm << 48);
}

static bool same(const struct thread_row *a, const struct thread_row *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm && a->space == b->space;
}

static struct thread_row *row_at(const struct tally_thread_numbers *threads, uint32_t number)
{
	return chunks_at(&threads->rows, number, sizeof(struct thread_row));
}

/* Where the row is, or would go. */
static uint32_t *find(const struct tally_thread_numbers *threads, const struct thread_row *row)
{
	uint32_t mask = threads->room - 1, at = hash_of(row) & mask;

	while (threads->slots[at] && !same(row_at(threads, threads->slots[at] - 1), row))
		at = (at + 1) & mask;
	return &threads->slots[at];
}

static bool grow(struct tally_thread_numbers *threads)
{
	uint32_t room = threads->room ? threads->room * 2 : 64;
	uint32_t *old = threads->slots, *slots = room ? table_new(room, sizeof(*slots)) : NULL;

	if (!slots)
		return false;
	threads->slots = slots;
	threads->room = room;
	for (uint32_t i = 0; i < chunks_count(&threads->rows); i++)
		*find(threads, row_at(threads, i)) = i + 1;
	free(old);
	return true;
}

uint32_t tally_thread_number(struct tally_thread_numbers *threads, const struct thread_row *row)
{
	uint32_t number = UINT32_MAX, *slot;
	struct thread_row *added;

	pthread_mutex_lock(&threads->lock);
	if ((uint64_t)chunks_count(&threads->rows) * 2 < threads->room || grow(threads)) {
		slot = find(threads, row);
		added = *slot ? NULL : chunks_next(&threads->rows, sizeof(*added));
		if (added) {
			*added = *row;
			*slot = chunks_added(&threads->rows) + 1;
		}
		if (*slot)
			number = *slot - 1;
	}
	pthread_mutex_unlock(&threads->lock);
	return number;
}

const struct thread_row *tally_thread_row(const struct tally_thread_numbers *threads,
					  uint32_t number)
{
	return number < chunks_count(&threads->rows) ? row_at(threads, number) : NULL;
}
