#include "profile/flat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "profile/gather.h"

#define SAMPLES_MOST (16u << 10)
#define VIEWS_MOST   (1u << 12)

/* One sample: its address, less the upper bits that its view has, and the view's number; its
 * period, how many samples it stands for, and the stretch of 4 GiB of a space that it is in, as a
 * hash. */
struct tally_flat_sample {
	uint64_t place, amount;
};
#define PLACE_BITS  48u
#define PERIOD_BITS 40u
#define COUNT_BITS  17u
#define PLACE_MASK  ((1ull << PLACE_BITS) - 1)
#define PERIOD_MASK ((1ull << PERIOD_BITS) - 1)
#define COUNT_MASK  ((1ull << COUNT_BITS) - 1)

/* What many samples have in common that come one after another. */
struct tally_flat_view {
	const struct tally_space *space;
	uint64_t time, offset;
	uint32_t era, kernel_era, root, event;
	uint32_t own_era; /* the one of the two that its addresses go by */
	uint16_t addr_top;
	uint8_t cpumode;
};

void tally_flat_done(struct tally_flat *flat)
{
	free(flat->samples);
	free(flat->spare);
	free(flat->views);
	*flat = (struct tally_flat){0};
}

static const struct tally_flat_view *view_of(const struct tally_flat *flat,
					     const struct tally_flat_sample *sample)
{
	return &flat->views[sample->place >> PLACE_BITS];
}

/* Sorted by the line of the caches in a stretch, and by the stretch.  Stretches of one hash may
 * mix; nothing depends on that. */
#define DIGIT_BITS   11u
#define DIGITS       (1u << DIGIT_BITS)
#define LINE_BITS    6u
#define STRETCH_BITS 32u
#define STRETCH_AT   (PERIOD_BITS + COUNT_BITS)

static inline uint32_t digit_of(const struct tally_flat_sample *sample, unsigned which)
{
	unsigned shift = LINE_BITS + which * DIGIT_BITS;
	uint32_t line = (uint32_t)sample->place >> shift;

	if (which == 2)
		line |= (uint32_t)(sample->amount >> STRETCH_AT) << (STRETCH_BITS - shift);
	return line & (DIGITS - 1);
}

static inline void sort_digit(struct tally_flat *flat, uint32_t *counts, unsigned which)
{
	struct tally_flat_sample *from = flat->samples, *to = flat->spare;

	if (counts[digit_of(&from[0], which)] == flat->count)
		return;
	counts_to_starts(counts, DIGITS);
	for (uint32_t i = 0; i < flat->count; i++)
		to[counts[digit_of(&from[i], which)]++] = from[i];
	flat->samples = to;
	flat->spare = from;
}

static void sort(struct tally_flat *flat)
{
	uint32_t counts[3][DIGITS] = {{0}};

	for (uint32_t i = 0; i < flat->count; i++) {
		counts[0][digit_of(&flat->samples[i], 0)]++;
		counts[1][digit_of(&flat->samples[i], 1)]++;
		counts[2][digit_of(&flat->samples[i], 2)]++;
	}
	sort_digit(flat, counts[0], 0);
	sort_digit(flat, counts[1], 1);
	sort_digit(flat, counts[2], 2);
}

/* Samples one after another of one place and root. */
struct run {
	uint64_t period, samples, addr;
	uint32_t root, frame, event;
	uint32_t nameless; /* which of the places, while the frame is TALLY_NEAR_NAMELESS */
};

/* So many wait together for what their look-ups need of the memory. */
#define RUNS 64u

struct runs {
	uint32_t count, nameless_count;
	struct run at[RUNS];
	struct tally_image_place places[RUNS];
	uint32_t nameless[RUNS];
};

/* Keeps those that pass, all with their frames; 0 or -ENOMEM. */
static int settle_frames(struct tally_gather *gather, struct tally_resolver *resolver,
			 struct runs *runs)
{
	uint32_t kept = 0;

	if (runs->nameless_count &&
	    tally_resolver_nameless(resolver, runs->places, runs->nameless_count, runs->nameless))
		return -ENOMEM;
	for (uint32_t i = 0; i < runs->count; i++) {
		struct run run = runs->at[i];

		if (run.frame == TALLY_NEAR_NAMELESS)
			run.frame = runs->nameless[run.nameless];
		if (gather->filters_frames) {
			int passed = tally_filter_frame(&gather->filter, run.frame);

			if (passed < 0)
				return passed;
			if (!passed)
				continue;
		}
		if (gather->plan->spots && tally_gather_note(gather, run.addr, run.frame))
			return -ENOMEM;
		calls_fetch_slot(&gather->calls, run.root, run.frame);
		runs->at[kept++] = run;
	}
	runs->count = kept;
	return 0;
}

static int take_runs(struct tally_gather *gather, struct tally_resolver *resolver,
		     struct runs *runs)
{
	struct tally_calls *calls = &gather->calls;

