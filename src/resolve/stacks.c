#include "resolve/stacks.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

#define FIRST_ROOM    64U
#define NUMBERS_BLOCK 4096U
/* A search that passes so many slots wants a larger table: it is about half full then. */
#define PASSED_MOST 48U
/* No node's: the slot is taken because the table is replaced. */
#define SLOT_MOVED (1ULL << 32)

static struct stacks_table *table_of(const struct tally_stacks *stacks, uint64_t hash)
{
	return atomic_load_explicit(&stacks->tables[hash % STACKS_SHARES], memory_order_acquire);
}

static struct stacks_table *new_table(uint32_t room, struct stacks_table *before)
{
	struct stacks_table *table = NULL;

	/* The rest of the struct takes less than two slots more. */
	if (room)
		table = table_new((size_t)room + 2, sizeof(*table->slots));
	if (table) {
		table->before = before;
		table->room = room;
	}
	return table;
}

int tally_stacks_init(struct tally_stacks *stacks)
{
	bool made;

	*stacks = (struct tally_stacks){.count = 1};
	stacks->chunks = calloc(STACKS_CHUNKS, sizeof(*stacks->chunks));
	made = stacks->chunks != NULL;
	for (unsigned i = 0; i < STACKS_SHARES; i++) {
		pthread_mutex_init(&stacks->growing[i], NULL);
		atomic_init(&stacks->tables[i], new_table(FIRST_ROOM, NULL));
		made &= table_of(stacks, i) != NULL;
	}
	return made ? 0 : -ENOMEM;
}

void tally_stacks_trim(struct tally_stacks *stacks)
{
	for (unsigned i = 0; i < STACKS_SHARES; i++) {
		struct stacks_table *table = table_of(stacks, i);

		while (table && table->before) {
			struct stacks_table *replaced = table->before;

			table->before = replaced->before;
			free(replaced);
		}
	}
}

