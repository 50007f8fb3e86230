/* The tables of samples and threads.
 *
 * Samples that are equal but for time and weight are one within a step of time.  The length of a
 * step decides how many there are, and so how large the page is; it is chosen before samples are
 * read, from their number, and grows if there are still too many. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "key/keys.h"
#include "page/page_tables.h"
#include "profile/row_sort.h"
#include "session/numbers.h"
#include "session/run.h"

const char *const tally_page_keys[PAGE_KEYS] = {"comm", "tgid",      "tid",   "cpu",
						"time", "recording", "symbol"};

/* A sample takes some 6 to 10 bytes of the page. */
#define SAMPLES_MOST 300000U
/* Steps when there are more samples than that, and the fewest that there may be: a few for each
 * column of a large screen. */
#define STEPS_FIRST 32768U
#define STEPS_LEAST 2048U

/* How many samples there will be is estimated from each n-th of so many blocks of time. */
#define BLOCKS 256U
#define PART   8U

/* Sums are all over the memory: what is soon read was fetched before. */
#define AHEAD 16U

/* The next of 1, 2, 5, 10, ... units that is not smaller. */
static uint64_t rounded(uint64_t step)
{
	uint64_t ten = PAGE_UNIT;

	while (ten < UINT64_MAX / 20 && ten * 10 <= step)
		ten *= 10;
	return step <= ten ? ten : step <= ten * 2 ? ten * 2 : step <= ten * 5 ? ten * 5 : ten * 10;
}

static void begin_at_step(struct page_source *source, uint64_t step)
{
	source->start -= source->start % step;
}

void tally_page_samples_plan(struct page_tables *tables, struct page_source *sources, size_t count)
{
	uint64_t length = 0, samples = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tally_session_counts *counts =
		    tally_session_counts(sources[i].session);

		sources[i].start = counts->first_time;
		sources[i].end = counts->last_time;
		samples += counts->samples;
		if (counts->last_time - counts->first_time > length)
			length = counts->last_time - counts->first_time;
	}
	tables->step = samples > SAMPLES_MOST ? rounded(length / STEPS_FIRST) : PAGE_UNIT;
	for (size_t i = 0; i < count; i++)
		begin_at_step(&sources[i], tables->step);
}

/* The contexts and sums of a recording, and where they begin among those of all. */
struct part {
	const struct tally_contexts *contexts;
	const struct tally_call_sums *sums;
	uint32_t first_context, first_sum;
	uint64_t start; /* ns, as page_source.start */
};

/* What is joined has the same number in the upper half of a key, for which it has the place in the
 * order of contexts, and its node in the lower one. */
struct page_samples_taken {
	struct page_tables *tables;
	const struct tally_session *session; /* whose sums are being taken */
	uint32_t recording;                  /* its number, if there are several */
	struct part parts[PAGE_SOURCES_MOST];
	uint32_t part_count, context_count, sum_count;
	struct tally_map known;    /* hash of a thread -> its number */
	struct page_sample *facts; /* by context: time, thread, cpu and event */
	uint32_t *ranks;           /* by context: its place in the order */
	uint32_t *nodes;           /* by sum */
	struct tally_row_item *items, *spare;
	unsigned workers;
};

static const struct part *part_of(const struct page_samples_taken *taken, uint32_t sum)
{
	return &taken->parts[taken->part_count > 1 && sum >= taken->parts[1].first_sum];
}

static const struct tally_call_sum *sum_at(const struct page_samples_taken *taken, uint32_t sum)
{
	const struct part *part = part_of(taken, sum);

	return &part->sums->list[sum - part->first_sum];
}

static uint32_t context_of(const struct page_samples_taken *taken, uint32_t sum)
{
	const struct part *part = part_of(taken, sum);

	return part->first_context + part->sums->list[sum - part->first_sum].context;
}

static bool is_thread(const struct page_thread *thread, const uint64_t *values, uint32_t comm,
		      uint32_t recording)
{
	return thread->pid == (uint32_t)values[PAGE_KEY_PID] &&
	       thread->tid == (uint32_t)values[PAGE_KEY_TID] && thread->comm == comm &&
	       thread->recording == recording;
}

/* The number of the thread of a context's values, or -ENOMEM. */
static int64_t thread_of(struct page_samples_taken *making, const uint64_t *values)
{
	struct page_tables *tables = making->tables;
	int64_t comm = tally_page_string(
	    tables, tally_session_string(making->session, (uint32_t)values[PAGE_KEY_COMM]));
	uint32_t recording =
	    tables->several ? making->recording : (uint32_t)values[PAGE_KEY_RECORDING];
	uint64_t hash = hash_mix(
	    hash_mix(page_two((uint32_t)values[PAGE_KEY_PID], (uint32_t)values[PAGE_KEY_TID]),
		     (uint64_t)comm),
	    recording);
	uint32_t room;

	if (comm < 0)
		return -ENOMEM;
	for (;; hash++) {
		bool added;
		uint64_t *number = tally_map_put(&making->known, hash, &added);

		if (!number)
			return -ENOMEM;
		if (!added) {
			if (is_thread(&tables->threads[*number], values, (uint32_t)comm, recording))
				return (int64_t)*number;
			continue;
		}
		*number = tables->thread_count;
		break;
	}
	room = array_room(tables->thread_room, tables->thread_count + 1, 64);
	if (room != tables->thread_room &&
	    !array_resize(&tables->threads, room, sizeof(*tables->threads)))
		return -ENOMEM;
	tables->thread_room = room;
	tables->threads[tables->thread_count] = (struct page_thread){
	    .pid = (uint32_t)values[PAGE_KEY_PID],
	    .tid = (uint32_t)values[PAGE_KEY_TID],
	    .comm = (uint32_t)comm,
	    .recording = recording,
	    .first = UINT64_MAX,
	};
	return tables->thread_count++;
}

