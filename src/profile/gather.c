#include "profile/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"

/* Chains repeat: a loop is sampled at the same place again.  The last chain of each hash is kept
 * with the node it led to, so that an identical one is neither resolved nor walked.  Two different
 * chains of one 64-bit hash would be taken for the same; that happens by chance once in some ten
 * thousand million recordings. */
struct tally_gather_seen {
	uint64_t hash; /* 0: nothing yet */
	uint32_t node;
};
#define SEEN_LEAST (1u << 14)
#define SEEN_MOST  (1u << 20)

int tally_gather_init(struct tally_gather *gather, const struct tally_gather_plan *plan)
{
	const struct tally_profile_options *options = plan->options;

	*gather = (struct tally_gather){
	    .plan = plan,
	    .filters_tasks = options->comm_count || options->pid_count || options->tid_count,
	    .filters_frames = options->dso_count || options->symbol_count,
	    .contexts.width = (uint32_t)plan->keys->count,
	};
	tally_filter_init(&gather->filter, plan->session, options);
	gather->sums = calloc(plan->event_count ? plan->event_count : 1, sizeof(*gather->sums));
	if (options->callchains)
		gather->seen = table_new(SEEN_LEAST, sizeof(*gather->seen));
	gather->seen_room = SEEN_LEAST;
	if (!gather->sums || (options->callchains && !gather->seen) ||
	    tally_calls_init(&gather->calls)) {
		tally_gather_done(gather);
		return -ENOMEM;
	}
	return 0;
}

static void gather_forget(struct tally_gather *gather)
{
	free(gather->seen);
	free(gather->path);
	gather->seen = NULL;
	gather->path = NULL;
	gather->path_room = 0;
}

void tally_gather_done(struct tally_gather *gather)
{
	gather_forget(gather);
	tally_calls_done(&gather->calls);
	tally_flat_done(&gather->flat);
	tally_contexts_done(&gather->contexts);
	tally_filter_done(&gather->filter);
	free(gather->sums);
	free(gather->spots);
	*gather = (struct tally_gather){0};
}

/* The node of a context that is not the last one; 0: out of memory. */
static uint32_t context_miss(struct tally_gather *gather, const struct tally_resolved *sample,
			     const struct key_sample *now)
{
	uint64_t values[PROFILE_KEYS_MOST];
	int64_t number;

	profile_keys_values(gather->plan->keys, now, values);
	number = tally_contexts_put(&gather->contexts, now->event, values);
	if (number < 0)
		return 0;
	context_named(&gather->contexts.list[number], sample->comm, sample->offset);
	gather->last_root = tally_calls_step(&gather->calls, 0, (uint32_t)number);
	gather->last_context = (uint32_t)number;
	gather->last = *now;
	return gather->last_root;
}

/* The node of the sample's context; 0: out of memory. */
static inline uint32_t context_root(struct tally_gather *gather,
				    const struct tally_resolved *sample, uint64_t period)
{
	const struct key_sample *last = &gather->last, *uses = &gather->plan->keys->uses;
	struct key_sample now = {
	    .event = sample->event,
	    .comm = sample->comm & uses->comm,
	    .pid = sample->sample.pid & uses->pid,
	    .tid = sample->sample.tid & uses->tid,
	    .period = period & uses->period,
	};

	if (uses->cpu)
		now.cpu =
		    sample->sample.present & PERF_SAMPLE_CPU ? sample->sample.cpu : UINT32_MAX;
	if (uses->time)
		now.time =
		    sample->sample.present & PERF_SAMPLE_TIME ? sample->sample.time : UINT64_MAX;
	if (!gather->last_root || last->event != now.event || last->comm != now.comm ||
	    last->pid != now.pid || last->tid != now.tid || last->cpu != now.cpu ||
	    last->time != now.time || last->period != now.period)
		return context_miss(gather, sample, &now);
	if (gather->plan->keys->tasks)
		context_named(&gather->contexts.list[gather->last_context], sample->comm,
			      sample->offset);
	return gather->last_root;
}

