#include "stacks/stack_joins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include "base/table.h"
#include "callchain/thread_stacks.h"
#include "wire/sample_read.h"

/* Of a sample, in front of its frames. */
struct made_stack {
	const struct tally_layout *layout;
	uint64_t time;
	size_t at; /* of its record */
	uint32_t pid, tid, count;
	uint32_t spliced; /* words at the chain's end that are beyond the copy */
	bool whole, cut;
};

struct joined_record {
	size_t part, at, old_size, from, size; /* from: in `bytes` */
};

/* Of one sample: where its frames are. */
struct sample_order {
	uint64_t time;
	size_t part, at;
	bool done; /* its chain was completed */
};

struct tally_stack_joins {
	struct tally_thread_stacks *before, *after; /* the sample at hand */
	struct sample_order *order;
	size_t order_room;
	struct tally_buf bytes;   /* of joined records */
	struct tally_buf records; /* struct joined_record */
	struct tally_buf whole;   /* a part with its joined records */
	uint64_t words[TALLY_STACK_FRAMES_MOST + 8192];
};

/* --- a part --- */

void tally_made_part_clear(struct tally_made_part *part)
{
	tally_buf_clear(&part->records);
	tally_buf_clear(&part->stacks);
}

void tally_made_part_done(struct tally_made_part *part)
{
	tally_buf_done(&part->records);
	tally_buf_done(&part->stacks);
}

/* Appends the record. A chain that makes it larger than a record can be loses its last words: 1;
 * else 0, or -errno. */
static int encode(const struct tally_layout *layout, struct tally_body *body, struct tally_buf *to)
{
	int size = tally_record_size(layout, body), shortened = 0;

	if (size == -EOVERFLOW) {
		uint64_t count = body->sample.callchain_nr;

		body->sample.callchain_nr = 0;
		size = tally_record_size(layout, body);
		if (size < 0)
			return size;
		body->sample.callchain_nr =
		    MIN(count, (size_t)(UINT16_MAX - size) / sizeof(uint64_t));
		size = tally_record_size(layout, body);
		shortened = 1;
	}
	if (size < 0)
		return size;
	if (tally_buf_reserve(to, (size_t)size))
		return -ENOMEM;
	size = tally_record_encode(layout, body, to->data + to->size, (size_t)size);
	if (size < 0)
		return size;
	to->size += (size_t)size;
	return shortened;
}

static void count_chain(struct tally_stack_counts *counts, const struct tally_chain *chain)
{
	uint64_t *const ends[] = {
	    [TALLY_CHAIN_WHOLE] = &counts->whole,
	    [TALLY_CHAIN_COPY_ENDED] = &counts->copy_ended,
	    [TALLY_CHAIN_UNKNOWN_CODE] = &counts->unknown_code,
	    [TALLY_CHAIN_LOST] = &counts->lost,
	    [TALLY_CHAIN_TOO_DEEP] = &counts->too_deep,
	};

	counts->count++;
	++*ends[chain->end];
	counts->lost_made += chain->end == TALLY_CHAIN_LOST && chain->made;
	counts->kernel_frames += chain->found[TALLY_CHAIN_KERNEL];
	counts->leaf_frames += chain->found[TALLY_CHAIN_LEAF];
	counts->cfi_frames += chain->found[TALLY_CHAIN_CFI];
	counts->frame_pointer_frames += chain->found[TALLY_CHAIN_FRAME_POINTER];
	counts->spliced_frames += chain->found[TALLY_CHAIN_SPLICED];
}

static int add_stack(struct tally_made_part *part, const struct tally_layout *layout,
		     const struct tally_sample *sample, const struct tally_chain *chain, size_t at)
{
	size_t most = chain->count - chain->unwound;
	struct tally_buf *to = &part->stacks;
	struct made_stack stack = {
	    .layout = layout,
	    .time = sample->time,
	    .at = at,
	    .pid = sample->pid,
	    .tid = sample->tid,
	    .spliced = chain->found[TALLY_CHAIN_SPLICED],
	    .cut = chain->end == TALLY_CHAIN_COPY_ENDED,
	    .whole = chain->end == TALLY_CHAIN_WHOLE && !chain->found[TALLY_CHAIN_SPLICED],
	};

	if (tally_buf_reserve(to, sizeof(stack) + most * sizeof(struct tally_stack_frame)))
		return -ENOMEM;
	stack.count =
	    tally_stack_frames_of(sample, chain, (void *)(to->data + to->size + sizeof(stack)));
	memcpy(to->data + to->size, &stack, sizeof(stack));
	to->size += sizeof(stack) + stack.count * sizeof(struct tally_stack_frame);
	return 0;
}