/* In units since the start. */
static uint64_t time_of(uint64_t start, uint64_t time)
{
	return time == KEY_UNKNOWN || time < start ? 0 : (time - start) / PAGE_UNIT;
}

static int take_context(struct page_samples_taken *making, const struct page_source *source,
			uint32_t number)
{
	const struct part *part = &making->parts[making->part_count - 1];
	const uint64_t *values = contexts_values(part->contexts, number);
	int64_t thread = thread_of(making, values);
	uint64_t cpu = values[PAGE_KEY_CPU];

	if (thread < 0)
		return -ENOMEM;
	making->facts[part->first_context + number] = (struct page_sample){
	    .time = time_of(source->start, values[PAGE_KEY_TIME]),
	    .thread = (uint32_t)thread,
	    .cpu = cpu == KEY_UNKNOWN ? PAGE_NONE : (uint32_t)cpu,
	    .event = source->events[part->contexts->list[number].event],
	};
	return 0;
}

static int take_sum(struct page_samples_taken *making, struct page_stacks *stacks, uint32_t number)
{
	const struct part *part = &making->parts[making->part_count - 1];
	const struct tally_call_sum *sum = &part->sums->list[number];
	struct page_event *event =
	    &making->tables->events[making->facts[part->first_context + sum->context].event];
	int64_t node = tally_page_stack(stacks, sum->stack, sum->frame);

	if (node < 0)
		return -ENOMEM;
	making->nodes[part->first_sum + number] = (uint32_t)node;
	event->samples += sum->samples;
	event->weight += sum->self;
	if (!tally_session_frame(making->session, sum->frame).symbol)
		event->unknown += sum->self;
	return 0;
}

static void sort(const struct page_samples_taken *making, uint32_t count)
{
	struct tally_row_item *items = making->items;
	uint64_t varying = 0;

	for (uint32_t i = 0; i < count; i++)
		varying |= items[i].key ^ items[0].key;
	tally_row_sort(items, making->spare, count, varying, making->workers);
}

static bool is_same(const struct page_sample *a, const struct page_sample *b)
{
	return a->time == b->time && a->thread == b->thread && a->cpu == b->cpu &&
	       a->event == b->event;
}

