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
	uint32_t at = 0;

	if (counts[digit_of(&from[0], which)] == flat->count)
		return;
	for (uint32_t i = 0; i < DIGITS; i++) {
		uint32_t here = counts[i];

		counts[i] = at;
		at += here;
	}
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

/* Samples whose frame is known; 0, -ENOMEM. */
static inline int take(struct tally_gather *gather, struct runs *runs, const struct run *known,
		       uint64_t addr)
{
	struct run *last = runs->count ? &runs->at[runs->count - 1] : NULL;

	if (gather->filters_frames) {
		int passed = tally_filter_frame(&gather->filter, known->frame);

		if (passed <= 0)
			return passed;
	}
	if (gather->plan->spots && tally_gather_note(gather, addr, known->frame))
		return -ENOMEM;
	if (last && last->frame == known->frame && last->root == known->root) {
		last->period += known->period; /* the event is the root's */
		last->samples += known->samples;
		return 0;
	}
	if (runs->count == RUNS && take_runs(gather, runs))
		return -ENOMEM;
	calls_fetch_slot(&gather->calls, known->root, known->frame);
	runs->at[runs->count++] = *known;
	return 0;
}

static uint64_t addr_of(const struct tally_flat_sample *sample, const struct tally_flat_view *view)
{
	return (uint64_t)view->addr_top << PLACE_BITS | (sample->place & PLACE_MASK);
}

/* So many samples are looked up together: those without a symbol wait for each other. */
#define BLOCK 64u

struct block {
	uint32_t frames[BLOCK];
	uint8_t waiting[BLOCK]; /* by sample: which of the nameless, if it is one */
	struct tally_image_place places[BLOCK];
	uint32_t nameless[BLOCK];
	uint32_t nameless_count;
};

/* Where the last samples were, and what tells the resolver of their process. */
struct looking {
	struct tally_near_span span;
	const struct tally_flat_view *view;
	struct tally_resolved seen;
};

static uint32_t look_up(struct tally_resolver *resolver, struct looking *looking,
			const struct tally_flat_view *view, uint64_t addr, struct block *block)
{
	struct tally_image_place *place = &block->places[block->nameless_count];

	if (looking->view != view) {
		looking->seen.sample.time = view->time;
		looking->seen.offset = view->offset;
		looking->seen.space = view->space;
		looking->seen.era = view->era;
		looking->seen.kernel_era = view->kernel_era;
		looking->view = view;
	}
	tally_resolver_near(resolver, &looking->seen, view->cpumode, addr, &looking->span);
	if (looking->span.frame == TALLY_NEAR_NAMELESS) {
		looking->span.size = 0; /* it waits in this block, and once */
		*place = looking->span.place;
		if (!block->nameless_count || place->place != place[-1].place ||
		    place->image != place[-1].image)
			block->nameless_count++;
	}
	return looking->span.frame;
}

static int settle_block(struct tally_gather *gather, struct tally_resolver *resolver,
			struct runs *runs, struct looking *looking, uint32_t first, uint32_t count)
{
	const struct tally_flat *flat = &gather->flat;
	const struct tally_flat_sample *samples = flat->samples + first;
	struct block block;
	int result = 0;

	block.nameless_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tally_flat_view *view = view_of(flat, &samples[i]);
		uint64_t addr = addr_of(&samples[i], view);
		const struct tally_near_span *span = &looking->span;

		if (addr - span->from < span->size && view->own_era == span->era &&
		    view->cpumode == span->cpumode)
			block.frames[i] = span->frame;
		else
			block.frames[i] = look_up(resolver, looking, view, addr, &block);
		if (!block.frames[i])
			return -ENOMEM;
		block.waiting[i] = (uint8_t)(block.nameless_count - 1);
	}
	if (block.nameless_count)
		result = tally_resolver_nameless(resolver, block.places, block.nameless_count,
						 block.nameless);
	for (uint32_t i = 0; i < count && !result; i++) {
		const struct tally_flat_view *view = view_of(flat, &samples[i]);
		uint32_t frame = block.frames[i];
		const struct run known = {
		    .period = samples[i].amount & PERIOD_MASK,
		    .samples = samples[i].amount >> PERIOD_BITS & COUNT_MASK,
		    .root = view->root,
		    .frame =
			frame == TALLY_NEAR_NAMELESS ? block.nameless[block.waiting[i]] : frame,
		    .event = view->event,
		};

		result = take(gather, runs, &known, addr_of(&samples[i], view));
	}
	return result;
}

