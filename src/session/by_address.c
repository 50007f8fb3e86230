#include "session/by_address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "resolve/locate.h"
#include "session/row_maker.h"

#define SAMPLES_MOST (16u << 10)
#define VIEWS_MOST   (1u << 12)

/* One sample: its address, less the upper bits that its view has, and the view's number; its
 * period, how many samples it stands for, and the 4 GiB of a space that it is in, as a hash. */
struct by_address_sample {
	uint64_t place, amount;
};
#define PLACE_BITS  48u
#define PERIOD_BITS 40u
#define COUNT_BITS  17u
#define PLACE_MASK  ((1ull << PLACE_BITS) - 1)
#define PERIOD_MASK ((1ull << PERIOD_BITS) - 1)
#define COUNT_MASK  ((1ull << COUNT_BITS) - 1)

/* What many samples have in common that come one after another. */
struct by_address_view {
	const struct tally_space *space;
	uint64_t time, offset;
	uint32_t era, kernel_era, event, thread, cpu;
	uint32_t own_era; /* the one of the two that its addresses go by */
	uint16_t addr_top;
	uint8_t cpumode;
};

void tally_by_address_done(struct tally_by_address *waiting)
{
	free(waiting->samples);
	free(waiting->spare);
	free(waiting->counts);
	free(waiting->views);
	*waiting = (struct tally_by_address){0};
}

static const struct by_address_view *view_of(const struct tally_by_address *waiting,
					     const struct by_address_sample *sample)
{
	return &waiting->views[sample->place >> PLACE_BITS];
}

/* Sorted by the line of the caches in 4 GiB, and by the 4 GiB.  Those of one hash may mix; nothing
 * depends on that. */
#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)
#define LINE_BITS  6u
#define SPACE_BITS 32u
#define SPACE_AT   (PERIOD_BITS + COUNT_BITS)

static inline uint32_t digit_of(const struct by_address_sample *sample, unsigned which)
{
	unsigned shift = LINE_BITS + which * DIGIT_BITS;
	uint32_t line = (uint32_t)sample->place >> shift;

	if (which == 2)
		line |= (uint32_t)(sample->amount >> SPACE_AT) << (SPACE_BITS - shift);
	return line & (DIGITS - 1);
}

static inline void sort_digit(struct tally_by_address *waiting, uint32_t *counts, unsigned which)
{
	struct by_address_sample *from = waiting->samples, *to = waiting->spare;

	if (counts[digit_of(&from[0], which)] == waiting->count)
		return;
	counts_to_starts(counts, DIGITS);
	for (uint32_t i = 0; i < waiting->count; i++)
		to[counts[digit_of(&from[i], which)]++] = from[i];
	waiting->samples = to;
	waiting->spare = from;
}

static void sort(struct tally_by_address *waiting)
{
	uint32_t *counts[] = {waiting->counts, waiting->counts + DIGITS,
			      waiting->counts + 2 * (size_t)DIGITS};

	memset(waiting->counts, 0, 3 * DIGITS * sizeof(*waiting->counts));
	for (uint32_t i = 0; i < waiting->count; i++) {
		counts[0][digit_of(&waiting->samples[i], 0)]++;
		counts[1][digit_of(&waiting->samples[i], 1)]++;
		counts[2][digit_of(&waiting->samples[i], 2)]++;
	}
	sort_digit(waiting, counts[0], 0);
	sort_digit(waiting, counts[1], 1);
	sort_digit(waiting, counts[2], 2);
}

/* So many rows wait together for the frames of places without a symbol. */
#define ROWS 64u

struct rows {
	uint32_t count, nameless_count;
	struct by_address_row at[ROWS];
	struct tally_image_place places[ROWS];
	uint32_t nameless[ROWS];
};

static int put_rows(struct row_maker *maker, struct rows *rows)
{
	int result = 0;

	if (rows->nameless_count && tally_resolver_nameless(maker->resolver, rows->places,
							    rows->nameless_count, rows->nameless))
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->count && !result; i++) {
		struct by_address_row *row = &rows->at[i];

		if (row->frame == TALLY_FRAME_NAMELESS)
			row->frame = rows->nameless[row->nameless];
		result = row_maker_put(maker, row);
	}
	rows->count = rows->nameless_count = 0;
	return result;
}

static uint64_t addr_of(const struct by_address_sample *sample, const struct by_address_view *view)
{
	return (uint64_t)view->addr_top << PLACE_BITS | (sample->place & PLACE_MASK);
}

