/* Call chains of a database: a chain is a leaf of a tree whose roots are outermost, so equal starts
 * of chains are stored once. */
#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "export/sql_schema.h"
#include "export/sql_state.h"

/* Where a chain got to, from the outermost in. */
struct chain_end {
	uint64_t node, depth;
};

/* SQLite numbers the rows as we do. */
static int add_chain_node(struct sql *sql, uint32_t frame, const struct chain_end *at)
{
	if (at->node)
		tally_sql_set(sql->chains, SQL_CHAIN_CALLER, at->node);
	tally_sql_set(sql->chains, SQL_CHAIN_FRAME, frame);
	tally_sql_set(sql->chains, SQL_CHAIN_DEPTH, at->depth);
	return tally_sql_add(sql->chains, sql->error);
}

static int step_to(struct sql *sql, uint32_t frame, struct chain_end *at)
{
	uint32_t behind = (uint32_t)at->node + 1, *number = &behind;
	bool last = at->node == sql->chain_count;
	int result = 0;

	if (!last && sql->chain_frames[behind] != frame)
		number = tally_sql_keys_put(&sql->chain_keys, at->node, frame);
	if (!number || sql->chain_count == UINT32_MAX - 1 ||
	    !array_reach(&sql->chain_frames, &sql->chain_room, sql->chain_count + 1, 1024,
			 sizeof(*sql->chain_frames)))
		return -ENOMEM;
	if (last || !*number) {
		*number = ++sql->chain_count;
		sql->chain_frames[*number] = last ? frame : 0;
		result = add_chain_node(sql, frame, at);
	}
	at->node = *number;
	at->depth++;
	return result;
}

/* A chain that is walked, outermost first. */
struct chain_walk {
	struct sql *sql;
	struct tally_resolver *resolver;
	const struct tally_resolved *sample;
	struct chain_last *last; /* its thread's chain before it, and then it */
	uint32_t walked;         /* words */
	struct chain_end at;
};

static int step(struct chain_walk *walk, uint8_t mode, uint64_t address)
{
	uint32_t frame;
	int result =
	    tally_sql_frame_of(walk->sql, walk->resolver, walk->sample, mode, address, &frame);

	return result ? result : step_to(walk->sql, frame, &walk->at);
}

/* Functions that were inlined there are steps of their own. */
static int step_unwound(struct chain_walk *walk, uint64_t address)
{
	const uint32_t *frames;
	uint32_t count = tally_resolver_unwound(walk->resolver, walk->sample, address, &frames);
	int result = count ? 0 : -ENOMEM;

	for (uint32_t i = count; !result && i-- > 0;) {
		uint32_t row;

		result = tally_sql_row_of(walk->sql, walk->resolver, walk->sample,
					  PERF_RECORD_MISC_USER, address, frames[i], i, &row);
		if (!result)
			result = step_to(walk->sql, row, &walk->at);
	}
	return result;
}

/* Whether the next word is that of the last chain, which led to where the walk is then. */
static bool is_as_before(struct chain_walk *walk, uint64_t word, uint8_t mode)
{
	const struct chain_word *known;

	if (walk->walked >= walk->last->count)
		return false;
	known = &walk->last->words[walk->walked];
	if (known->word != word || known->mode != mode)
		return false;
	walk->at = (struct chain_end){known->node, known->depth};
	return true;
}

static int keep_word(const struct chain_walk *walk, uint64_t word, uint8_t mode)
{
	struct chain_last *last = walk->last;

	if (!array_reach(&last->words, &last->room, walk->walked, 256, sizeof(*last->words)))
		return -ENOMEM;
	last->words[walk->walked] = (struct chain_word){word, walk->at.node, walk->at.depth, mode};
	last->count = walk->walked + 1;
	return 0;
}

/* A mode of our own: an address that was unwound. */
#define MODE_UNWOUND 0xff

/* The words [from, until) of the chain, which have one mode; the last one is outermost. */
static int walk_run(struct chain_walk *walk, uint8_t mode, uint64_t from, uint64_t until)
{
	const struct tally_resolved *sample = walk->sample;
	const uint64_t *words = sample->sample.callchain;
	uint64_t fetched = until;

	for (uint64_t i = until; i-- > from; walk->walked++) {
		bool unwound = sample->unwound && i >= sample->unwound;
		uint8_t kind = unwound ? MODE_UNWOUND : mode;
		int result;

		if (is_as_before(walk, words[i], kind))
			continue;
		/* Their rows are far from each other: the processor waits for all at once. */
		for (; !unwound && fetched > from; fetched--)
			tally_sql_frame_fetch(walk->sql, sample, mode, words[fetched - 1]);
		result = unwound ? step_unwound(walk, words[i]) : step(walk, mode, words[i]);
		if (!result)
			result = keep_word(walk, words[i], kind);
		if (result)
			return result;
	}
	return 0;
}

/* That of the sample's thread, or of another one at its place, emptied if the mappings differ. */
static struct chain_last *last_of(struct sql *sql, const struct tally_resolved *sample)
{
	struct chain_last *last = &sql->lasts[hash_u64(sample->sample.tid) % LASTS];

	if (sample->space != last->space || sample->era != last->era ||
	    sample->kernel_era != last->kernel_era)
		last->count = 0;
	last->space = sample->space;
	last->era = sample->era;
	last->kernel_era = sample->kernel_era;
	return last;
}

static int walk_chain(struct sql *sql, struct tally_resolver *resolver,
		      const struct tally_resolved *sample, uint32_t *ret)
{
	struct chain_walk walk = {sql, resolver, sample, .last = last_of(sql, sample)};
	uint64_t until = sample->sample.callchain_nr;
	int result = 0;

	/* Outermost first: each run of addresses has its mark before it, the first one none. */
	while (until && !result) {
		uint64_t from = until;
		uint8_t mode = sample->cpumode;

		while (from && !resolved_is_mark(sample, from - 1))
			from--;
		if (from)
			mode = resolved_mode_behind(sample->sample.callchain[from - 1]);
		if (mode)
			result = walk_run(&walk, mode, from, until);
		until = from ? from - 1 : 0;
	}
	*ret = (uint32_t)walk.at.node;
	return result;
}

int tally_sql_stack_of(struct sql *sql, struct tally_resolver *resolver,
		       const struct tally_resolved *sample, struct sql_stack *ret)
{
	uint64_t more = (uint64_t)sample->unwound << 8 | sample->cpumode, ip = sample->sample.ip;
	bool has_ip = sample->sample.present & PERF_SAMPLE_IP;
	struct stack_seen *seen;
	int result = 0;

	if (has_ip) {
		tally_sql_frame_fetch(sql, sample, sample->cpumode, ip);
		more = hash_mix(more, ip);
	}
	if (!(sample->sample.present & PERF_SAMPLE_CALLCHAIN))
		return has_ip ? tally_sql_frame_of(sql, resolver, sample, sample->cpumode, ip,
						   &ret->frame)
			      : 0;
	more = resolved_chain_hash(sample, more);
	seen = &sql->seen[more % STACKS_SEEN];
	if (seen->hash == more) {
		*ret = seen->stack;
		return 0;
	}
	if (has_ip)
		result =
		    tally_sql_frame_of(sql, resolver, sample, sample->cpumode, ip, &ret->frame);
	if (!result)
		result = walk_chain(sql, resolver, sample, &ret->chain);
	if (!result)
		*seen = (struct stack_seen){.hash = more, .stack = *ret};
	return result;
}
