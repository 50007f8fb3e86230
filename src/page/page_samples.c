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
#define STEPS_LEAST 4096U

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

struct making {
	struct page_tables *tables;
	const struct tally_session *session;
	const struct tally_contexts *contexts;
	struct tally_map known;  /* hash of a thread -> its number */
	uint32_t *threads;       /* by context */
	struct page_sample *all; /* before they are joined */
	uint32_t count;
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

static int take_sum(struct making *making, struct page_stacks *stacks,
		    const struct tally_call_sum *sum, struct page_sample *ret)
{
	struct page_tables *tables = making->tables;
	const struct tally_context *context = &making->contexts->list[sum->context];
	const uint64_t *values = contexts_values(making->contexts, sum->context);
	uint32_t *thread = &making->threads[sum->context];
	struct page_event *event = &tables->events[context->event];
	int64_t node = tally_page_stack(stacks, sum->stack, sum->frame), number;

	if (node < 0)
		return -ENOMEM;
	if (!*thread) {
		number = thread_of(making, values);
		if (number < 0)
			return -ENOMEM;
		*thread = (uint32_t)number + 1;
	}
	*ret = (struct page_sample){
	    .time = time_of(tables, values[PAGE_KEY_TIME]),
	    .weight = sum->self,
	    .thread = *thread - 1,
	    .cpu = values[PAGE_KEY_CPU] == KEY_UNKNOWN ? PAGE_NONE : (uint32_t)values[PAGE_KEY_CPU],
	    .event = context->event,
	    .node = (uint32_t)node,
	    .count = sum->samples,
	};
	event->samples += sum->samples;
	event->weight += sum->self;
	if (!is_named(making->session, sum->frame))
		event->unknown += sum->self;
	return 0;
}

/* Sorts by two numbers of 64 bits in turn: what is equal stays as it was. */
static void sort(struct making *making, uint64_t (*key)(const struct page_sample *sample))
{
	struct tally_row_item *items = making->items;
	uint64_t varying = 0;

	for (uint32_t i = 0; i < making->count; i++) {
		items[i].key = key(&making->all[items[i].row]);
		varying |= items[i].key ^ items[0].key;
	}
	tally_row_sort(items, making->spare, making->count, varying,
		       tally_session_threads(making->session));
}

static uint64_t place_key(const struct page_sample *sample)
{
	return (uint64_t)(sample->cpu & 0xffff) << 48 | (uint64_t)(sample->event & 0xffff) << 32 |
	       sample->node;
}

static uint64_t time_key(const struct page_sample *sample)
{
	return sample->time << 20 | (sample->thread & 0xfffff);
}

static bool is_same(const struct page_sample *a, const struct page_sample *b)
{
	return a->time == b->time && a->thread == b->thread && a->cpu == b->cpu &&
	       a->event == b->event && a->node == b->node && a->count <= UINT32_MAX - b->count;
}

/* How many are left when equal ones are one; they go to `to`, if that is not NULL. */
static uint32_t join(const struct making *making, struct page_sample *to)
{
	const struct page_sample *last = NULL;
	struct page_sample sum = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < making->count; i++) {
		const struct page_sample *next = &making->all[making->items[i].row];

		if (last && is_same(&sum, next)) {
			sum.weight += next->weight;
			sum.count += next->count;
		} else {
			if (last && to)
				to[count - 1] = sum;
			sum = *next;
			count++;
		}
		last = next;
	}
	if (last && to)
		to[count - 1] = sum;
	return count;
}

static void coarsen(struct making *making)
{
	struct page_tables *tables = making->tables;
	uint64_t step, shift;

	tables->step = rounded(tables->step + 1);
	step = tables->step / PAGE_UNIT;
	/* Steps begin at multiples of their length of the recording's clock. */
	shift = tables->start % tables->step / PAGE_UNIT;
	tables->start -= tables->start % tables->step;
	for (uint32_t i = 0; i < making->count; i++) {
		making->all[i].time += shift;
		making->all[i].time -= making->all[i].time % step;
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

/* Sorts and joins, with larger steps while there are too many. */
static int reduce(struct making *making)
{
	struct page_tables *tables = making->tables;
	uint64_t length = tables->end - tables->start;
	uint32_t count;

	for (;;) {
		sort(making, place_key);
		sort(making, time_key);
		count = join(making, NULL);
		if (count <= SAMPLES_MOST || length / rounded(tables->step + 1) < STEPS_LEAST)
			break;
		coarsen(making);
	}
	tables->samples = malloc(((size_t)count + 1) * sizeof(*tables->samples));
	if (!tables->samples)
		return -ENOMEM;
	tables->sample_count = join(making, tables->samples);
	note_threads(tables);
	return 0;
}

int tally_page_samples_make(struct page_tables *tables, struct page_stacks *stacks,
			    const struct tally_contexts *contexts,
			    const struct tally_call_sums *sums)
{
	size_t room = (size_t)sums->count + 1;
	struct making making = {
	    .tables = tables,
	    .session = stacks->functions->session,
	    .contexts = contexts,
	    .threads = table_new((size_t)contexts->count + 1, sizeof(*making.threads)),
	    .all = malloc(room * sizeof(*making.all)),
	    .items = malloc(room * sizeof(*making.items)),
	    .spare = malloc(room * sizeof(*making.spare)),
	};
	int result = making.threads && making.all && making.items && making.spare ? 0 : -ENOMEM;

	for (; making.count < sums->count && !result; making.count++) {
		result =
		    take_sum(&making, stacks, &sums->list[making.count], &making.all[making.count]);
		making.items[making.count].row = making.count;
	}
	if (!result)
		result = reduce(&making);
	tally_map_done(&making.known);
	free(making.threads);
	free(making.all);
	free(making.items);
	free(making.spare);
	return result;
}