/* Puts contexts in order: by time, thread, CPU and event; equal ones get one number. */
static void rank_contexts(const struct page_samples_taken *making)
{
	const struct page_sample *facts = making->facts, *last = NULL;
	struct tally_row_item *items = making->items;
	uint32_t count = making->context_count, rank = 0;

	for (uint32_t i = 0; i < count; i++) {
		items[i].row = i;
		items[i].key = (uint64_t)facts[i].cpu << 32 | facts[i].event;
	}
	sort(making, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = facts[items[i].row].thread;
	sort(making, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = facts[items[i].row].time;
	sort(making, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct page_sample *next = &facts[items[i].row];

		rank += last && !is_same(last, next);
		making->ranks[items[i].row] = rank;
		last = next;
	}
}

/* Puts the sums in the order of contexts and nodes; returns how many samples they become.  `part`:
 * only those of one of so many blocks of time, 1 for all. */
static uint32_t order_sums(const struct page_samples_taken *making, uint64_t part)
{
	const struct page_tables *tables = making->tables;
	uint64_t block = (tables->end - tables->start) / PAGE_UNIT / BLOCKS + 1;
	struct tally_row_item *items = making->items;
	uint32_t sums = 0, count = 0;

	rank_contexts(making);
	for (uint32_t i = 0; i < making->sum_count; i++) {
		uint32_t context = context_of(making, i);

		if (part > 1 && making->facts[context].time / block % part)
			continue;
		items[sums].row = i;
		items[sums++].key = page_two(making->ranks[context], making->nodes[i]);
	}
	if (sums)
		sort(making, sums);
	for (uint32_t i = 0; i < sums; i++)
		count += !i || items[i].key != items[i - 1].key;
	return count;
}

/* Whether there are clearly too many samples, by a part of them. */
static bool are_too_many(const struct page_samples_taken *making)
{
	return making->sum_count > SAMPLES_MOST &&
	       order_sums(making, PART) > SAMPLES_MOST / PART / 5 * 6;
}

static void coarsen(struct page_samples_taken *making)
{
	struct page_tables *tables = making->tables;
	uint64_t step;

	tables->step = rounded(tables->step + 1);
	step = tables->step / PAGE_UNIT;
	for (uint32_t at = 0; at < making->part_count; at++) {
		struct part *part = &making->parts[at];
		/* Steps begin at multiples of their length of the recording's clock. */
		uint64_t shift = part->start % tables->step / PAGE_UNIT;

		part->start -= part->start % tables->step;
		for (uint32_t i = 0; i < part->contexts->count; i++) {
			struct page_sample *facts = &making->facts[part->first_context + i];

			facts->time += shift;
			facts->time -= facts->time % step;
		}
	}
}

static void note_threads(struct page_tables *tables)
{
	for (uint32_t i = 0; i < tables->sample_count; i++) {
		const struct page_sample *sample = &tables->samples[i];
		struct page_thread *thread = &tables->threads[sample->thread];

		if (sample->time < thread->first)
			thread->first = sample->time;
		thread->last = sample->time;
	}
}

/* Writes the samples, for which there is room. */
static void join(const struct page_samples_taken *making)
{
	struct page_tables *tables = making->tables;
	struct page_sample *sample = NULL;

	for (uint32_t i = 0; i < making->sum_count; i++) {
		const struct tally_row_item *item = &making->items[i];
		const struct tally_call_sum *sum = sum_at(making, item->row);

		if (i + AHEAD < making->sum_count)
			__builtin_prefetch(sum_at(making, item[AHEAD].row));
		if (!i || item->key != item[-1].key) {
			sample = &tables->samples[tables->sample_count++];
			*sample = making->facts[context_of(making, item->row)];
			sample->node = (uint32_t)item->key;
		}
		sample->weight += sum->self;
		/* The number of samples of a recording is less than 2^32 in all but theory. */
		sample->count = sum->samples > UINT32_MAX - sample->count
				    ? UINT32_MAX
				    : sample->count + sum->samples;
	}
}

int tally_page_samples_new(struct page_tables *tables, const struct page_source *sources,
			   size_t count, struct page_samples_taken **ret)
{
	struct page_samples_taken *taken = calloc(1, sizeof(*taken));
	size_t contexts = 1, sums = 1, most;

	if (!taken)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		contexts += sources[i].worker.contexts.count;
		sums += sources[i].worker.calls.count;
	}
	most = sums > contexts ? sums : contexts;
	taken->tables = tables;
	taken->workers = tally_session_threads(sources[0].session);
	taken->facts = array_new(contexts, sizeof(*taken->facts));
	taken->ranks = array_new(contexts, sizeof(*taken->ranks));
	taken->nodes = array_new(sums, sizeof(*taken->nodes));
	taken->items = array_new(most, sizeof(*taken->items));
	taken->spare = array_new(most, sizeof(*taken->spare));
	*ret = taken;
	/* Numbers of sums are 32 bits wide. */
	return taken->facts && taken->ranks && taken->nodes && taken->items && taken->spare &&
		       most < UINT32_MAX
		   ? 0
		   : -ENOMEM;
}

void tally_page_samples_free(struct page_samples_taken *taken)
{
	if (!taken)
		return;
	tally_map_done(&taken->known);
	free(taken->facts);
	free(taken->ranks);
	free(taken->nodes);
	free(taken->items);
	free(taken->spare);
	free(taken);
}

int tally_page_samples_take(struct page_samples_taken *taken, struct page_stacks *stacks,
			    const struct page_source *source)
{
	struct part *part = &taken->parts[taken->part_count++];
	struct page_tables *tables = taken->tables;
	uint64_t length = source->end - source->start;
	int result = 0;

	*part = (struct part){.contexts = &source->worker.contexts,
			      .sums = &source->worker.calls,
			      .first_context = taken->context_count,
			      .first_sum = taken->sum_count,
			      .start = source->start};
	taken->session = source->session;
	taken->recording = source->number;
	taken->context_count += part->contexts->count;
	taken->sum_count += part->sums->count;
	if (!source->number)
		tables->start = source->start;
	if (tables->end < tables->start + length)
		tables->end = tables->start + length;
	for (uint32_t i = 0; i < part->contexts->count && !result; i++)
		result = take_context(taken, source, i);
	for (uint32_t i = 0; i < part->sums->count && !result; i++)
		result = take_sum(taken, stacks, i);
	return result;
}

/* Sorts and joins, with larger steps while there are too many. */
int tally_page_samples_make(struct page_samples_taken *taken)
{
	struct page_tables *tables = taken->tables;
	uint64_t length = tables->end - tables->start;
	uint32_t count;
	int result = tally_page_stacks_order(tables, taken->nodes, taken->sum_count);

	if (result)
		return result;
	for (;;) {
		bool last = length / rounded(tables->step + 1) < STEPS_LEAST;

		if (last || !are_too_many(taken)) {
			count = order_sums(taken, 1);
			if (last || count <= SAMPLES_MOST)
				break;
		}
		coarsen(taken);
	}
	tables->start = taken->parts[0].start;
	tables->samples = table_new((size_t)count + 1, sizeof(*tables->samples));
	if (!tables->samples)
		return -ENOMEM;
	join(taken);
	note_threads(tables);
	return 0;
}