int tally_flat_settle(struct tally_gather *gather, struct tally_resolver *resolver)
{
	struct tally_flat *flat = &gather->flat;
	struct looking looking = {.view = NULL};
	struct runs runs;
	int result = 0;

	if (!flat->count)
		return 0;
	runs.count = 0;
	sort(flat);
	for (uint32_t i = 0; i < flat->count && !result; i += BLOCK)
		result = settle_block(gather, resolver, &runs, &looking, i,
				      flat->count - i < BLOCK ? flat->count - i : BLOCK);
	if (!result)
		result = take_runs(gather, &runs);
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
		      const struct tally_resolved *sample, uint8_t mode, struct run *one,
		      uint64_t ip)
{
	struct runs runs = {.count = 0};

	one->frame = tally_resolver_frame(resolver, sample, mode, ip);
	if (!one->frame || take(gather, &runs, one, ip))
		return -ENOMEM;
	return take_runs(gather, &runs);
}

static inline bool is_full(const struct tally_flat *flat)
{
	return flat->count == SAMPLES_MOST || flat->view_count == VIEWS_MOST;
}

/* One of the last view of the mode; there is room. */
static inline void put(struct tally_flat *flat, uint8_t mode, uint64_t ip, uint64_t period,
		       uint64_t samples)
{
	uint64_t number = flat->last[mode % FLAT_MODES];
	uint64_t stretch =
	    hash_u64((uint64_t)flat->views[number].own_era << 32 | ip >> STRETCH_BITS);

	flat->samples[flat->count++] = (struct tally_flat_sample){
	    .place = (ip & PLACE_MASK) | number << PLACE_BITS,
	    .amount = period | samples << PERIOD_BITS | stretch << STRETCH_AT,
	};
}

int tally_flat_add(struct tally_gather *gather, struct tally_resolver *resolver,
		   const struct tally_resolved *sample, uint32_t root, uint64_t period)
{
	struct tally_flat *flat = &gather->flat;
	uint64_t ip = sample->sample.ip;
	struct run one = {period, 1 + sample->more, .root = root, .event = sample->event};
	int result;

	if (one.period > PERIOD_MASK || one.samples > COUNT_MASK)
		return take_alone(gather, resolver, sample, sample->cpumode, &one, ip);
	result = find_view(flat, sample, root, sample->cpumode, ip);
	if (result)
		return result;
	put(flat, sample->cpumode, ip, one.period, one.samples);
	return is_full(flat) ? tally_flat_settle(gather, resolver) : 0;
}

int tally_flat_add_run(struct tally_gather *gather, struct tally_resolver *resolver,
		       const struct tally_sample_run *run, uint32_t root, uint64_t period)
{
	struct tally_flat *flat = &gather->flat;
	uint32_t found = 0; /* a bit for each mode whose last view is this run's */
	int result = 0;

	for (uint32_t i = 0; i < run->count && !result; i++) {
		uint64_t ip = run->ips[i], own = period ? period : run->periods[i];
		uint8_t mode = run->cpumodes[i] % FLAT_MODES;

		if (own > PERIOD_MASK) {
			struct run one = {own, 1, .root = root, .event = run->first->event};

			result = take_alone(gather, resolver, run->first, mode, &one, ip);
			continue;
		}
		if (!(found >> mode & 1) ||
		    flat->views[flat->last[mode]].addr_top != ip >> PLACE_BITS) {
			result = find_view(flat, run->first, root, mode, ip);
			if (result)
				break;
			found |= 1u << mode;
		}
		put(flat, mode, ip, own, 1);
		if (is_full(flat)) {
			result = tally_flat_settle(gather, resolver);
			found = 0;
		}
	}
	return result;
}
