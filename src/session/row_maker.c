#include "session/row_maker.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bits.h"
#include "session/batch_sample.h"
#include "session/moves.h"
#include "session/session.h"

/* Chains repeat: a loop is sampled at the same place again.  The last chain of each hash is kept
 * with where it led.  Two different chains of one 64-bit hash would be taken for the same; that
 * happens by chance once in some ten thousand million recordings. */
struct row_seen {
	uint64_t hash; /* 0: nothing yet */
	uint32_t stack, frame;
};
#define SEEN_LEAST  (1u << 14)
#define SEEN_MOST   (1u << 20)
#define SEEN_MISSES 3 /* of each slot, before there are more */

/* Places that were looked up lately, of addresses under their eras. */
struct row_place {
	uint64_t addr, place;
	uint32_t era; /* + 1; 0: nothing yet */
};
#define PLACES_BITS 12
#define PLACES      (1u << PLACES_BITS)

/* The array of a column, when it is asked for; false: out of memory. */
static bool column(const struct row_plan *plan, uint64_t which, size_t size, void *column)
{
	return !(plan->columns & which) || array_resize(column, ROWS_MOST, size);
}

static bool make_columns(struct row_maker *maker)
{
	const struct row_plan *plan = maker->plan;
	bool made = array_resize(&maker->event, ROWS_MOST, sizeof(*maker->event));

	made &= column(plan, TALLY_COLUMN_TIME, sizeof(*maker->time), &maker->time);
	made &= column(plan, TALLY_COLUMN_CPU, sizeof(*maker->cpu), &maker->cpu);
	made &= column(plan, TALLY_COLUMN_THREAD, sizeof(*maker->thread), &maker->thread);
	made &= column(plan, TALLY_COLUMN_IP, sizeof(*maker->ip), &maker->ip);
	made &= column(plan, TALLY_COLUMN_FRAME, sizeof(*maker->frame), &maker->frame);
	made &= column(plan, TALLY_COLUMN_STACK, sizeof(*maker->stack), &maker->stack);
	made &= column(plan, TALLY_COLUMN_PERIOD, sizeof(*maker->period), &maker->period);
	made &= column(plan, TALLY_COLUMN_ADDR, sizeof(*maker->addr), &maker->addr);
	made &= column(plan, TALLY_COLUMN_WEIGHT, sizeof(*maker->weight), &maker->weight);
	made &= column(plan, TALLY_COLUMN_DATA_SRC, sizeof(*maker->data_src), &maker->data_src);
	made &= column(plan, TALLY_COLUMN_OFFSET, sizeof(*maker->offset), &maker->offset);
	made &= column(plan, TALLY_COLUMN_COUNT, sizeof(*maker->samples), &maker->samples);
	made &= column(plan, TALLY_COLUMN_LINE, sizeof(*maker->line), &maker->line);
	made &= column(plan, TALLY_COLUMN_FILE, sizeof(*maker->file), &maker->file);
	made &= column(plan, TALLY_COLUMN_PLACE, sizeof(*maker->place), &maker->place);
	if (plan->columns & TALLY_COLUMN_PLACE) {
		maker->places = table_new(PLACES, sizeof(*maker->places));
		made &= maker->places != NULL;
	}
	return made;
}

int tally_row_maker_init(struct row_maker *maker, const struct row_plan *plan, unsigned worker,
			 struct tally_resolver *resolver)
{
	bool made;