/* Two lanes, as one chain of multiplications would wait for each product.  Never 0. */
static uint64_t chain_hash(const struct tally_resolved *sample)
{
	const uint64_t *chain = sample->sample.callchain;
	uint64_t nr = sample->sample.callchain_nr, at = 0;
	uint64_t a = hash_u64((uint64_t)sample->kernel_era << 32 | sample->era);
	uint64_t b = hash_u64(sample->sample.ip ^ (uint64_t)sample->cpumode << 56);

	for (; at + 2 <= nr; at += 2) {
		a = hash_mix(a, chain[at]);
		b = hash_mix(b, chain[at + 1] + at);
	}
	if (at < nr)
		a = hash_mix(a, chain[at]);
	a = hash_mix(a + nr, b);
	return a ? a : 1;
}

/* The same with the context; the slot is by the chain's alone. */
static uint64_t seen_hash(uint64_t chain, uint32_t root)
{
	uint64_t hash = hash_mix(chain, root);

	return hash ? hash : 1;
}

static struct tally_gather_seen *seen_slot(const struct tally_gather *gather, uint64_t chain)
{
	return &gather->seen[chain & (gather->seen_room - 1)];
}

/* What was seen is not worth moving. */
static void grow_seen(struct tally_gather *gather)
{
	struct tally_gather_seen *seen;

	if (gather->seen_room >= SEEN_MOST || gather->calls.count < gather->seen_room)
		return;
	seen = table_new((size_t)gather->seen_room * 4, sizeof(*seen));
	if (!seen)
		return; /* the old one still does */
	free(gather->seen);
	gather->seen = seen;
	gather->seen_room *= 4;
}

void tally_gather_ahead(const struct tally_gather *gather, struct tally_resolved *sample,
			unsigned stage)
{
	const struct tally_gather_seen *seen;

	if (!sample->sample.callchain_nr ||
	    (gather->plan->only && !tree_rows_may_hold(gather->plan->only, sample->sample.ip)))
		return;
	if (!stage)
		sample->note = chain_hash(sample);
	seen = seen_slot(gather, sample->note);
	if (!stage)
		__builtin_prefetch(seen);
	else if (seen->hash == seen_hash(sample->note, gather->last_root))
		__builtin_prefetch(&gather->calls.sums[seen->node], 1);
}

static int make_room(struct tally_gather *gather, uint32_t frames)
{
	uint64_t room = gather->path_room ? gather->path_room : 256;

	if (frames <= gather->path_room)
		return 0;
	while (room < frames)
		room *= 2;
	if (room > UINT32_MAX || !array_resize(&gather->path, room, sizeof(*gather->path)))
		return -ENOMEM;
	gather->path_room = (uint32_t)room;
	return 0;
}

/* Walks the chain's frames from the outermost in; the node of the innermost, `root` without frames,
 * 0: out of memory.  What this chain has in common with the last one needs no look-up. */
static uint32_t walk_chain(struct tally_gather *gather, const struct tally_resolved *sample,
			   const struct tally_chain_frames *chain, uint32_t root)
{
	uint32_t most = gather->plan->options->max_stack, same = chain->same, skip = 0, node = root;
	uint32_t count = chain->count;

	if (make_room(gather, count))
		return 0;
	/* perf's --max-stack keeps the innermost; of what was unwound no more are there. */
	if (most && count > most && !sample->unwound) {
		count = most;
		same = 0;
	}
	if (gather->path_root == root)
		skip = same < gather->path_depth ? same : gather->path_depth;
	if (skip > count)
		skip = count;
	if (skip)
		node = gather->path[skip - 1];
	/* Nothing of the path holds when this fails on its way. */
	gather->path_root = 0;
	for (uint32_t depth = skip; depth < count; depth++) {
		node = tally_calls_step(&gather->calls, node,
					chain->frames[chain->count - count + depth]);
		if (!node)
			return 0;
		gather->path[depth] = node;
	}
	gather->path_depth = count < chain->count ? 0 : count;
	gather->path_root = root;
	return node;
}

