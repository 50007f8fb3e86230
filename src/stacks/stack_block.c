#include "stacks/stack_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "base/table.h"
#include "kernel/ring_parts.h"
#include "wire/sample_read.h"
#include "wire/record_view.h"

/* Bytes of records that a thread takes at once: some dozens of copies. */
#define PART (256u << 10)

void tally_stack_block_clear(struct tally_stack_block *block)
{
	tally_buf_clear(&block->side);
	tally_buf_clear(&block->samples);
	block->early = 0;
	block->part_count = 0;
	block->spilled = false;
}

void tally_stack_block_free(struct tally_stack_block *block)
{
	if (!block)
		return;
	tally_buf_done(&block->side);
	tally_buf_done(&block->samples);
	free(block->parts);
	free(block);
}

bool tally_plan_unwinds(const struct tally_plan *plan)
{
	bool unwinds = false;

	for (size_t i = 0; i < plan->count; i++)
		unwinds |= plan->events[i].unwinds;
	return unwinds;
}

int tally_stack_events_init(struct tally_stack_events *events, const struct tally_plan *plan)
{
	*events = (struct tally_stack_events){.plan = plan};
	events->rings = calloc(plan->count, sizeof(*events->rings));
	events->files = calloc(plan->count, sizeof(*events->files));
	if (!events->rings || !events->files)
		return -ENOMEM;
	for (size_t i = 0; i < plan->count; i++) {
		const struct tally_planned *event = &plan->events[i];
		const struct tally_attr attr = tally_plan_file_attr(event);

		tally_layout_init(&events->rings[i], &event->attr);
		tally_layout_init(&events->files[i], &attr);
		for (size_t id = 0; event->unwinds && id < event->id_count; id++) {
			bool added;
			uint64_t *value = tally_map_put(&events->by_id, event->ids[id], &added);

			if (!value)
				return -ENOMEM;
			*value = i + 1;
		}
	}
	return 0;
}

void tally_stack_events_done(struct tally_stack_events *events)
{
	tally_map_done(&events->by_id);
	free(events->rings);
	free(events->files);
	*events = (struct tally_stack_events){0};
}

int64_t tally_stack_events_find(const struct tally_stack_events *events,
				const struct tally_record *record)
{
	const uint64_t *event;

	/* The id is the first field of all samples: see PERF_SAMPLE_IDENTIFIER. */
	if (record->type != PERF_RECORD_SAMPLE || record->size < 16)
		return -1;
	event = tally_map_find(&events->by_id, load_u64(record->bytes + 8));
	return event ? (int64_t)*event - 1 : -1;
}

/* A copy of a stack in a sample: its word of size, its bytes, and what is behind it. */
struct copy {
	size_t at, size; /* `at`: of the word of size, from the record's start */
	uint64_t valid;
};

static bool find_copy(const struct tally_stack_events *events, const struct tally_record *record,
		      struct copy *ret)
{
	struct tally_sample sample = {.size = sizeof(sample)};
	int64_t event = tally_stack_events_find(events, record);

	if (event < 0 ||
	    !sample_read(&events->rings[event], record,
			 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
			 &sample) ||
	    !sample.user_stack || !sample.user_stack_size)
		return false;
	ret->at = (size_t)(sample.user_stack - record->bytes) - 8;
	ret->size = (size_t)sample.user_stack_size;
	ret->valid = MIN(sample.user_stack_dyn_size, sample.user_stack_size);
	return true;
}

/* Where a record goes that starts a new part now and then. */
static int begin_record(struct tally_stack_block *block)
{
	size_t at = block->samples.size;

	if (block->part_count && at - block->parts[block->part_count - 1] < PART)
		return 0;
	if (!array_next(&block->parts, &block->part_room, block->part_count, 64,
			sizeof(*block->parts)))
		return -ENOMEM;
	block->parts[block->part_count++] = at;
	return 0;
}

/* The record with at most so many bytes of the copy, over itself or to other memory that has room
 * for it. Returns its size. */
static size_t shorten(const struct tally_record *record, const struct copy *copy, uint64_t keep,
		      uint8_t *to)
{
	size_t padded = (size_t)(keep + 7) & ~(size_t)7, behind = copy->at + 8 + copy->size + 8;
	size_t tail = record->size - behind, at = copy->at;
	uint16_t size;

	/* Source: perf_output_sample_ustack() of kernel/events/core.c: without bytes there is only
	 * the size, which is 0. */
	memmove(to, record->bytes, at + 8);
	if (padded)
		memmove(to + at + 8, record->bytes + at + 8, padded);
	memmove(to + at + (padded ? 16 + padded : 8), record->bytes + behind, tail);
	store_u64(to + at, padded);
	at += 8;
	if (padded) {
		store_u64(to + at + padded, keep);
		at += padded + 8;
	}
	size = (uint16_t)(at + tail);
	memcpy(to + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return size;
}

static int add_record(struct tally_stack_block *block, const struct tally_stack_events *events,
		      const struct tally_record *record, struct tally_stack_copies *copies)
{
	struct copy copy;
	uint64_t keep;

	if (begin_record(block) || tally_buf_reserve(&block->samples, record->size))
		return -ENOMEM;
	if (!find_copy(events, record, &copy)) {
		tally_buf_add(&block->samples, record->bytes, record->size);
		return 0;
	}
	keep = MIN(copy.valid, copies->most);
	copies->cut += keep < copy.valid;
	block->samples.size +=
	    shorten(record, &copy, keep, block->samples.data + block->samples.size);
	return 0;
}

int tally_stack_block_add(struct tally_stack_block *block, const struct tally_stack_events *events,
			  const struct tally_ring_bytes *bytes, size_t from, size_t to,
			  struct tally_stack_copies *copies, uint8_t *joined)
{
	while (from < to) {
		const struct perf_event_header header = ring_parts_header(bytes, from);
		const struct tally_record record =
		    record_view(ring_parts_whole(bytes, from, header.size, joined));
		int result = add_record(block, events, &record, copies);

		if (result)
			return result;
		from += record.size;
	}
	return 0;
}

int tally_stack_block_add_side(struct tally_stack_block *block,
			       const struct tally_ring_bytes *bytes, size_t from, size_t to)
{
	ring_parts_add(&block->side, bytes, from, to);
	return block->side.failed;
}

void tally_stack_block_drop(struct tally_stack_block *block,
			    const struct tally_stack_events *events,
			    struct tally_stack_copies *copies)
{
	uint8_t *data = block->samples.data;
	size_t to = 0, part = 0;

	for (size_t at = 0; at < block->samples.size;) {
		const struct tally_record record = record_view(data + at);
		struct copy copy;

		while (part < block->part_count && block->parts[part] == at)
			block->parts[part++] = to;
		at += record.size;
		if (find_copy(events, &record, &copy)) {
			copies->dropped += copy.valid != 0;
			to += shorten(&record, &copy, 0, data + to);
		} else {
			memmove(data + to, record.bytes, record.size);
			to += record.size;
		}
	}
	block->samples.size = to;
}
