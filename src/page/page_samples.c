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

const char *const tally_page_keys[PAGE_KEYS] = {"comm", "pid", "tid", "cpu", "time", "symbol"};

/* A sample takes some 6 to 10 bytes of the page. */
#define SAMPLES_MOST 300000U
/* Steps when there are more samples than that, and the fewest that there may be: a few for each
 * column of a large screen. */
#define STEPS_FIRST 32768U
#define STEPS_LEAST 2048U

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

void tally_page_samples_plan(struct page_tables *tables, const struct tally_session *session)
{
	const struct tally_session_counts *counts = tally_session_counts(session);
	uint64_t length = counts->last_time - counts->first_time;

	tables->step = counts->samples > SAMPLES_MOST ? rounded(length / STEPS_FIRST) : PAGE_UNIT;
	tables->start = counts->first_time - counts->first_time % tables->step;
	tables->end = counts->last_time;
}

/* What is joined has the same number in the upper half of a key, for which it has the place in the
 * order of contexts, and its node in the lower one. */
struct making {
	struct page_tables *tables;
	const struct tally_session *session;
	const struct tally_contexts *contexts;
	const struct tally_call_sums *sums;
	struct tally_map known;    /* hash of a thread -> its number */
	struct page_sample *facts; /* by context: time, thread, cpu and event */
	uint32_t *ranks;           /* by context: its place in the order */
	uint32_t *nodes;           /* by sum */
	struct tally_row_item *items, *spare;
};

static bool is_thread(const struct page_thread *thread, const uint64_t *values, uint32_t comm)
{
	return thread->pid == (uint32_t)values[PAGE_KEY_PID] &&
	       thread->tid == (uint32_t)values[PAGE_KEY_TID] && thread->comm == comm;
}

