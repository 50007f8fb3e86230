/* Source: OpenHarmony's hiperf, unique_stack_table.h and perf_file_format.cpp.  The section, whose
 * number among its features is 197: u32 tables; for each u32 pid, u32 bytes that its writer used,
 * u32 nodes; for each node u32 index, u64 node.  A node is a frame and the index of its caller: 40
 * bits of the address, 23 of the caller's index (0: none), 1 for the kernel.  The number of a stack
 * is the index of its innermost frame in 23 bits, below the length of the chain. */
#include "file/hiperf_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include "file/feature.h"

#define ADDRESS_BITS 40
#define INDEX_BITS   23
#define INDEX_MASK   (((uint64_t)1 << INDEX_BITS) - 1)
#define KERNEL_BIT   ((uint64_t)1 << 63)

#define NODE_SIZE 12

struct hiperf_stacks {
	struct tally_map nodes; /* pid and index -> node */
};

static uint64_t node_key(uint32_t pid, uint64_t index)
{
	return (uint64_t)pid << 32 | index;
}

static uint64_t address_of(uint64_t node)
{
	uint64_t low = node & (((uint64_t)1 << ADDRESS_BITS) - 1);

	return node & KERNEL_BIT ? low | UINT64_MAX << ADDRESS_BITS : low;
}

static uint64_t caller_of(uint64_t node)
{
	return node >> ADDRESS_BITS & INDEX_MASK;
}

/* One process's nodes. 0, -ENOMEM. */
static int read_nodes(struct hiperf_stacks *table, struct file_cursor *cursor)
{
	uint32_t pid = cursor_u32(cursor), count;

	cursor_u32(cursor);
	count = cursor_count(cursor, NODE_SIZE);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = cursor_u32(cursor);
		uint64_t node = cursor_u64(cursor), *value;
		bool added;

		if (!index || index > INDEX_MASK)
			continue;
		value = tally_map_put(&table->nodes, node_key(pid, index), &added);
		if (!value)
			return -ENOMEM;
		*value = node;
	}
	return 0;
}

int tally_hiperf_stacks_read(struct tally_data *data)
{
	const struct file_payload *section = &data->sections[TALLY_FEATURE_HIPERF_STACK_TABLE];
	struct file_cursor cursor = {.at = section->bytes};
	uint32_t tables;

	/* hiperf writes files of its own machine's order, and no streams. */
	if (!data->info.hiperf || !section->size || data->swapped || data->live)
		return 0;
	cursor.end = section->bytes + section->size;
	data->hiperf = calloc(1, sizeof(*data->hiperf));
	if (!data->hiperf)
		return -ENOMEM;
	tables = cursor_count(&cursor, NODE_SIZE);
	for (uint32_t i = 0; i < tables && !cursor.failed; i++)
		if (read_nodes(data->hiperf, &cursor))
			return -ENOMEM;
	if (cursor.failed)
		tally_file_feature_damage(data, TALLY_FEATURE_HIPERF_STACK_TABLE, section->offset,
					  "has invalid contents");
	return 0;
}

void tally_hiperf_stacks_free(struct hiperf_stacks *table)
{
	if (!table)
		return;
	tally_map_done(&table->nodes);
	free(table);
}

/* The sample without the word at its end, when that is the number of a stack. */
static bool without_number(const struct tally_data *data, const struct tally_record *record,
			   struct tally_sample *ret)
{
	const uint64_t wanted = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	struct tally_record folded = *record;
	int event;

	if (!data->hiperf || record->type != PERF_RECORD_SAMPLE || record->size < 16 ||
	    tally_file_trusts(data, record))
		return false;
	folded.size -= 8;
	event = tally_data_event_of(data, &folded);
	return tally_file_trusts(data, &folded) &&
	       sample_read(&data->events[event].layout, &folded, wanted, ret) &&
	       ret->present == wanted && !ret->callchain_nr;
}

bool tally_hiperf_stacks_numbers(const struct tally_data *data, const struct tally_record *record)
{
	struct tally_sample sample;

	return without_number(data, record, &sample);
}

/* Writes the chain's addresses; returns how many. */
static size_t walk(const struct hiperf_stacks *table, uint32_t pid, uint64_t number, size_t room,
		   uint8_t *to, bool *whole)
{
	uint64_t index = number & INDEX_MASK, left = number >> INDEX_BITS;
	size_t count = 0;

	/* An index may lead back to itself; the length ends such a chain. */
	for (; index && left && count < room; left--) {
		const uint64_t *node = tally_map_find(&table->nodes, node_key(pid, index));

		if (!node)
			break;
		store_u64(to + count++ * 8, address_of(*node));
		index = caller_of(*node);
	}
	*whole = !index;
	return count;
}

size_t tally_hiperf_stacks_unfold(const struct tally_data *data, const struct tally_record *record,
				  uint8_t *to, bool *whole)
{
	struct tally_sample sample;
	size_t before, behind, count, size;

	if (!without_number(data, record, &sample))
		return 0;
	before = (size_t)((const uint8_t *)sample.callchain - record->bytes);
	behind = record->size - 8U - before;
	count = walk(data->hiperf, (uint32_t)sample.pid, load_u64(record->bytes + record->size - 8),
		     (UINT16_MAX - before - behind) / 8, to + before, whole);
	size = before + count * 8 + behind;
	memcpy(to, record->bytes, before);
	store_u64(to + before - 8, count);
	memcpy(to + before + count * 8, record->bytes + before, behind);
	store_u16(to + 6, (uint16_t)size);
	return size;
}