int tally_made_part_add(struct tally_made_part *part, const struct tally_layout *layout,
			const struct tally_body *body, const struct tally_chain *chain,
			const struct tally_sample *stack, struct tally_stack_counts *counts)
{
	struct tally_body shown = *body;
	size_t at = part->records.size;
	struct tally_chain counted;
	int result = encode(layout, &shown, &part->records);

	if (result < 0 || !chain)
		return MIN(result, 0);
	counted = *chain;
	if (result)
		counted.end = TALLY_CHAIN_TOO_DEEP;
	count_chain(counts, &counted);
	return add_stack(part, layout, stack, &counted, at);
}

/* --- a block --- */

int tally_stack_joins_new(struct tally_stack_joins **ret)
{
	struct tally_stack_joins *joins = calloc(1, sizeof(*joins));

	if (!joins)
		return -ENOMEM;
	if (tally_thread_stacks_new(&joins->before) || tally_thread_stacks_new(&joins->after)) {
		tally_stack_joins_free(joins);
		return -ENOMEM;
	}
	*ret = joins;
	return 0;
}

void tally_stack_joins_free(struct tally_stack_joins *joins)
{
	if (!joins)
		return;
	tally_thread_stacks_free(joins->before);
	tally_thread_stacks_free(joins->after);
	free(joins->order);
	tally_buf_done(&joins->bytes);
	tally_buf_done(&joins->records);
	tally_buf_done(&joins->whole);
	free(joins);
}

static struct made_stack stack_at(const struct tally_made_part *part, size_t at)
{
	struct made_stack stack;

	memcpy(&stack, part->stacks.data + at, sizeof(stack));
	return stack;
}

static int by_time(const void *left, const void *right)
{
	const struct sample_order *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Returns how many samples there are, or -ENOMEM. */
static int64_t put_in_order(struct tally_stack_joins *joins, const struct tally_made_part *parts,
			    size_t part_count)
{
	size_t count = 0;

	for (size_t i = 0; i < part_count; i++) {
		for (size_t at = 0; at < parts[i].stacks.size;) {
			const struct made_stack stack = stack_at(&parts[i], at);

			if (!array_next(&joins->order, &joins->order_room, count, 1024,
					sizeof(*joins->order)))
				return -ENOMEM;
			joins->order[count++] =
			    (struct sample_order){.time = stack.time, .part = i, .at = at};
			at += sizeof(stack) + stack.count * sizeof(struct tally_stack_frame);
		}
	}
	if (count)
		qsort(joins->order, count, sizeof(*joins->order), by_time);
	return (int64_t)count;
}

/* The record with callers in place of what was beyond its copy. */
static int join_record(struct tally_stack_joins *joins, const struct tally_made_part *parts,
		       const struct sample_order *order, const struct made_stack *stack,
		       const struct tally_stack_frame *callers, uint32_t count, bool *ret_shortened)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_SAMPLE};
	struct joined_record joined = {
	    .part = order->part, .at = stack->at, .from = joins->bytes.size};
	struct perf_event_header header;
	struct tally_record record = {.bytes = parts[order->part].records.data + stack->at};
	uint64_t kept;
	int result;

	memcpy(&header, record.bytes, sizeof(header));
	record.type = header.type;
	body.misc = record.misc = header.misc;
	joined.old_size = record.size = header.size;
	body.sample.size = sizeof(body.sample);
	if (!sample_read(stack->layout, &record, stack->layout->sample_type, &body.sample))
		return -EINVAL;
	kept = body.sample.callchain_nr - MIN(stack->spliced, body.sample.callchain_nr);
	kept = MIN(kept, sizeof(joins->words) / sizeof(*joins->words) - count);
	memcpy(joins->words, body.sample.callchain, kept * sizeof(*joins->words));
	for (uint32_t i = 0; i < count; i++)
		joins->words[kept + i] = callers[i].address;
	body.sample.callchain = joins->words;
	body.sample.callchain_nr = kept + count;
	result = encode(stack->layout, &body, &joins->bytes);
	if (result < 0)
		return result;
	*ret_shortened = result;
	joined.size = joins->bytes.size - joined.from;
	tally_buf_add(&joins->records, &joined, sizeof(joined));
	return joins->records.failed;
}