/* `own` is the frame of the sampled place, 0 when it was not looked up yet. */
static uint32_t leaf_of(struct tally_gather *gather, struct tally_resolver *resolver,
			const struct tally_resolved *sample, uint32_t root, uint32_t own)
{
	uint32_t node;

	if (gather->plan->options->callchains && sample->sample.callchain_nr) {
		struct tally_gather_seen *seen;
		struct tally_chain_frames frames;
		uint64_t chain = sample->note ? sample->note : chain_hash(sample);
		uint64_t hash = seen_hash(chain, root);
		uint32_t innermost;

		seen = seen_slot(gather, chain);
		if (seen->hash == hash)
			return seen->node;
		if (tally_resolver_chain(resolver, sample, &frames))
			return 0;
		innermost = frames.count ? frames.frames[frames.count - 1] : 0;
		node = walk_chain(gather, sample, &frames, root);
		if (!node)
			return 0;
		if (!innermost || (sample->sample.present & PERF_SAMPLE_IP)) {
			if (!own)
				own = tally_resolver_frame(resolver, sample, sample->cpumode,
							   sample->sample.ip);
			if (!own)
				return 0;
			/* The chain may lack the sampled place: what is inlined there is in it
			 * instead, user chains of kernel samples, precise events, whose ip is not
			 * where the interrupt came, chains that the kernel broke off.  It has a
			 * row then, and trees have the chain alone. */
			if (own != innermost)
				node = tally_calls_step(&gather->calls, node,
							own | TALLY_CALL_UNSHOWN);
			if (!node)
				return 0;
		}
		grow_seen(gather);
		seen = seen_slot(gather, chain);
		seen->hash = hash;
		seen->node = node;
		return node;
	}
	if (!own)
		own = tally_resolver_frame(resolver, sample, sample->cpumode, sample->sample.ip);
	return own ? tally_calls_step(&gather->calls, root, own | TALLY_CALL_UNSHOWN) : 0;
}

static int add_spots(struct tally_gather *gather, const struct tally_gather_spot *spots,
		     uint32_t count)
{
	uint32_t room = gather->spot_room ? gather->spot_room : 4096;

	if (!count || gather->spot_count == TALLY_SPOTS_MANY)
		return 0;
	if (count > TALLY_SPOTS_MOST - gather->spot_count) {
		free(gather->spots);
		gather->spots = NULL;
		gather->spot_count = TALLY_SPOTS_MANY;
		return 0;
	}
	while (room - gather->spot_count < count)
		room *= 2;
	if (room != gather->spot_room || !gather->spots) {
		void *grown = reallocarray(gather->spots, room, sizeof(*spots));

		if (!grown)
			return -ENOMEM;
		gather->spots = grown;
		gather->spot_room = room;
	}
	memcpy(gather->spots + gather->spot_count, spots, count * sizeof(*spots));
	gather->spot_count += count;
	return 0;
}

int tally_gather_note(struct tally_gather *gather, uint64_t addr, uint32_t frame)
{
	const struct tally_gather_spot spot = {tree_rows_hash(addr), frame};

	return add_spots(gather, &spot, 1);
}

int tally_gather_settle(struct tally_gather *gather, struct tally_resolver *resolver)
{
	int result = tally_flat_settle(gather, resolver);

	tally_flat_done(&gather->flat);
	return result;
}

static uint64_t samples_of(const struct tally_resolved *sample)
{
	return 1 + sample->more;
}

static uint64_t period_of(const struct tally_gather_plan *plan, const struct tally_resolved *sample)
{
	return (sample->sample.present & PERF_SAMPLE_PERIOD)
		   ? sample->sample.period
		   : plan->period[sample->event] * samples_of(sample);
}

int tally_gather_leave_out(struct tally_gather *gather, const struct tally_resolved *sample)
{
	if (sample->event < gather->plan->event_count) {
		gather->sums[sample->event].samples += samples_of(sample);
		gather->sums[sample->event].total += period_of(gather->plan, sample);
	}
	return 0;
}