/* The number of the thread of a context's values, or -ENOMEM. */
static int64_t thread_of(struct making *making, const uint64_t *values)
{
	struct page_tables *tables = making->tables;
	int64_t comm = tally_page_string(
	    tables, tally_session_string(making->session, (uint32_t)values[PAGE_KEY_COMM]));
	uint64_t hash =
	    hash_mix(values[PAGE_KEY_PID] << 32 | (uint32_t)values[PAGE_KEY_TID], (uint64_t)comm);
	uint32_t room;

	if (comm < 0)
		return -ENOMEM;
	for (;; hash++) {
		bool added;
		uint64_t *number = tally_map_put(&making->known, hash, &added);

		if (!number)
			return -ENOMEM;
		if (!added) {
			if (is_thread(&tables->threads[*number], values, (uint32_t)comm))
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
	    .first = UINT64_MAX,
	};
	return tables->thread_count++;
}

/* In units since the start. */
static uint64_t time_of(const struct page_tables *tables, uint64_t time)
{
	return time == KEY_UNKNOWN || time < tables->start ? 0 : (time - tables->start) / PAGE_UNIT;
}

static bool is_named(const struct tally_session *session, uint32_t frame)
{
	struct tally_frame facts = tally_session_frame(session, frame);

	return facts.symbol || facts.function;
}

static int take_context(struct making *making, uint32_t number)
{
	const uint64_t *values = contexts_values(making->contexts, number);
	int64_t thread = thread_of(making, values);
	uint64_t cpu = values[PAGE_KEY_CPU];

	if (thread < 0)
		return -ENOMEM;
	making->facts[number] = (struct page_sample){
	    .time = time_of(making->tables, values[PAGE_KEY_TIME]),
	    .thread = (uint32_t)thread,
	    .cpu = cpu == KEY_UNKNOWN ? PAGE_NONE : (uint32_t)cpu,
	    .event = making->contexts->list[number].event,
	};
	return 0;
}

static int take_sum(struct making *making, struct page_stacks *stacks, uint32_t number)
{
	const struct tally_call_sum *sum = &making->sums->list[number];
	struct page_event *event =
	    &making->tables->events[making->contexts->list[sum->context].event];
	int64_t node = tally_page_stack(stacks, sum->stack, sum->frame);

	if (node < 0)
		return -ENOMEM;
	making->nodes[number] = (uint32_t)node;
	event->samples += sum->samples;
	event->weight += sum->self;
	if (!is_named(making->session, sum->frame))
		event->unknown += sum->self;
	return 0;
}

static void sort(const struct making *making, uint32_t count)
{
	struct tally_row_item *items = making->items;
	uint64_t varying = 0;

	for (uint32_t i = 0; i < count; i++)
		varying |= items[i].key ^ items[0].key;
	tally_row_sort(items, making->spare, count, varying,
		       tally_session_threads(making->session));
}

static bool is_same(const struct page_sample *a, const struct page_sample *b)
{
	return a->time == b->time && a->thread == b->thread && a->cpu == b->cpu &&
	       a->event == b->event;
}

/* Puts contexts in order: by time, thread, CPU and event; equal ones get one number. */
static void rank_contexts(const struct making *making)
{
	const struct page_sample *facts = making->facts, *last = NULL;
	struct tally_row_item *items = making->items;
	uint32_t count = making->contexts->count, rank = 0;

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

/* Puts the sums in the order of contexts and nodes; returns how many samples they become. */
static uint32_t order_sums(const struct making *making)
{
	const struct tally_call_sums *sums = making->sums;
	struct tally_row_item *items = making->items;
	uint32_t count = 0;

	rank_contexts(making);
	for (uint32_t i = 0; i < sums->count; i++) {
		items[i].row = i;
		items[i].key =
		    (uint64_t)making->ranks[sums->list[i].context] << 32 | making->nodes[i];
	}
	sort(making, sums->count);
	for (uint32_t i = 0; i < sums->count; i++)
		count += !i || items[i].key != items[i - 1].key;
	return count;
}

static void coarsen(const struct making *making)
{
	struct page_tables *tables = making->tables;
	uint64_t step, shift;

	tables->step = rounded(tables->step + 1);
	step = tables->step / PAGE_UNIT;
	/* Steps begin at multiples of their length of the recording's clock. */
	shift = tables->start % tables->step / PAGE_UNIT;
	tables->start -= tables->start % tables->step;
	for (uint32_t i = 0; i < making->contexts->count; i++) {
		making->facts[i].time += shift;
		making->facts[i].time -= making->facts[i].time % step;
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
static void join(const struct making *making)
{
	struct page_tables *tables = making->tables;
	struct page_sample *sample = NULL;

	for (uint32_t i = 0; i < making->sums->count; i++) {
		const struct tally_row_item *item = &making->items[i];
		const struct tally_call_sum *sum = &making->sums->list[item->row];

		if (i + AHEAD < making->sums->count)
			__builtin_prefetch(&making->sums->list[item[AHEAD].row]);
		if (!i || item->key != item[-1].key) {
			sample = &tables->samples[tables->sample_count++];
			*sample = making->facts[sum->context];
			sample->node = (uint32_t)item->key;
		}
		sample->weight += sum->self;
		/* The number of samples of a recording is less than 2^32 in all but theory. */
		sample->count = sum->samples > UINT32_MAX - sample->count
				    ? UINT32_MAX
				    : sample->count + sum->samples;
	}
}

/* Sorts and joins, with larger steps while there are too many. */
static int reduce(struct making *making)
{
	struct page_tables *tables = making->tables;
	uint64_t length = tables->end - tables->start;
	uint32_t count;

	for (;;) {
		count = order_sums(making);
		if (count <= SAMPLES_MOST || length / rounded(tables->step + 1) < STEPS_LEAST)
			break;
		coarsen(making);
	}
	tables->samples = calloc((size_t)count + 1, sizeof(*tables->samples));
	if (!tables->samples)
		return -ENOMEM;
	join(making);
	note_threads(tables);
	return 0;
}

int tally_page_samples_make(struct page_tables *tables, struct page_stacks *stacks,
			    const struct tally_contexts *contexts,
			    const struct tally_call_sums *sums)
{
	uint32_t most = sums->count > contexts->count ? sums->count : contexts->count;
	struct making making = {
	    .tables = tables,
	    .session = stacks->functions->session,
	    .contexts = contexts,
	    .sums = sums,
	    .facts = malloc(((size_t)contexts->count + 1) * sizeof(*making.facts)),
	    .ranks = malloc(((size_t)contexts->count + 1) * sizeof(*making.ranks)),
	    .nodes = malloc(((size_t)sums->count + 1) * sizeof(*making.nodes)),
	    .items = malloc(((size_t)most + 1) * sizeof(*making.items)),
	    .spare = malloc(((size_t)most + 1) * sizeof(*making.spare)),
	};
	bool ready = making.facts && making.ranks && making.nodes && making.items && making.spare;
	int result = ready ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < contexts->count && !result; i++)
		result = take_context(&making, i);
	for (uint32_t i = 0; i < sums->count && !result; i++)
		result = take_sum(&making, stacks, i);
	if (!result)
		result = tally_page_stacks_order(stacks, making.nodes, sums->count);
	if (!result)
		result = reduce(&making);
	tally_map_done(&making.known);
	free(making.facts);
	free(making.ranks);
	free(making.nodes);
	free(making.items);
	free(making.spare);
	return result;
}