/* Where the last sample was, and its process. */
struct looking {
	struct tally_address_range span;
	const struct by_address_view *view;
	struct tally_resolved seen;
};

static void look_up(struct tally_resolver *resolver, struct looking *looking,
		    const struct by_address_view *view, uint64_t addr)
{
	if (looking->view != view) {
		looking->seen.sample.time = view->time;
		looking->seen.offset = view->offset;
		looking->seen.space = view->space;
		looking->seen.era = view->era;
		looking->seen.kernel_era = view->kernel_era;
		looking->view = view;
	}
	tally_resolver_range(resolver, &looking->seen, view->cpumode, addr, &looking->span);
}

static bool is_last_place(const struct rows *rows, const struct tally_image_place *place)
{
	const struct tally_image_place *last = &rows->places[rows->nameless_count - 1];

	return last->place == place->place && last->image == place->image;
}

/* Begins a row at that address, in the span. */
static struct by_address_row *begin_row(struct rows *rows, const struct tally_address_range *span,
					const struct by_address_view *view, uint64_t addr)
{
	struct by_address_row *row = &rows->at[rows->count++];

	if (span->frame == TALLY_FRAME_NAMELESS &&
	    !(rows->nameless_count && is_last_place(rows, &span->place)))
		rows->places[rows->nameless_count++] = span->place;
	*row = (struct by_address_row){
	    .addr = addr,
	    .event = view->event,
	    .thread = view->thread,
	    .cpu = view->cpu,
	    .frame = span->frame,
	    .nameless = rows->nameless_count - 1,
	};
	return row;
}

/* The address in its image. */
static int find_place(struct row_maker *maker, const struct looking *looking, uint64_t addr,
		      struct by_address_row *row)
{
	struct tally_located located = {.place = addr - looking->span.less};
	int result = 0;

	if (!looking->span.placed)
		result = tally_resolver_locate(maker->resolver, &looking->seen,
					       looking->view->cpumode, addr, &located);
	row->place = located.place;
	return result;
}

static bool belongs(const struct by_address_row *row, const struct by_address_view *view)
{
	return row->thread == view->thread && row->event == view->event && row->cpu == view->cpu;
}

static int make_rows(struct row_maker *maker, struct rows *rows)
{
	const struct tally_by_address *waiting = &maker->by_address;
	struct looking looking = {.view = NULL};
	const struct tally_address_range *span = &looking.span;
	bool each = maker->ip || maker->place; /* a row is one address */

	for (uint32_t i = 0; i < waiting->count; i++) {
		const struct by_address_sample *sample = &waiting->samples[i];
		const struct by_address_view *view = view_of(waiting, sample);
		uint64_t addr = addr_of(sample, view);
		struct by_address_row *row = rows->count ? &rows->at[rows->count - 1] : NULL;

		if (addr - span->from >= span->size || view->own_era != span->era ||
		    view->cpumode != span->cpumode) {
			look_up(maker->resolver, &looking, view, addr);
			if (!span->frame)
				return -ENOMEM;
			row = NULL;
		}
		if (!row || !belongs(row, view) || (each && row->addr != addr)) {
			int result = rows->count == ROWS ? put_rows(maker, rows) : 0;

			if (result)
				return result;
			row = begin_row(rows, span, view, addr);
			if (maker->place && find_place(maker, &looking, addr, row))
				return -ENOMEM;
		}
		row->period += sample->amount & PERIOD_MASK;
		row->samples += (uint32_t)(sample->amount >> PERIOD_BITS & COUNT_MASK);
	}
	return put_rows(maker, rows);
}

int tally_by_address_flush(struct row_maker *maker)
{
	struct tally_by_address *waiting = &maker->by_address;
	struct rows rows = {.count = 0};
	int result;

	if (!waiting->count)
		return 0;
	sort(waiting);
	result = make_rows(maker, &rows);
	waiting->count = waiting->view_count = 0;
	return result;
}

static int make_room(struct tally_by_address *waiting)
{
	if (!waiting->samples) {
		waiting->samples = malloc(SAMPLES_MOST * sizeof(*waiting->samples));
		waiting->spare = malloc(SAMPLES_MOST * sizeof(*waiting->spare));
		waiting->counts = malloc(3 * DIGITS * sizeof(*waiting->counts));
	}
	if (!waiting->samples || !waiting->spare || !waiting->counts)
		return -ENOMEM;
	return array_reach(&waiting->views, &waiting->view_room, waiting->view_count, 64,
			   sizeof(*waiting->views))
		   ? 0
		   : -ENOMEM;
}

