#include "resolve/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"

#define FIRST_ROOM    256U
#define NUMBERS_BLOCK 4096U

int tally_stacks_init(struct tally_stacks *stacks)
{
	*stacks = (struct tally_stacks){.count = 1};
	stacks->chunks = calloc(STACKS_CHUNKS, sizeof(*stacks->chunks));
	if (!stacks->chunks)
		return -ENOMEM;
	for (unsigned i = 0; i < STACKS_SHARES; i++)
		pthread_mutex_init(&stacks->shares[i].lock, NULL);
	return 0;
}

void tally_stacks_done(struct tally_stacks *stacks)
{
	for (unsigned i = 0; stacks->chunks && i < STACKS_SHARES; i++) {
		struct stacks_table *table = stacks->tables[i];

		while (table) {
			struct stacks_table *before = table->before;

			free(table);
			table = before;
		}
		pthread_mutex_destroy(&stacks->shares[i].lock);
	}
	for (unsigned i = 0; stacks->chunks && i < STACKS_CHUNKS; i++)
		free(stacks->chunks[i]);
	free(stacks->chunks);
	stacks->chunks = NULL;
}

static uint64_t node_of(uint32_t caller, uint32_t frame)
{
	return caller * (1ULL << 32) + frame;
}

static struct stacks_table *table_of(const struct tally_stacks *stacks, uint64_t hash)
{
	return atomic_load_explicit(&stacks->tables[hash % STACKS_SHARES], memory_order_acquire);
}

/* The node in the table, or 0; *ret_at: where it would go. */
static uint32_t find(const struct tally_stacks *stacks, const struct stacks_table *table,
		     uint64_t hash, uint64_t node, uint32_t *ret_at)
{
	uint32_t tag = (uint32_t)(hash >> 32), at;
	uint64_t slot;

	if (!table)
		return 0;
	for (at = tag & (table->room - 1);
	     (slot = atomic_load_explicit(&table->slots[at], memory_order_acquire));
	     at = (at + 1) & (table->room - 1))
		if (slot >> 32 == tag && stacks_node(stacks, (uint32_t)slot) == node)
			return (uint32_t)slot;
	*ret_at = at;
	return 0;
}

/* A larger table for the share of a hash, whose lock is held.  0 or -ENOMEM. */
static int grow(struct tally_stacks *stacks, uint64_t hash)
{
	struct stacks_table *old = table_of(stacks, hash);
	uint32_t room = old ? old->room * 2 : FIRST_ROOM;
	struct stacks_table *table = NULL;

	/* The rest of the struct takes less than two slots more. */
	if (room)
		table = table_new((size_t)room + 2, sizeof(*table->slots));
	if (!table)
		return -ENOMEM;
	table->before = old;
	table->room = room;
	for (uint32_t i = 0; old && i < old->room; i++) {
		uint64_t slot = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
		uint32_t at = (uint32_t)(slot >> 32) & (room - 1);

		if (!slot)
			continue;
		while (atomic_load_explicit(&table->slots[at], memory_order_relaxed))
			at = (at + 1) & (room - 1);
		atomic_store_explicit(&table->slots[at], slot, memory_order_relaxed);
	}
	atomic_store_explicit(&stacks->tables[hash % STACKS_SHARES], table, memory_order_release);
	return 0;
}

/* Makes the places of nodes; false: out of memory. */
static bool make_places(struct tally_stacks *stacks, uint32_t first, uint32_t count)
{
	for (uint32_t i = first >> STACKS_CHUNK_BITS; i <= (first + count - 1) >> STACKS_CHUNK_BITS;
	     i++) {
		_Atomic uint64_t *none = NULL, *chunk;

		if (atomic_load_explicit(&stacks->chunks[i], memory_order_acquire))
			continue;
		chunk = calloc(STACKS_CHUNK, sizeof(*chunk));
		if (!chunk)
			return false;
		/* Another thread may have been first. */
		if (!atomic_compare_exchange_strong_explicit(&stacks->chunks[i], &none, chunk,
							     memory_order_acq_rel,
							     memory_order_acquire))
			free(chunk);
	}
	return true;
}

/* Numbers for so many nodes, whose places are there; 0: out of memory. */
static uint32_t take_numbers(struct tally_stacks *stacks, struct stacks_numbers *numbers,
			     uint32_t count)
{
	uint32_t first = numbers->next;

	if (!first || numbers->end - first < count) {
		uint32_t block = count > NUMBERS_BLOCK ? count : NUMBERS_BLOCK;

		first = atomic_load_explicit(&stacks->count, memory_order_relaxed);
		do {
			if (block > STACKS_CHUNKS * STACKS_CHUNK - first - 1)
				return 0;
		} while (!atomic_compare_exchange_weak_explicit(&stacks->count, &first,
								first + block, memory_order_relaxed,
								memory_order_relaxed));
		*numbers = (struct stacks_numbers){first, first + block};
		if (!make_places(stacks, first, block)) {
			numbers->end = first;
			return 0;
		}
	}
	numbers->next = first + count;
	return first;
}

static void put_node(struct tally_stacks *stacks, uint32_t number, uint64_t node)
{
	_Atomic uint64_t *chunk = atomic_load_explicit(&stacks->chunks[number >> STACKS_CHUNK_BITS],
						       memory_order_acquire);

	atomic_store_explicit(&chunk[number & (STACKS_CHUNK - 1)], node, memory_order_release);
}

/* Adds a run for the frames, unless another thread has added its first; the first node, or 0. */
static uint32_t add_run(struct tally_stacks *stacks, struct stacks_numbers *numbers, uint64_t hash,
			uint32_t caller, const uint32_t *frames, uint32_t count, bool *ret_added)
{
	struct stacks_share *share = &stacks->shares[hash % STACKS_SHARES];
	struct stacks_table *table;
	uint32_t at = 0, first;

	pthread_mutex_lock(&share->lock);
	table = table_of(stacks, hash);
	if (!table || (uint64_t)share->count * 3 >= (uint64_t)table->room * 2) {
		if (grow(stacks, hash)) {
			pthread_mutex_unlock(&share->lock);
			return 0;
		}
		table = table_of(stacks, hash);
	}
	first = find(stacks, table, hash, node_of(caller, *frames), &at);
	if (!first && (first = take_numbers(stacks, numbers, count))) {
		for (uint32_t i = count; i-- > 0;)
			put_node(stacks, first + i, node_of(i ? first + i - 1 : caller, frames[i]));
		atomic_store_explicit(&table->slots[at], hash >> 32 << 32 | first,
				      memory_order_release);
		share->count++;
		*ret_added = true;
	}
	pthread_mutex_unlock(&share->lock);
	return first;
}

int tally_stacks_walk(struct tally_stacks *stacks, struct stacks_numbers *numbers, uint32_t caller,
		      const uint32_t *frames, uint32_t count, uint32_t *nodes)
{
	bool added = false;

	for (uint32_t i = 0; i < count; i++, caller = nodes[i - 1]) {
		uint64_t node = node_of(caller, frames[i]), hash;
		uint32_t at;

		/* All behind what was added is of the same run. */
		if (added || (caller && stacks_node(stacks, caller + 1) == node)) {
			nodes[i] = caller + 1;
			continue;
		}
		hash = hash_u64(node);
		nodes[i] = find(stacks, table_of(stacks, hash), hash, node, &at);
		if (!nodes[i])
			nodes[i] =
			    add_run(stacks, numbers, hash, caller, frames + i, count - i, &added);
		if (!nodes[i])
			return -ENOMEM;
	}
	return 0;
}