	*maker = (struct row_maker){.plan = plan, .worker = worker, .resolver = resolver};
	made = make_columns(maker);
	if (plan->columns & TALLY_COLUMN_STACK) {
		maker->seen = table_new(SEEN_LEAST, sizeof(*maker->seen));
		maker->seen_room = SEEN_LEAST;
		made &= maker->seen != NULL;
	}
	maker->left_out = calloc(plan->session->source.event_count + 1, sizeof(*maker->left_out));
	made &= maker->left_out != NULL;
	if (plan->columns & TALLY_COLUMN_SAMPLE) {
		maker->rows = tally_batch_rows_new(plan->session->source.data, ROWS_MOST);
		made &= maker->rows != NULL;
	}
	if (!made) {
		tally_row_maker_done(maker);
		return -ENOMEM;
	}
	maker->batch = (struct tally_batch){
	    .size = sizeof(maker->batch),
	    .event = maker->event,
	    .time = maker->time,
	    .cpu = maker->cpu,
	    .thread = maker->thread,
	    .ip = maker->ip,
	    .frame = maker->frame,
	    .stack = maker->stack,
	    .period = maker->period,
	    .addr = maker->addr,
	    .weight = maker->weight,
	    .data_src = maker->data_src,
	    .offset = maker->offset,
	    .samples = maker->samples,
	    .rows = maker->rows,
	    .line = maker->line,
	    .file = maker->file,
	    .place = maker->place,
	};
	return 0;
}

void tally_row_maker_done(struct row_maker *maker)
{
	free(maker->event);
	free(maker->time);
	free(maker->cpu);
	free(maker->thread);
	free(maker->ip);
	free(maker->frame);
	free(maker->stack);
	free(maker->period);
	free(maker->addr);
	free(maker->weight);
	free(maker->data_src);
	free(maker->offset);
	free(maker->samples);
	free(maker->line);
	free(maker->file);
	free(maker->place);
	free(maker->places);
	tally_batch_rows_free(maker->rows);
	tally_by_address_done(&maker->by_address);
	free(maker->seen);
	free(maker->path);
	free(maker->left_out);
	tally_map_done(&maker->counters);
	*maker = (struct row_maker){.plan = maker->plan};
}

void tally_row_maker_forget(struct row_maker *maker)
{
	if (maker->seen)
		memset(maker->seen, 0, maker->seen_room * sizeof(*maker->seen));
	if (maker->places)
		memset(maker->places, 0, PLACES * sizeof(*maker->places));
}

int tally_row_maker_emit(struct row_maker *maker)
{
	const struct row_plan *plan = maker->plan;
	int result = 0;

	for (size_t i = 0; i < plan->sink_count && result >= 0 && maker->batch.count; i++)
		result = plan->sinks[i].batch(plan->sinks[i].context, maker->worker, &maker->batch);
	maker->batch.count = 0;
	return result < 0 ? result : 0;
}

static uint64_t samples_of(const struct tally_resolved *sample)
{
	return 1 + sample->more;
}

static uint64_t period_of(const struct row_plan *plan, const struct tally_resolved *sample)
{
	return sample->sample.present & PERF_SAMPLE_PERIOD
		   ? sample->sample.period
		   : plan->periods[sample->event] * samples_of(sample);
}

/* With the address, whose frame is the innermost of the stack. */
static uint64_t chain_hash(const struct tally_resolved *sample)
{
	return resolved_chain_hash(sample, sample->sample.ip ^ (uint64_t)sample->cpumode << 56);
}

static uint64_t branches_hash(const struct tally_sample *fields)
{
	uint64_t hash = fields->branch_nr;

	for (uint64_t i = 0; i < fields->branch_nr; i++) {
		hash = hash_mix(hash, fields->branches[i].from);
		hash = hash_mix(hash, fields->branches[i].to);
		hash = hash_mix(hash, fields->branches[i].flags);
	}
	return hash;
}

static struct row_seen *seen_slot(const struct row_maker *maker, uint64_t hash)
{
	return &maker->seen[hash & (maker->seen_room - 1)];
}

/* What was seen is not worth moving. */
static void grow_seen(struct row_maker *maker)
{
	struct row_seen *seen;

	if (maker->seen_room >= SEEN_MOST || ++maker->seen_misses < SEEN_MISSES * maker->seen_room)
		return;
	maker->seen_misses = 0;
	seen = table_new((size_t)maker->seen_room * 4, sizeof(*seen));
	if (!seen)
		return; /* the old one still does */
	free(maker->seen);
	maker->seen = seen;
	maker->seen_room *= 4;
}