	if (settle_frames(gather, resolver, runs))
		return -ENOMEM;
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
	runs->count = runs->nameless_count = 0;
	return 0;
}

static uint64_t addr_of(const struct tally_flat_sample *sample, const struct tally_flat_view *view)
{
	return (uint64_t)view->addr_top << PLACE_BITS | (sample->place & PLACE_MASK);
}

/* Where the last sample was, and what tells the resolver of its process. */
struct looking {
	struct tally_near_span span;
	const struct tally_flat_view *view;
	struct tally_resolved seen;
};

static void look_up(struct tally_resolver *resolver, struct looking *looking,
		    const struct tally_flat_view *view, uint64_t addr)
{
	if (looking->view != view) {
		looking->seen.sample.time = view->time;
		looking->seen.offset = view->offset;
		looking->seen.space = view->space;
		looking->seen.era = view->era;
		looking->seen.kernel_era = view->kernel_era;
		looking->view = view;
	}
	tally_resolver_near(resolver, &looking->seen, view->cpumode, addr, &looking->span);
}

static bool is_last_place(const struct runs *runs, const struct tally_image_place *place)
{
	const struct tally_image_place *last = &runs->places[runs->nameless_count - 1];

	return last->place == place->place && last->image == place->image;
}

/* Begins a run at that address, in the span. */
static struct run *begin_run(struct runs *runs, const struct tally_near_span *span,
			     const struct tally_flat_view *view, uint64_t addr)
{
	struct run *run = &runs->at[runs->count++];

	if (span->frame == TALLY_NEAR_NAMELESS &&
	    !(runs->nameless_count && is_last_place(runs, &span->place)))
		runs->places[runs->nameless_count++] = span->place;
	*run = (struct run){
	    .addr = addr,
	    .root = view->root,
	    .frame = span->frame,
	    .event = view->event,
	    .nameless = runs->nameless_count - 1,
	};
	return run;
}

static int settle_samples(struct tally_gather *gather, struct tally_resolver *resolver,
			  struct runs *runs)
{
	const struct tally_flat *flat = &gather->flat;
	struct looking looking = {.view = NULL};
	const struct tally_near_span *span = &looking.span;
	bool each = gather->plan->spots; /* a run is one address */

	for (uint32_t i = 0; i < flat->count; i++) {
		const struct tally_flat_sample *sample = &flat->samples[i];
		const struct tally_flat_view *view = view_of(flat, sample);
		uint64_t addr = addr_of(sample, view);
		struct run *run = runs->count ? &runs->at[runs->count - 1] : NULL;

		if (addr - span->from >= span->size || view->own_era != span->era ||
		    view->cpumode != span->cpumode) {
			look_up(resolver, &looking, view, addr);
			if (!span->frame)
				return -ENOMEM;
			run = NULL;
		}
		if (!run || run->root != view->root || (each && run->addr != addr)) {
			if (runs->count == RUNS && take_runs(gather, resolver, runs))
				return -ENOMEM;
			run = begin_run(runs, span, view, addr);
		}
		run->period += sample->amount & PERIOD_MASK;
		run->samples += sample->amount >> PERIOD_BITS & COUNT_MASK;
	}
	return take_runs(gather, resolver, runs);
}

int tally_flat_settle(struct tally_gather *gather, struct tally_resolver *resolver)
{
	struct tally_flat *flat = &gather->flat;
	struct runs runs = {.count = 0};
	int result;

	if (!flat->count)
		return 0;
	sort(flat);
	result = settle_samples(gather, resolver, &runs);
	flat->count = flat->view_count = 0;
	return result;
}

static int make_room(struct tally_flat *flat)
{
	if (!flat->samples) {
		flat->samples = malloc(SAMPLES_MOST * sizeof(*flat->samples));
		flat->spare = malloc(SAMPLES_MOST * sizeof(*flat->spare));
	}
	if (!flat->samples || !flat->spare)
		return -ENOMEM;
	if (flat->view_count == flat->view_room) {
		uint32_t room = flat->view_room ? flat->view_room * 2 : 64;

		if (!array_resize(&flat->views, room, sizeof(*flat->views)))
			return -ENOMEM;
		flat->view_room = room;
	}
	return 0;
}