void tally_stacks_done(struct tally_stacks *stacks)
{
	tally_stacks_trim(stacks);
	for (unsigned i = 0; i < STACKS_SHARES; i++) {
		pthread_mutex_destroy(&stacks->growing[i]);
		free(table_of(stacks, i));
		stacks->tables[i] = NULL;
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

/* A node that has a slot.  The thread that took the slot is about to write it. */
static uint64_t written_node(const struct tally_stacks *stacks, uint32_t number)
{
	uint64_t node;

	for (unsigned looks = 0; !(node = stacks_node(stacks, number)); looks++)
		if (looks > 100)
			sched_yield();
	return node;
}

/* The node in the table, or 0; *ret_at: the first slot without one.  A small table may have none:
 * then the last one that was looked at. */
static uint32_t find(const struct tally_stacks *stacks, const struct stacks_table *table,
		     uint64_t hash, uint64_t node, uint32_t *ret_at)
{
	uint32_t tag = (uint32_t)(hash >> 32), mask = table->room - 1, passed = 0;
	uint64_t slot;

	for (; passed < mask; passed++) {
		slot = atomic_load_explicit(&table->slots[(tag + passed) & mask],
					    memory_order_acquire);
		if (!(uint32_t)slot)
			break;
		if (slot >> 32 == tag && written_node(stacks, (uint32_t)slot) == node)
			return (uint32_t)slot;
	}
	*ret_at = (tag + passed) & mask;
	return 0;
}

/* A larger table for the share of a hash in place of that one, unless another thread has made it.
 * 0 or -ENOMEM. */
static int grow(struct tally_stacks *stacks, uint64_t hash, struct stacks_table *old)
{
	pthread_mutex_t *growing = &stacks->growing[hash % STACKS_SHARES];
	struct stacks_table *table;

	pthread_mutex_lock(growing);
	if (table_of(stacks, hash) != old) {
		pthread_mutex_unlock(growing);
		return 0;
	}
	table = new_table(old->room * 2, old);
	for (uint32_t i = 0; table && i < old->room; i++) {
		uint64_t slot = 0;
		uint32_t at;

		if (atomic_compare_exchange_strong(&old->slots[i], &slot, SLOT_MOVED))
			continue;
		at = (uint32_t)(slot >> 32) & (table->room - 1);
		while (atomic_load_explicit(&table->slots[at], memory_order_relaxed))
			at = (at + 1) & (table->room - 1);
		atomic_store_explicit(&table->slots[at], slot, memory_order_relaxed);
	}
	if (table)
		atomic_store_explicit(&stacks->tables[hash % STACKS_SHARES], table,
				      memory_order_release);
	pthread_mutex_unlock(growing);
	return table ? 0 : -ENOMEM;
}

/* Most recordings do not fill the first, whose pages are taken as they are needed. */
static _Atomic uint64_t *new_chunk(uint32_t number)
{
	return number ? table_new(STACKS_CHUNK, sizeof(uint64_t))
		      : calloc(STACKS_CHUNK, sizeof(uint64_t));
}

/* Makes the places of nodes; false: out of memory. */
static bool make_places(struct tally_stacks *stacks, uint32_t first, uint32_t count)
{
	for (uint32_t i = first >> STACKS_CHUNK_BITS; i <= (first + count - 1) >> STACKS_CHUNK_BITS;
	     i++) {
		_Atomic uint64_t *none = NULL, *chunk;

		if (atomic_load_explicit(&stacks->chunks[i], memory_order_acquire))
			continue;
		chunk = new_chunk(i);
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

/* Takes a free slot for a node of that number, unless another thread has added the node.  The
 * node's number, or 0: out of memory. */
static uint32_t take_slot(struct tally_stacks *stacks, uint64_t hash, uint64_t node,
			  uint32_t number)
{
	for (;;) {
		struct stacks_table *table = table_of(stacks, hash);
		uint32_t tag = (uint32_t)(hash >> 32), at = 0, found;
		uint64_t slot = 0;

		found = find(stacks, table, hash, node, &at);
		if (found)
			return found;
		if (((at - tag) & (table->room - 1)) <= PASSED_MOST &&
		    atomic_compare_exchange_strong(&table->slots[at], &slot,
						   (uint64_t)tag << 32 | number))
			return number;
		/* Another thread took it: for a node, which may be this one, or as it moves all. */
		if ((!slot || slot == SLOT_MOVED) && grow(stacks, hash, table))
			return 0;
	}
}

/* Adds a run for the frames, unless another thread has added its first; the first node, or 0. */
static uint32_t add_run(struct tally_stacks *stacks, struct stacks_numbers *numbers, uint64_t hash,
			uint32_t caller, const uint32_t *frames, uint32_t count, bool *ret_added)
{
	uint32_t own = take_numbers(stacks, numbers, count), first;

	if (!own)
		return 0;
	first = take_slot(stacks, hash, node_of(caller, *frames), own);
	if (first != own) {
		numbers->next = own;
		return first;
	}
	for (uint32_t i = count; i-- > 0;)
		put_node(stacks, first + i, node_of(i ? first + i - 1 : caller, frames[i]));
	*ret_added = true;
	return first;
}

/* Goes on as far as frames are of one run; whether the next one must be looked up, which is fetched
 * then. */
static bool follow(const struct tally_stacks *stacks, const uint32_t *frames, uint32_t *nodes,
		   struct stacks_walk *walk)
{
	const struct stacks_table *table;
	uint64_t node;

	for (; walk->at < walk->end; nodes[walk->at++] = ++walk->caller) {
		node = node_of(walk->caller, frames[walk->at]);
		if (walk->caller && stacks_node(stacks, walk->caller + 1) == node)
			continue;
		walk->hash = hash_u64(node);
		table = table_of(stacks, walk->hash);
		__builtin_prefetch(
		    (const void *)&table->slots[(walk->hash >> 32) & (table->room - 1)]);
		return true;
	}
	return false;
}

/* Fetches the node that is most likely found. */
static void fetch_found(const struct tally_stacks *stacks, uint64_t hash)
{
	const struct stacks_table *table = table_of(stacks, hash);
	uint32_t tag = (uint32_t)(hash >> 32);
	uint64_t slot =
	    atomic_load_explicit(&table->slots[tag & (table->room - 1)], memory_order_relaxed);

	if (slot >> 32 == tag && slot != SLOT_MOVED)
		stacks_fetch(stacks, (uint32_t)slot);
}

/* Looks up or adds the next frame; false: out of memory. */
static bool step(struct tally_stacks *stacks, struct stacks_numbers *numbers,
		 const uint32_t *frames, uint32_t *nodes, struct stacks_walk *walk)
{
	uint64_t node = node_of(walk->caller, frames[walk->at]);
	bool added = false;
	uint32_t at;

	walk->caller = find(stacks, table_of(stacks, walk->hash), walk->hash, node, &at);
	if (!walk->caller)
		walk->caller = add_run(stacks, numbers, walk->hash, (uint32_t)(node >> 32),
				       frames + walk->at, walk->end - walk->at, &added);
	if (!walk->caller)
		return false;
	nodes[walk->at++] = walk->caller;
	/* All behind what was added is of the same run. */
	while (added && walk->at < walk->end)
		nodes[walk->at++] = ++walk->caller;
	return true;
}

int tally_stacks_walk_all(struct tally_stacks *stacks, struct stacks_numbers *numbers,
			  const uint32_t *frames, uint32_t *nodes, struct stacks_walk *walks,
			  uint32_t count)
{
	struct stacks_walk *left[STACKS_WALKS];
	uint32_t more = 0;

	for (uint32_t i = 0; i < count; i++)
		left[i] = &walks[i];
	for (; count; count = more) {
		more = 0;
		for (uint32_t i = 0; i < count; i++)
			if (follow(stacks, frames, nodes, left[i]))
				left[more++] = left[i];
		for (uint32_t i = 0; i < more; i++)
			fetch_found(stacks, left[i]->hash);
		for (uint32_t i = 0; i < more; i++)
			if (!step(stacks, numbers, frames, nodes, left[i]))
				return -ENOMEM;
	}
	return 0;
}

int tally_stacks_walk(struct tally_stacks *stacks, struct stacks_numbers *numbers, uint32_t caller,
		      const uint32_t *frames, uint32_t count, uint32_t *nodes)
{
	struct stacks_walk walk = {.end = count, .caller = caller};

	return tally_stacks_walk_all(stacks, numbers, frames, nodes, &walk, 1);
}