/* A stack's innermost frames, as many as there may be.  0 or -ENOMEM. */
static int cut_stack(struct row_maker *maker, uint32_t *stack)
{
	struct tally_stacks *stacks = &maker->plan->session->tables.stacks;
	uint32_t most = maker->plan->session->stack_most, at = most, number = *stack;

	if (!maker->path && !array_resize(&maker->path, (size_t)most * 2, sizeof(*maker->path)))
		return -ENOMEM;
	for (; number && at; number = stacks_caller(stacks, number))
		maker->path[--at] = stacks_frame(stacks, number);
	if (!number)
		return 0;
	if (tally_stacks_walk(stacks, &maker->resolver->numbers, 0, maker->path, most,
			      maker->path + most))
		return -ENOMEM;
	*stack = maker->path[most * 2 - 1];
	return 0;
}

/* The stacks of samples that were not seen.  0 or -ENOMEM. */
static int make_stacks(struct row_maker *maker, const struct tally_resolved *const *samples,
		       uint32_t count, uint32_t *ret)
{
	int result = 0;

	if (!maker->plan->session->tables.branch_history)
		return tally_resolver_stacks(maker->resolver, samples, count, ret);
	for (uint32_t i = 0; i < count && !result; i++)
		result = tally_resolver_branch_stack(maker->resolver, samples[i], &ret[i]);
	return result;
}

/* The frame of a sample with that stack, which may be cut; all that is kept.  0 or -ENOMEM. */
static int keep_seen(struct row_maker *maker, const struct tally_resolved *sample,
		     struct row_seen *ret)
{
	const struct tally_session *session = maker->plan->session;
	uint32_t most = session->stack_most, innermost;

	/* perf's --max-stack keeps the innermost; what was unwound is no longer, and other stacks
	 * have no more frames than their chain has words. */
	if (most &&
	    (session->tables.branch_history ||
	     (most < sample->sample.callchain_nr && !sample->unwound)) &&
	    cut_stack(maker, &ret->stack))
		return -ENOMEM;
	innermost = ret->stack ? stacks_frame(&session->tables.stacks, ret->stack) : 0;
	/* Without an address the chain alone says where a sample was. */
	ret->frame =
	    innermost && !(sample->sample.present & PERF_SAMPLE_IP)
		? innermost
		: tally_resolver_frame(maker->resolver, sample, sample->cpumode, sample->sample.ip);
	if (!ret->frame)
		return -ENOMEM;
	grow_seen(maker);
	*seen_slot(maker, ret->hash) = *ret;
	return 0;
}

/* The stacks and frames of samples; the hashes are of their chains, 0 of one without.  0 or
 * -ENOMEM. */
static int find_stacks(struct row_maker *maker, const struct tally_resolved *samples,
		       const uint64_t *hashes, unsigned count, struct row_seen *ret)
{
	const struct tally_resolved *unseen[ROWS_PENDING];
	uint32_t stacks[ROWS_PENDING], unseen_count = 0;
	int result = 0;

	for (unsigned i = 0; i < count; i++) {
		ret[i] = hashes[i] ? *seen_slot(maker, hashes[i]) : (struct row_seen){.hash = 0};
		if (ret[i].hash != hashes[i])
			unseen[unseen_count++] = &samples[i];
	}
	/* With none the resolver may be gone: in the order of time it is the last batch's. */
	if (unseen_count)
		result = make_stacks(maker, unseen, unseen_count, stacks);
	for (unsigned i = unseen_count; i-- > 0 && !result;) {
		unsigned at = (unsigned)(unseen[i] - samples);

		ret[at] = (struct row_seen){.hash = hashes[at], .stack = stacks[i]};
		result = keep_seen(maker, unseen[i], &ret[at]);
	}
	return result;
}

