#include "profile/flat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "profile/gather.h"

/* The numbers of the samples fill the lower bits of what is sorted. */
#define NUMBER_BITS  13u
#define SAMPLES_MOST (1u << NUMBER_BITS)

/* Sorted by three digits: by the stretch of 4 GiB of a space, as a hash, and the line of the caches
 * in it.  Stretches of one hash may mix; nothing depends on that. */
#define DIGIT_BITS   11u
#define LINE_BITS    6u
#define STRETCH_BITS 32u
#define KEY_BITS     (3u * DIGIT_BITS)
#define DIGITS       (1u << DIGIT_BITS)

struct tally_flat_sample {
	uint64_t addr, period;
	uint32_t samples : 29;
	uint32_t cpumode : 3;
	uint32_t root, view, event;
};

struct tally_flat_view {
	const struct tally_space *space;
	uint64_t time, offset;
	uint32_t era, kernel_era;
};

void tally_flat_done(struct tally_flat *flat)
{
	free(flat->samples);
	free(flat->views);
	free(flat->order);
	free(flat->spare);
	*flat = (struct tally_flat){0};
}

static uint64_t key_of(const struct tally_flat_sample *sample, const struct tally_flat_view *view)
{
	uint64_t era = sample->cpumode == PERF_RECORD_MISC_KERNEL ? view->kernel_era : view->era;
	uint64_t stretch = hash_u64(era << 32 | sample->addr >> STRETCH_BITS);
	uint64_t line = (sample->addr & ((1ull << STRETCH_BITS) - 1)) >> LINE_BITS;

	return (stretch << (STRETCH_BITS - LINE_BITS) | line) & ((1ull << KEY_BITS) - 1);
}

/* Sorts flat->order by its keys. */
static void sort(struct tally_flat *flat)
{
	uint64_t varying = 0, first = flat->order[0];

	for (uint32_t i = 1; i < flat->count; i++)
		varying |= flat->order[i] ^ first;
	varying &= ~0ull << NUMBER_BITS;
	while (varying) {
		unsigned shift = (unsigned)__builtin_ctzll(varying);
		uint32_t starts[DIGITS] = {0}, at = 0;
		uint64_t *swapped = flat->order;

		for (uint32_t i = 0; i < flat->count; i++)
			starts[flat->order[i] >> shift & (DIGITS - 1)]++;
		for (uint32_t i = 0; i < DIGITS; i++) {
			uint32_t here = starts[i];

			starts[i] = at;
			at += here;
		}
		for (uint32_t i = 0; i < flat->count; i++)
			flat->spare[starts[flat->order[i] >> shift & (DIGITS - 1)]++] =
			    flat->order[i];
		flat->order = flat->spare;
		flat->spare = swapped;
		varying &= shift + DIGIT_BITS < 64 ? ~0ull << (shift + DIGIT_BITS) : 0;
	}
}

static const struct tally_flat_sample *sample_at(const struct tally_flat *flat, uint32_t place)
{
	return &flat->samples[flat->order[place] & (SAMPLES_MOST - 1)];
}

/* Samples one after another of one place, whose steps to their nodes wait together. */
struct run {
	uint64_t period, samples;
	uint32_t root, frame, event;
};
#define RUNS 32u

struct runs {
	uint32_t count;
	struct run at[RUNS];
};

static int take_runs(struct tally_gather *gather, struct runs *runs)
{
	struct tally_calls *calls = &gather->calls;

	for (uint32_t i = 0; i < runs->count; i++)
		calls_fetch_node(calls, runs->at[i].root, runs->at[i].frame);
	for (uint32_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->at[i];
		struct tally_gather_sum *sum = &gather->sums[run->event];
		uint32_t node = tally_calls_step(calls, run->root, run->frame);

		if (!node)
			return -ENOMEM;
		calls->sums[node].self += run->period;
		calls->sums[node].samples += run->samples;
		sum->passed += run->samples;
		sum->passed_total += run->period;
	}
	runs->count = 0;
	return 0;
}

