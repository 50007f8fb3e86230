#include "cycles/block_sums.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/table.h"
#include "resolve/locate.h"
#include "session/batch_sample.h"
#include "session/session.h"
#include "session/time_spans.h"

#define ROOM_LEAST   1024U /* a power of two */
#define CYCLES_SHIFT 4
#define CYCLES_MASK  0xffffU

/* Of one thread: a table by hash.  A slot with a count of 0 is free. */
struct block_worker {
	struct block_sum *slots;
	size_t room, count;
	uint64_t cycles;
} __attribute__((aligned(TABLE_APART)));

struct block_sums {
	struct tally_session *session;
	struct block_choice choice;
	struct tally_sink sink;
	struct block_worker *workers;
	unsigned worker_count;
	bool any; /* stacks of all branches: two of them next to each other have a block between */
};

/* An end of a branch. */
struct end {
	uint32_t frame, size, offset;
	bool known; /* in a function */
};

static struct block_sum *slot_of(struct block_sum *slots, size_t room, const struct block_sum *of)
{
	size_t at = hash_mix(hash_u64((uint64_t)of->frame << 32 | of->end), of->start) & (room - 1);

	while (slots[at].count && (slots[at].frame != of->frame || slots[at].end != of->end ||
				   slots[at].start != of->start))
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static int grow(struct block_worker *worker)
{
	size_t room = worker->room ? worker->room * 2 : ROOM_LEAST;
	struct block_sum *slots;

	if (worker->count * 2 < worker->room)
		return 0;
	slots = table_new(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < worker->room; i++)
		if (worker->slots[i].count)
			*slot_of(slots, room, &worker->slots[i]) = worker->slots[i];
	free(worker->slots);
	worker->slots = slots;
	worker->room = room;
	return 0;
}

static int add(struct block_worker *worker, const struct block_sum *sum)
{
	struct block_sum *slot;

	if (grow(worker))
		return -ENOMEM;
	slot = slot_of(worker->slots, worker->room, sum);
	if (!slot->count) {
		*slot = *sum;
		worker->count++;
		return 0;
	}
	slot->count += sum->count;
	slot->cycles += sum->cycles;
	return 0;
}

static int find_end(const struct tally_batch *batch, uint32_t row, uint64_t addr, struct end *ret)
{
	struct tally_located located;

	if (tally_batch_locate(batch, row, PERF_RECORD_MISC_CPUMODE_UNKNOWN, addr, &located))
		return -ENOMEM;
	*ret = (struct end){.frame = located.frame};
	if (located.place < located.symbol_start || located.place >= located.symbol_end ||
	    located.symbol_end - located.symbol_start >= BLOCK_NO_START)
		return 0;
	ret->known = true;
	ret->size = (uint32_t)(located.symbol_end - located.symbol_start);
	ret->offset = (uint32_t)(located.place - located.symbol_start);
	return 0;
}

/* Where the block before a branch starts: what the branch before it, if there is one, led to. */
static uint32_t start_of(const struct end *from, const struct end *before)
{
	return before->known && before->frame == from->frame && before->offset < from->offset
		   ? before->offset
		   : BLOCK_NO_START;
}

/* The newest branch is the first of a stack. */
static int add_stack(const struct block_sums *sums, struct block_worker *worker,
		     const struct tally_batch *batch, uint32_t row,
		     const struct tally_sample *sample)
{
	struct end before = {0};

	for (uint64_t i = sample->branch_nr; i-- > 0;) {
		const struct tally_branch *branch = &sample->branches[i];
		uint64_t cycles = branch->flags >> CYCLES_SHIFT & CYCLES_MASK;
		struct end from, to = {0};

		if (cycles) {
			if (find_end(batch, row, branch->from, &from))
				return -ENOMEM;
			worker->cycles += cycles;
			if (from.known &&
			    add(worker, &(struct block_sum){.frame = from.frame,
							    .size = from.size,
							    .start = start_of(&from, &before),
							    .end = from.offset,
							    .count = 1,
							    .cycles = cycles}))
				return -ENOMEM;
		}
		/* It is of use for a block that ends at the next branch only. */
		if (sums->any && i && sample->branches[i - 1].flags >> CYCLES_SHIFT & CYCLES_MASK &&
		    find_end(batch, row, branch->to, &to))
			return -ENOMEM;
		before = to;
	}
	return 0;
}

static int begin(void *context, unsigned workers)
{
	struct block_sums *sums = context;

	sums->workers = table_apart(workers, sizeof(*sums->workers));
	if (!sums->workers)
		return -ENOMEM;
	sums->worker_count = workers;
	return 0;
}

static bool is_chosen(const struct block_choice *choice, const struct tally_batch *batch,
		      uint32_t row)
{
	if (choice->span_count &&
	    !time_spans_hold(choice->spans, choice->span_count, batch->time[row]))
		return false;
	for (size_t i = 0; i < choice->cpu_count; i++)
		if (choice->cpus[i] == batch->cpu[row])
			return true;
	return !choice->cpu_count;
}

static int take(void *context, unsigned number, const struct tally_batch *batch)
{
	const struct block_sums *sums = context;
	struct block_worker *worker = &sums->workers[number];
	struct tally_sample sample = {.size = sizeof(sample)};
	int result = 0;

	for (uint32_t row = 0; row < batch->count && !result; row++) {
		if (!is_chosen(&sums->choice, batch, row) ||
		    tally_batch_sample(batch, row, &sample) ||
		    !(sample.present & PERF_SAMPLE_BRANCH_STACK) || !sample.branch_nr)
			continue;
		/* As perf: where the newest branch has no cycles, none of the stack counts. */
		if (sample.branches[0].flags >> CYCLES_SHIFT & CYCLES_MASK)
			result = add_stack(sums, worker, batch, row, &sample);
	}
	return result;
}

/* perf's nonany_branch_mode: with a filter, branches that were not recorded are between two that
 * were. */
static bool has_all_branches(struct tally_session *session)
{
	const struct tally_data *data = tally_session_data(session);
	uint64_t types = 0;

	for (size_t i = 0; i < tally_data_event_count(data); i++)
		types |= tally_data_event(data, i)->attr.branch_sample_type;
	return types & PERF_SAMPLE_BRANCH_ANY;
}

int tally_block_sums_new(struct tally_session *session, const struct block_choice *choice,
			 struct block_sums **ret)
{
	struct block_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	sums->session = session;
	sums->choice = *choice;
	sums->any = has_all_branches(session);
	sums->sink = (struct tally_sink){
	    .size = sizeof(sums->sink),
	    .columns = TALLY_COLUMN_SAMPLE | (choice->span_count ? TALLY_COLUMN_TIME : 0) |
		       (choice->cpu_count ? TALLY_COLUMN_CPU : 0),
	    .context = sums,
	    .begin = begin,
	    .batch = take,
	};
	*ret = sums;
	return 0;
}

void tally_block_sums_free(struct block_sums *sums)
{
	if (!sums)
		return;
	for (unsigned i = 0; i < sums->worker_count; i++)
		free(sums->workers[i].slots);
	free(sums->workers);
	free(sums);
}

const struct tally_sink *tally_block_sums_sink(const struct block_sums *sums)
{
	return &sums->sink;
}

static int by_place(const void *left, const void *right)
{
	const struct block_sum *a = left, *b = right;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

int tally_block_sums_take(struct block_sums *sums, struct block_sum **ret, size_t *ret_count,
			  uint64_t *ret_cycles)
{
	struct block_worker *first = sums->workers;
	size_t count = 0;

	*ret = NULL;
	*ret_count = 0;
	*ret_cycles = 0;
	if (!first)
		return 0;
	for (unsigned i = 1; i < sums->worker_count; i++) {
		const struct block_worker *worker = &sums->workers[i];

		for (size_t at = 0; at < worker->room; at++)
			if (worker->slots[at].count && add(first, &worker->slots[at]))
				return -ENOMEM;
		first->cycles += worker->cycles;
	}
	for (size_t at = 0; at < first->room; at++)
		if (first->slots[at].count)
			first->slots[count++] = first->slots[at];
	if (count)
		qsort(first->slots, count, sizeof(*first->slots), by_place);
	*ret = first->slots;
	*ret_count = count;
	*ret_cycles = first->cycles;
	first->slots = NULL;
	first->room = first->count = 0;
	return 0;
}