/* Makes flat->last[mode] the view of such samples of that mode at that address; 0 or -ENOMEM. */
static int find_view(struct tally_flat *flat, const struct tally_resolved *sample, uint32_t root,
		     uint8_t mode, uint64_t ip)
{
	const struct tally_flat_view view = {
	    .space = sample->space,
	    .time = sample->sample.time,
	    .offset = sample->offset,
	    .era = sample->era,
	    .kernel_era = sample->kernel_era,
	    .root = root,
	    .event = sample->event,
	    .own_era = mode == PERF_RECORD_MISC_KERNEL ? sample->kernel_era : sample->era,
	    .addr_top = (uint16_t)(ip >> PLACE_BITS),
	    .cpumode = mode,
	};
	uint32_t *number = &flat->last[mode % FLAT_MODES];
	int result;

	if (*number < flat->view_count) {
		const struct tally_flat_view *last = &flat->views[*number];

		if (last->root == root && last->era == view.era &&
		    last->kernel_era == view.kernel_era && last->space == view.space &&
		    last->addr_top == view.addr_top && last->cpumode == mode)
			return 0;
	}
	result = make_room(flat);
	if (result)
		return result;
	*number = flat->view_count++;
	flat->views[*number] = view;
	return 0;
}

/* One of more than an entry holds. */
static int take_alone(struct tally_gather *gather, struct tally_resolver *resolver,
		      const struct tally_resolved *sample, uint8_t mode, const struct run *one)
{
	struct runs runs = {.count = 1, .at = {*one}};

	runs.at[0].frame = tally_resolver_frame(resolver, sample, mode, one->addr);
	return runs.at[0].frame ? take_runs(gather, resolver, &runs) : -ENOMEM;
}

static inline bool is_full(const struct tally_flat *flat)
{
	return flat->count == SAMPLES_MOST || flat->view_count == VIEWS_MOST;
}

static inline struct tally_flat_sample entry_of(uint64_t ip, uint32_t view, uint32_t own_era,
						uint64_t period, uint64_t samples)
{
	uint64_t stretch = hash_u64((uint64_t)own_era << 32 | ip >> STRETCH_BITS);

	return (struct tally_flat_sample){
	    .place = (ip & PLACE_MASK) | (uint64_t)view << PLACE_BITS,
	    .amount = period | samples << PERIOD_BITS | stretch << STRETCH_AT,
	};
}

int tally_flat_add(struct tally_gather *gather, struct tally_resolver *resolver,
		   const struct tally_resolved *sample, uint32_t root, uint64_t period)
{
	struct tally_flat *flat = &gather->flat;
	uint64_t ip = sample->sample.ip;
	struct run one = {period, 1 + sample->more, ip, .root = root, .event = sample->event};
	uint32_t view;
	int result;

	if (one.period > PERIOD_MASK || one.samples > COUNT_MASK)
		return take_alone(gather, resolver, sample, sample->cpumode, &one);
	result = find_view(flat, sample, root, sample->cpumode, ip);
	if (result)
		return result;
	view = flat->last[sample->cpumode % FLAT_MODES];
	flat->samples[flat->count++] =
	    entry_of(ip, view, flat->views[view].own_era, one.period, one.samples);
	return is_full(flat) ? tally_flat_settle(gather, resolver) : 0;
}

/* The view of a run's samples of one mode, as long as that is the last one. */
struct mode_view {
	uint32_t number, own_era, addr_top; /* the last: that + 1; 0: not found yet */
};

/* Takes samples of the run from *at on until there is room no more, or one that stands alone. */
static int add_some(struct tally_flat *flat, const struct tally_sample_run *run, uint32_t root,
		    uint64_t period, uint32_t *at)
{
	struct mode_view modes[FLAT_MODES] = {{0}};
	uint32_t i = *at, count = flat->count;
	int result = 0;

	for (; i < run->count && count < SAMPLES_MOST; i++) {
		uint64_t ip = run->ips[i], own = period ? period : run->periods[i];
		uint8_t mode = run->cpumodes[i] % FLAT_MODES;
		struct mode_view *view = &modes[mode];

		if (own > PERIOD_MASK)
			break;
		if (view->addr_top != (ip >> PLACE_BITS) + 1) {
			if (flat->view_count == VIEWS_MOST)
				break;
			result = find_view(flat, run->first, root, mode, ip);
			if (result)
				break;
			view->number = flat->last[mode];
			view->own_era = flat->views[view->number].own_era;
			view->addr_top = (uint32_t)(ip >> PLACE_BITS) + 1;
		}
		flat->samples[count++] = entry_of(ip, view->number, view->own_era, own, 1);
	}
	flat->count = count;
	*at = i;
	return result;
}

int tally_flat_add_run(struct tally_gather *gather, struct tally_resolver *resolver,
		       const struct tally_sample_run *run, uint32_t root, uint64_t period)
{
	struct tally_flat *flat = &gather->flat;
	uint32_t i = 0;
	int result = 0;

	while (!result && i < run->count) {
		result = add_some(flat, run, root, period, &i);
		if (!result && is_full(flat)) {
			result = tally_flat_settle(gather, resolver);
		} else if (!result && i < run->count) {
			struct run one = {period ? period : run->periods[i], 1, run->ips[i],
					  .root = root, .event = run->first->event};

			result = take_alone(gather, resolver, run->first, run->cpumodes[i++], &one);
		}
	}
	return result;
}