/* All of a row but its stack and frame. */
static void put_plain(struct row_maker *maker, const struct tally_resolved *sample,
		      const struct tally_record *record)
{
	const struct tally_sample *fields = &sample->sample;
	uint32_t at = maker->batch.count;

	maker->event[at] = sample->event;
	if (maker->thread)
		maker->thread[at] = sample->thread;
	if (maker->period)
		maker->period[at] = period_of(maker->plan, sample);
	if (maker->samples)
		maker->samples[at] = (uint32_t)samples_of(sample);
	if (maker->time)
		maker->time[at] = fields->present & PERF_SAMPLE_TIME ? fields->time : 0;
	if (maker->cpu)
		maker->cpu[at] = fields->present & PERF_SAMPLE_CPU ? fields->cpu : UINT32_MAX;
	if (maker->ip)
		maker->ip[at] = fields->present & PERF_SAMPLE_IP ? fields->ip : 0;
	if (maker->addr)
		maker->addr[at] = fields->present & PERF_SAMPLE_ADDR ? fields->addr : 0;
	if (maker->weight)
		maker->weight[at] = fields->present & TALLY_SAMPLE_WEIGHTS ? fields->weight : 0;
	if (maker->data_src)
		maker->data_src[at] = fields->present & PERF_SAMPLE_DATA_SRC ? fields->data_src : 0;
	if (maker->offset)
		maker->offset[at] = sample->offset;
	if (maker->rows)
		tally_batch_rows_put(maker->rows, at, record, sample, maker->resolver);
}

static int put_source(struct row_maker *maker, const struct tally_resolved *sample)
{
	uint32_t at = maker->batch.count;
	struct source_numbers numbers;
	int error = tally_resolver_source(maker->resolver, sample, &numbers);

	if (!error && maker->line)
		maker->line[at] = numbers.line;
	if (!error && maker->file)
		maker->file[at] = numbers.file;
	return error;
}

static int put_place(struct row_maker *maker, const struct tally_resolved *sample)
{
	uint64_t addr = sample->sample.ip;
	uint32_t era = resolver_era(sample, resolver_cpumode(sample->cpumode, addr)) + 1;
	struct row_place *known =
	    &maker->places[hash_u64(addr ^ (uint64_t)era << 44) >> (64 - PLACES_BITS)];
	uint64_t place;

	if (known->addr != addr || known->era != era || !era) {
		if (tally_resolver_place_of(maker->resolver, sample, sample->cpumode, addr, &place))
			return -ENOMEM;
		*known = (struct row_place){addr, place, era};
	}
	maker->place[maker->batch.count] = known->place;
	return 0;
}

/* `found` is of the chain, without hash where there is none. */
static int put_sample(struct row_maker *maker, const struct tally_resolved *sample,
		      const struct tally_record *record, const struct row_seen *found)
{
	uint32_t at = maker->batch.count, frame = found->frame;

	if (!found->hash && maker->frame) {
		frame = tally_resolver_frame(maker->resolver, sample, sample->cpumode,
					     sample->sample.ip);
		if (!frame)
			return -ENOMEM;
	}
	put_plain(maker, sample, record);
	if ((maker->line || maker->file) && put_source(maker, sample))
		return -ENOMEM;
	if (maker->place && put_place(maker, sample))
		return -ENOMEM;
	if (maker->frame)
		maker->frame[at] = frame;
	if (maker->stack)
		maker->stack[at] = found->stack;
	return ++maker->batch.count == ROWS_MOST ? tally_row_maker_emit(maker) : 0;
}

static uint64_t hash_of(const struct row_maker *maker, const struct tally_resolved *sample)
{
	const struct tally_sample *fields = &sample->sample;

	if (!maker->stack)
		return 0;
	if (maker->resolver->tables->branch_history && fields->present & PERF_SAMPLE_BRANCH_STACK &&
	    fields->branch_nr)
		return hash_mix(chain_hash(sample), branches_hash(fields)) | 1;
	return fields->present & PERF_SAMPLE_CALLCHAIN && fields->callchain_nr ? chain_hash(sample)
									       : 0;
}

static int put_pending(struct row_maker *maker)
{
	unsigned count = maker->pending_count;
	struct row_seen found[ROWS_PENDING];
	int result = find_stacks(maker, maker->pending, maker->hashes, count, found);

	maker->pending_count = 0;
	for (unsigned i = 0; i < count && !result; i++)
		result = put_sample(maker, &maker->pending[i], NULL, &found[i]);
	return result;
}