/* `threads`: the samples before this one, or after it. */
static int join_sample(struct tally_stack_joins *joins, struct tally_thread_stacks *threads,
		       const struct tally_made_part *parts, struct sample_order *order,
		       struct tally_stack_counts *counts)
{
	const struct made_stack stack = stack_at(&parts[order->part], order->at);
	const struct tally_stack_frames frames = {
	    .frames = (const void *)(parts[order->part].stacks.data + order->at + sizeof(stack)),
	    .count = stack.count,
	    .whole = stack.whole,
	    .cut = stack.cut,
	};
	const struct tally_stack_frame *callers;
	bool whole, shortened = false;
	int64_t found =
	    tally_thread_stacks_next(threads, stack.pid, stack.tid, &frames, &callers, &whole);
	uint32_t count;
	int result;

	if (found <= 0 || !whole || order->done)
		return (int)MIN(found, 0);
	count = MIN((uint32_t)found, TALLY_STACK_FRAMES_MOST - stack.count);
	result = join_record(joins, parts, order, &stack, callers, count, &shortened);
	if (result)
		return result;
	order->done = true;
	counts->joined++;
	counts->joined_frames += count;
	counts->spliced_frames -= stack.spliced;
	counts->copy_ended--;
	if (shortened || count < found)
		counts->too_deep++;
	else
		counts->whole++;
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct joined_record *a = left, *b = right;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The records of a part, with the joined ones in place of what they were. */
static int replace(struct tally_stack_joins *joins, struct tally_buf *records,
		   const struct joined_record *joined, size_t count)
{
	struct tally_buf before = *records;
	size_t at = 0;

	tally_buf_clear(&joins->whole);
	for (size_t i = 0; i < count; i++) {
		tally_buf_add(&joins->whole, before.data + at, joined[i].at - at);
		tally_buf_add(&joins->whole, joins->bytes.data + joined[i].from, joined[i].size);
		at = joined[i].at + joined[i].old_size;
	}
	tally_buf_add(&joins->whole, before.data + at, before.size - at);
	if (joins->whole.failed)
		return -ENOMEM;
	*records = joins->whole;
	joins->whole = before;
	return 0;
}

int tally_stack_joins_run(struct tally_stack_joins *joins, struct tally_made_part *parts,
			  size_t count, struct tally_stack_counts *counts)
{
	int64_t samples = put_in_order(joins, parts, count);
	struct joined_record *joined;
	size_t joined_count;
	int result = (int)MIN(samples, 0);

	tally_buf_clear(&joins->bytes);
	tally_buf_clear(&joins->records);
	tally_thread_stacks_clear(joins->after);
	for (int64_t i = 0; i < samples && !result; i++)
		result = join_sample(joins, joins->before, parts, &joins->order[i], counts);
	for (int64_t i = samples; i-- > 0 && !result;)
		result = join_sample(joins, joins->after, parts, &joins->order[i], counts);
	joined = (void *)joins->records.data;
	joined_count = joins->records.size / sizeof(*joined);
	if (joined_count)
		qsort(joined, joined_count, sizeof(*joined), by_place);
	for (size_t i = 0, end; i < joined_count && !result; i = end) {
		for (end = i + 1; end < joined_count && joined[end].part == joined[i].part;)
			end++;
		result = replace(joins, &parts[joined[i].part].records, &joined[i], end - i);
	}
	return result;
}