/* Takes a sample, its frame being known; 0, -ENOMEM. */
static int take(struct tally_gather *gather, struct runs *runs,
		const struct tally_flat_sample *sample, uint32_t frame)
{
	struct run *last = runs->count ? &runs->at[runs->count - 1] : NULL;
	int passed = tally_filter_frame(&gather->filter, frame);

	if (passed <= 0)
		return passed;
	if (gather->plan->spots && tally_gather_note(gather, sample->addr, frame))
		return -ENOMEM;
	if (last && last->frame == frame && last->root == sample->root) { /* so is the event */
		last->period += sample->period;
		last->samples += sample->samples;
		return 0;
	}
	if (runs->count == RUNS && take_runs(gather, runs))
		return -ENOMEM;
	calls_fetch_slot(&gather->calls, sample->root, frame);
	runs->at[runs->count++] = (struct run){
	    .period = sample->period,
	    .samples = sample->samples,
	    .root = sample->root,
	    .frame = frame,
	    .event = sample->event,
	};
	return 0;
}

/* What is looked at so many samples later is fetched. */
#define AHEAD 8u

int tally_flat_settle(struct tally_gather *gather, struct tally_resolver *resolver)
{
	struct tally_flat *flat = &gather->flat;
	struct tally_resolved seen = {0};
	struct runs runs = {.count = 0};
	uint32_t last_view = UINT32_MAX;
	int result = 0;

	if (!flat->count)
		return 0;
	for (uint32_t i = 0; i < flat->count; i++)
		flat->order[i] = key_of(&flat->samples[i], &flat->views[flat->samples[i].view])
				     << NUMBER_BITS |
				 i;
	sort(flat);
	for (uint32_t i = 0; i < flat->count && !result; i++) {
		const struct tally_flat_sample *sample = sample_at(flat, i);
		uint32_t frame;

		if (i + AHEAD < flat->count)
			__builtin_prefetch(sample_at(flat, i + AHEAD));
		if (sample->view != last_view) {
			const struct tally_flat_view *view = &flat->views[sample->view];

			seen.sample.time = view->time;
			seen.offset = view->offset;
			seen.space = view->space;
			seen.era = view->era;
			seen.kernel_era = view->kernel_era;
			last_view = sample->view;
		}
		frame = tally_resolver_near(resolver, &seen, sample->cpumode, sample->addr);
		result = frame ? take(gather, &runs, sample, frame) : -ENOMEM;
	}
	if (!result)
		result = take_runs(gather, &runs);
	flat->count = flat->view_count = 0;
	return result;
}

static int make_room(struct tally_flat *flat)
{
	if (!flat->samples) {
		flat->samples = malloc(SAMPLES_MOST * sizeof(*flat->samples));
		flat->order = malloc(SAMPLES_MOST * sizeof(*flat->order));
		flat->spare = malloc(SAMPLES_MOST * sizeof(*flat->spare));
	}
	if (!flat->samples || !flat->order || !flat->spare)
		return -ENOMEM;
	if (flat->view_count == flat->view_room) {
		uint32_t room = flat->view_room ? flat->view_room * 2 : 64;

		if (!array_resize(&flat->views, room, sizeof(*flat->views)))
			return -ENOMEM;
		flat->view_room = room;
	}
	return 0;
}

int tally_flat_add(struct tally_gather *gather, struct tally_resolver *resolver,
		   const struct tally_resolved *sample, uint32_t root, uint64_t period)
{
	struct tally_flat *flat = &gather->flat;
	const struct tally_flat_view *last;
	int result = make_room(flat);

	if (result)
		return result;
	last = flat->view_count ? &flat->views[flat->view_count - 1] : NULL;
	if (!last || last->era != sample->era || last->kernel_era != sample->kernel_era ||
	    last->space != sample->space)
		flat->views[flat->view_count++] = (struct tally_flat_view){
		    .space = sample->space,
		    .time = sample->sample.time,
		    .offset = sample->offset,
		    .era = sample->era,
		    .kernel_era = sample->kernel_era,
		};
	flat->samples[flat->count++] = (struct tally_flat_sample){
	    .addr = sample->sample.ip,
	    .period = period,
	    .samples = (uint32_t)(1 + sample->more) & ((1u << 29) - 1),
	    .cpumode = (uint32_t)sample->cpumode & 7u,
	    .root = root,
	    .view = flat->view_count - 1,
	    .event = sample->event,
	};
	return flat->count == SAMPLES_MOST ? tally_flat_settle(gather, resolver) : 0;
}