/* Whether the run is about the sample. */
static inline bool is_wanted(struct row_maker *maker, const struct tally_resolved *sample)
{
	const struct tally_rows_wanted *wanted = maker->plan->wanted;
	uint32_t hash = rows_address_hash(sample->sample.ip), frame;

	if (wanted->addresses && !bits_has(wanted->addresses, hash))
		return false;
	frame = tally_resolver_frame(maker->resolver, sample, sample->cpumode, sample->sample.ip);
	/* 0, out of memory, is found again when the row is made. */
	return !frame || rows_want_frame(wanted, frame);
}

/* A sample that read counters, while it is taken once for each that has moved. */
struct counted {
	struct row_maker *maker;
	const struct tally_resolved *sample;
	const struct tally_record *record;
	int (*take)(struct row_maker *maker, const struct tally_resolved *sample,
		    const struct tally_record *record);
};

static int take_move(void *context, uint32_t event, uint64_t id, uint64_t by)
{
	const struct counted *counted = context;
	struct tally_resolved as = *counted->sample;

	as.event = event;
	as.sample.id = id;
	as.sample.period = by;
	as.sample.present |= PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
	return counted->take(counted->maker, &as, counted->record);
}

static int put_now(struct row_maker *maker, const struct tally_resolved *sample,
		   const struct tally_record *record)
{
	uint64_t hash = hash_of(maker, sample);
	struct row_seen found;

	return find_stacks(maker, sample, &hash, 1, &found)
		   ? -ENOMEM
		   : put_sample(maker, sample, record, &found);
}

/* By each counter that has moved, where the sample read some. */
static int each_move(struct row_maker *maker, const struct tally_resolved *sample,
		     const struct tally_record *record,
		     int (*take)(struct row_maker *, const struct tally_resolved *,
				 const struct tally_record *))
{
	struct counted counted = {maker, sample, record, take};

	if (!maker->plan->reads || !(sample->sample.present & PERF_SAMPLE_READ))
		return take(maker, sample, record);
	return tally_moves_each(&maker->counters, maker->plan->session->source.data,
				&sample->sample.read, take_move, &counted);
}

int tally_row_maker_add_now(struct row_maker *maker, const struct tally_resolved *sample,
			    const struct tally_record *record)
{
	int result = put_pending(maker);

	if (result || (maker->plan->wanted && !is_wanted(maker, sample)))
		return result;
	return each_move(maker, sample, record, put_now);
}

int tally_row_maker_add(struct row_maker *maker, const struct tally_resolved *sample,
			const struct tally_record *record)
{
	uint64_t hash;

	if (maker->plan->by_address)
		return tally_by_address_add(maker, sample, period_of(maker->plan, sample));
	if (!maker->stack || maker->rows || maker->plan->reads)
		return tally_row_maker_add_now(maker, sample, record);
	if (maker->plan->wanted && !is_wanted(maker, sample))
		return 0;
	hash = hash_of(maker, sample);
	if (hash)
		__builtin_prefetch(seen_slot(maker, hash));
	maker->hashes[maker->pending_count] = hash;
	if (sample != row_maker_next(maker))
		*row_maker_next(maker) = *sample;
	maker->pending_count++;
	return maker->pending_count == ROWS_PENDING ? put_pending(maker) : 0;
}

static int leave_out(struct row_maker *maker, const struct tally_resolved *sample,
		     const struct tally_record *record)
{
	(void)record;
	maker->left_out[sample->event].samples += samples_of(sample);
	maker->left_out[sample->event].period += period_of(maker->plan, sample);
	return 0;
}

/* What a counter moved by until a sample that is left out is that sample's, not the next one's. */
int tally_row_maker_leave_out(struct row_maker *maker, const struct tally_resolved *sample)
{
	return each_move(maker, sample, NULL, leave_out);
}

int tally_row_maker_flush(struct row_maker *maker)
{
	int result = put_pending(maker);

	if (!result)
		result = tally_by_address_flush(maker);
	tally_by_address_done(&maker->by_address);
	return result ? result : tally_row_maker_emit(maker);
}