/* Counts samples like that one; 1: they pass as far as their task tells, 0: not, -ENOMEM. */
static inline int count_in(struct tally_gather *gather, const struct tally_resolved *sample,
			   uint64_t samples, uint64_t period)
{
	struct tally_gather_sum *sum = &gather->sums[sample->event];

	sum->samples += samples;
	sum->total += period;
	return gather->filters_tasks ? tally_filter_task(&gather->filter, sample) : 1;
}

int tally_gather_add(struct tally_gather *gather, struct tally_resolver *resolver,
		     const struct tally_resolved *sample)
{
	const struct tally_gather_plan *plan = gather->plan;
	const struct tally_profile_options *options = plan->options;
	struct tally_gather_sum *sum;
	uint64_t period, samples;
	uint32_t root, leaf, own = 0;
	int passed;

	if (sample->event >= plan->event_count)
		return 0;
	sum = &gather->sums[sample->event];
	samples = samples_of(sample);
	period = period_of(plan, sample);
	passed = count_in(gather, sample, samples, period);
	if (passed <= 0)
		return passed;
	if (plan->only && !tree_rows_may_hold(plan->only, sample->sample.ip))
		return 0;
	if (!options->callchains) {
		root = context_root(gather, sample, period);
		return root ? tally_flat_add(gather, resolver, sample, root, period) : -ENOMEM;
	}
	if (plan->only || gather->filters_frames) {
		own = tally_resolver_frame(resolver, sample, sample->cpumode, sample->sample.ip);
		if (own && plan->only && !tree_rows_may_have(plan->only, own))
			return 0;
		passed = own ? tally_filter_frame(&gather->filter, own) : -ENOMEM;
		if (passed <= 0)
			return passed;
	}
	root = context_root(gather, sample, period);
	leaf = root ? leaf_of(gather, resolver, sample, root, own) : 0;
	if (!leaf)
		return -ENOMEM;
	gather->calls.sums[leaf].self += period;
	gather->calls.sums[leaf].samples += samples;
	sum->passed += samples;
	sum->passed_total += period;
	return 0;
}

int tally_gather_add_run(struct tally_gather *gather, struct tally_resolver *resolver,
			 const struct tally_sample_run *run)
{
	const struct tally_resolved *first = run->first;
	uint64_t period = 0, total;
	uint32_t root;
	int passed;

	if (first->event >= gather->plan->event_count)
		return 0;
	if (!(first->sample.present & PERF_SAMPLE_PERIOD))
		period = gather->plan->period[first->event];
	total = period * run->count;
	for (uint32_t i = 0; !period && i < run->count; i++)
		total += run->periods[i];
	passed = count_in(gather, first, run->count, total);
	if (passed <= 0)
		return passed;
	root = context_root(gather, first, total);
	return root ? tally_flat_add_run(gather, resolver, run, root, period) : -ENOMEM;
}

int tally_gather_merge(struct tally_gather *gather, struct tally_gather *from)
{
	uint32_t *now = calloc(from->contexts.count + 1, sizeof(*now));
	int result = now ? 0 : -ENOMEM;

	gather_forget(from);
	for (uint32_t i = 0; !result && i < from->contexts.count; i++) {
		const struct tally_context *theirs = &from->contexts.list[i];
		int64_t number = tally_contexts_put(&gather->contexts, theirs->event,
						    contexts_values(&from->contexts, i));

		if (number < 0) {
			result = (int)number;
			break;
		}
		now[i] = (uint32_t)number;
		context_named(&gather->contexts.list[number], theirs->last_comm,
			      theirs->last_offset);
	}
	if (!result) {
		tally_calls_finish(&from->calls);
		result = tally_calls_merge(&gather->calls, &from->calls, now);
	}
	if (!result)
		result = add_spots(gather, from->spots, from->spot_count);
	for (uint32_t i = 0; i < gather->plan->event_count; i++) {
		gather->sums[i].samples += from->sums[i].samples;
		gather->sums[i].total += from->sums[i].total;
		gather->sums[i].passed += from->sums[i].passed;
		gather->sums[i].passed_total += from->sums[i].passed_total;
	}
	free(now);
	return result;
}