/* Makes waiting->last[mode] the view of such samples of that mode at that address; 0 or -ENOMEM. */
static int new_view(struct tally_by_address *waiting, const struct tally_resolved *sample,
		    uint32_t cpu)
{
	uint8_t mode = sample->cpumode;
	int result = make_room(waiting);

	if (result)
		return result;
	waiting->last[mode % BY_ADDRESS_MODES] = waiting->view_count;
	waiting->views[waiting->view_count++] = (struct by_address_view){
	    .space = sample->space,
	    .time = sample->sample.time,
	    .offset = sample->offset,
	    .era = sample->era,
	    .kernel_era = sample->kernel_era,
	    .event = sample->event,
	    .thread = sample->thread,
	    .cpu = cpu,
	    .own_era = mode == PERF_RECORD_MISC_KERNEL ? sample->kernel_era : sample->era,
	    .addr_top = (uint16_t)(sample->sample.ip >> PLACE_BITS),
	    .cpumode = mode,
	};
	return 0;
}

static inline int find_view(struct tally_by_address *waiting, const struct tally_resolved *sample,
			    uint32_t cpu)
{
	uint32_t number = waiting->last[sample->cpumode % BY_ADDRESS_MODES];
	const struct by_address_view *last;

	if (number >= waiting->view_count)
		return new_view(waiting, sample, cpu);
	last = &waiting->views[number];
	if (__builtin_expect(last->thread == sample->thread && last->event == sample->event &&
				 last->cpu == cpu && last->era == sample->era &&
				 last->kernel_era == sample->kernel_era &&
				 last->addr_top == (uint16_t)(sample->sample.ip >> PLACE_BITS) &&
				 last->cpumode == sample->cpumode,
			     1))
		return 0;
	return new_view(waiting, sample, cpu);
}

/* The column of processors, when it is asked for. */
static uint32_t cpu_of(const struct row_maker *maker, const struct tally_resolved *sample)
{
	if (!maker->cpu)
		return 0;
	return sample->sample.present & PERF_SAMPLE_CPU ? sample->sample.cpu : UINT32_MAX;
}

/* One of more than an entry holds. */
static int put_alone(struct row_maker *maker, const struct tally_resolved *sample,
		     struct by_address_row *row)
{
	struct tally_located located = {0};

	row->event = sample->event;
	row->thread = sample->thread;
	row->cpu = cpu_of(maker, sample);
	row->frame = tally_resolver_frame(maker->resolver, sample, sample->cpumode, row->addr);
	if (!row->frame ||
	    (maker->place &&
	     tally_resolver_locate(maker->resolver, sample, sample->cpumode, row->addr, &located)))
		return -ENOMEM;
	row->place = located.place;
	return row_maker_put(maker, row);
}

static inline bool is_full(const struct tally_by_address *waiting)
{
	return waiting->count == SAMPLES_MOST || waiting->view_count == VIEWS_MOST;
}

static inline struct by_address_sample entry_of(uint64_t ip, uint32_t view, uint32_t own_era,
						uint64_t period, uint64_t samples)
{
	uint64_t space = hash_u64((uint64_t)own_era << 32 | ip >> SPACE_BITS);

	return (struct by_address_sample){
	    .place = (ip & PLACE_MASK) | (uint64_t)view << PLACE_BITS,
	    .amount = period | samples << PERIOD_BITS | space << SPACE_AT,
	};
}

int tally_by_address_add(struct row_maker *maker, const struct tally_resolved *sample,
			 uint64_t period)
{
	struct tally_by_address *waiting = &maker->by_address;
	uint64_t ip = sample->sample.ip, samples = 1 + sample->more;
	uint32_t view;
	int result;

	if (period > PERIOD_MASK || samples > COUNT_MASK) {
		struct by_address_row row = {
		    .period = period, .samples = (uint32_t)samples, .addr = ip};

		return put_alone(maker, sample, &row);
	}
	result = find_view(waiting, sample, cpu_of(maker, sample));
	if (result)
		return result;
	view = waiting->last[sample->cpumode % BY_ADDRESS_MODES];
	waiting->samples[waiting->count++] =
	    entry_of(ip, view, waiting->views[view].own_era, period, samples);
	return is_full(waiting) ? tally_by_address_flush(maker) : 0;
}
