/* The stack of a call chain.
 *
 * Chains of one program begin alike: what a chain has in common with the last one is not looked at
 * again.  Of what it has in common with earlier ones each eighth word is remembered, by a hash of
 * all words up to it. */
#include <errno.h>
#include <stdlib.h>
#include "resolve/resolver.h"

#define STEP         8U /* words */
#define PREFIX_LEAST (1U << 12)
#define PREFIX_MOST  (1U << 18)

/* The outermost words of a chain, and the stack that they make. */
struct chain_prefix {
	uint64_t hash;
	uint32_t node; /* NODE_UNKNOWN: nothing yet */
};
/* Frames that are looked up together. */
#define NOWHERE_MOST 32U
/* Words of a long chain that are fetched before. */
#define INNERMOST 8U
/* Words that a prefix passed over have no stack at hand. */
#define NODE_UNKNOWN UINT32_MAX

static bool is_frame(uint64_t word, uint8_t mode)
{
	return mode == MODE_UNWOUND ||
	       (word < FIRST_MARK && mode != MODE_COOKIE && mode != MODE_BROKEN);
}

/* The mode of the words behind one. */
uint8_t tally_resolver_mode_behind(uint64_t word, uint8_t mode)
{
	if (mode == MODE_COOKIE)
		return PERF_RECORD_MISC_USER;
	if (word < FIRST_MARK || mode == MODE_UNWOUND || mode == MODE_BROKEN)
		return mode;
	switch (word) {
	case PERF_CONTEXT_USER_DEFERRED:
		return MODE_COOKIE;
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	case (uint64_t)PERF_CONTEXT_GUEST: /* stands alone only before its two */
		return mode;
	default:
		mode = resolved_mode_behind(word);
		return mode ? mode : MODE_BROKEN;
	}
}

/* Nothing holds of the last chain. */
static int forget(struct tally_resolver *resolver)
{
	resolver->word_count = resolver->hash_count = 0;
	return -ENOMEM;
}

/* Room for a chain of `count` words; false: out of memory. */
static bool chain_room(struct tally_resolver *resolver, uint32_t count)
{
	uint32_t room = array_room(resolver->word_room, count, 256);

	if (room == resolver->word_room)
		return true;
	if (!array_resize(&resolver->words, room, sizeof(*resolver->words)) ||
	    !array_resize(&resolver->modes, room, sizeof(*resolver->modes)) ||
	    !array_resize(&resolver->hashes, room, sizeof(*resolver->hashes)) ||
	    !array_resize(&resolver->nodes, room, sizeof(*resolver->nodes)))
		return false;
	resolver->word_room = room;
	return true;
}

bool tally_resolver_frame_room(struct tally_resolver *resolver, uint32_t count)
{
	uint32_t room = array_room(resolver->frame_room, count, 256);

	if (room == resolver->frame_room)
		return true;
	if (!array_resize(&resolver->frames, room, sizeof(*resolver->frames)) ||
	    !array_resize(&resolver->path, room, sizeof(*resolver->path)))
		return false;
	resolver->frame_room = room;
	return true;
}

/* How many of the outermost words are those of the last chain.  What they lead to is equal too when
 * they are read under the same mode, in the same eras. */
static uint32_t equal_words(const struct tally_resolver *resolver,
			    const struct tally_resolved *sample, uint32_t count)
{
	const uint64_t *chain = sample->sample.callchain;
	uint32_t most = count < resolver->word_count ? count : resolver->word_count, equal = 0;

	if (resolver->chain_era != sample->era || resolver->chain_kernel_era != sample->kernel_era)
		return 0;
	while (equal < most && resolver->words[equal] == chain[count - 1 - equal])
		equal++;
	return equal;
}

/* What was recorded of user space is shown as unwound where its inlined functions are asked for:
 * each address may then be several frames. */
static uint8_t mode_kept(const struct tally_resolver *resolver, uint64_t word, uint8_t mode)
{
	return resolver->tables->inlines && mode == PERF_RECORD_MISC_USER &&
		       word < TALLY_KERNEL_START
		   ? MODE_UNWOUND
		   : mode;
}

/* Keeps the chain's words and their modes; returns `equal`, or 0 when the modes of those words have
 * changed; -1: the chain is broken. */
static int64_t take_words(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint32_t count, uint32_t equal)
{
	const uint64_t *chain = sample->sample.callchain;
	uint8_t mode = sample->cpumode;

	for (uint32_t i = 0; i < count - equal; i++) {
		uint32_t at = count - 1 - i;

		if (i == sample->unwound && i)
			mode = MODE_UNWOUND;
		resolver->words[at] = chain[i];
		resolver->modes[at] = mode_kept(resolver, chain[i], mode);
		mode = tally_resolver_mode_behind(chain[i], mode);
	}
	if (equal && resolver->modes[equal - 1] == mode_kept(resolver, chain[count - equal], mode))
		return equal;
	for (uint32_t i = count - equal; i < count; i++) {
		if (i == sample->unwound && i)
			mode = MODE_UNWOUND;
		resolver->modes[count - 1 - i] = mode_kept(resolver, chain[i], mode);
		mode = tally_resolver_mode_behind(chain[i], mode);
	}
	return mode == MODE_BROKEN ? -1 : 0;
}

/* Hashes of the words from those on that have none. */
static void hash_words(struct tally_resolver *resolver, uint32_t count)
{
	uint32_t at = resolver->hash_count;
	uint64_t hash =
	    at ? resolver->hashes[at - 1]
	       : hash_u64((uint64_t)resolver->chain_kernel_era << 32 | resolver->chain_era);

	for (; at < count; at++) {
		hash = hash_mix(hash, resolver->words[at] ^ (uint64_t)resolver->modes[at] << 56);
		resolver->hashes[at] = hash;
	}
	resolver->hash_count = count;
}

static struct chain_prefix *prefix_of(const struct tally_resolver *resolver, uint32_t words)
{
	return &resolver->prefixes[resolver->hashes[words - 1] & (resolver->prefix_room - 1)];
}

/* More room as long as prefixes drive each other out; what was kept is not worth moving. */
static bool prefix_room(struct tally_resolver *resolver)
{
	uint32_t room = resolver->prefix_room ? resolver->prefix_room * 4 : PREFIX_LEAST;
	struct chain_prefix *prefixes;

	if (resolver->prefixes && (resolver->prefix_misses < resolver->prefix_room ||
				   resolver->prefix_room >= PREFIX_MOST))
		return true;
	prefixes = table_new(room, sizeof(*prefixes));
	if (!prefixes)
		return resolver->prefixes; /* the old one still does */
	free(resolver->prefixes);
	resolver->prefixes = prefixes;
	resolver->prefix_room = room;
	resolver->prefix_misses = 0;
	return true;
}

/* The longest prefix beyond `from` words that is remembered; `from`: there is none. */
static uint32_t find_prefix(struct tally_resolver *resolver, uint32_t from, uint32_t count)
{
	uint32_t last = count / STEP * STEP;

	for (uint32_t at = last; at > from; at -= STEP)
		__builtin_prefetch(prefix_of(resolver, at));
	for (uint32_t at = last; at > from; at -= STEP) {
		const struct chain_prefix *prefix = prefix_of(resolver, at);

		if (prefix->hash != resolver->hashes[at - 1] || !prefix->node)
			continue;
		for (uint32_t i = from; i < at - 1; i++)
			resolver->nodes[i] = NODE_UNKNOWN;
		resolver->nodes[at - 1] = prefix->node - 1;
		return at;
	}
	return from;
}

static void keep_prefixes(struct tally_resolver *resolver, uint32_t from, uint32_t count)
{
	for (uint32_t at = (from / STEP + 1) * STEP; at <= count; at += STEP) {
		*prefix_of(resolver, at) = (struct chain_prefix){
		    .hash = resolver->hashes[at - 1], .node = resolver->nodes[at - 1] + 1};
		resolver->prefix_misses++;
	}
}

/* Chains that are on their way to their stacks, all in the resolver's frames.  Only the last one's
 * words are known. */
struct chains {
	struct stacks_walk walks[STACKS_WALKS];
	uint32_t *rets[STACKS_WALKS];
	uint32_t count, frame_count;
	/* Of the last: its first new word and frame, and the stack there. */
	uint32_t from, first, above;
	/* Frames that are looked up together: of addresses of which nothing else is known. */
	uint32_t nowhere_count;
	struct tally_image_place nowhere[NOWHERE_MOST];
	struct nowhere_word {
		uint32_t frame, era; /* where the frame belongs */
	} words[NOWHERE_MOST];
};

/* Chains are short where each is another one; long ones have much in common with the last. */
static bool is_short(uint64_t words)
{
	return words < (uint64_t)2 * STEP;
}

/* Fetches what frames of a chain's words are found by; of a long one those that are innermost, as
 * the others are mostly those of the last one. */
static void fetch_frames(const struct tally_resolver *resolver, const struct tally_resolved *sample)
{
	uint64_t count = sample->sample.callchain_nr;
	uint8_t mode = sample->cpumode;
	uint32_t era = resolver_era(sample, mode);

	if (!is_short(count))
		count = INNERMOST;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t word = sample->sample.callchain[i];

		if (word < FIRST_MARK) {
			__builtin_prefetch(resolver_pair(resolver, era, word));
		} else {
			mode = tally_resolver_mode_behind(word, mode);
			era = resolver_era(sample, mode);
		}
	}
}

/* Looks up the frames that wait for it. */
static int find_nowhere(struct tally_resolver *resolver, struct chains *chains)
{
	uint32_t found[NOWHERE_MOST];

	if (chains->nowhere_count &&
	    tally_frames_nameless(&resolver->tables->frames, chains->nowhere, chains->nowhere_count,
				  found))
		return -ENOMEM;
	for (uint32_t i = 0; i < chains->nowhere_count; i++) {
		uint32_t era = chains->words[i].era;
		uint64_t addr = chains->nowhere[i].place;

		resolver->frames[chains->words[i].frame] = found[i];
		if (!resolver_kept(resolver, era, addr)) /* it may be among them twice */
			tally_resolver_keep(resolver, era, addr, found[i]);
	}
	chains->nowhere_count = 0;
	return 0;
}

/* The frame of a word, which may wait to be looked up; 0: out of memory. */
static uint32_t find_frame(struct tally_resolver *resolver, struct chains *chains,
			   const struct tally_resolved *sample, uint8_t mode, uint64_t word)
{
	uint8_t cpumode = resolver_cpumode(mode, word);
	uint32_t era = resolver_era(sample, cpumode), frame = resolver_kept(resolver, era, word);

	if (frame)
		return frame;
	if (chains->nowhere_count == NOWHERE_MOST && find_nowhere(resolver, chains))
		return 0;
	frame = tally_resolver_miss(resolver, sample, cpumode, era, word,
				    &chains->nowhere[chains->nowhere_count]);
	if (frame == TALLY_FRAME_NAMELESS)
		chains->words[chains->nowhere_count++] =
		    (struct nowhere_word){chains->frame_count, era};
	return frame;
}

/* The frames that the words from `from` on lead to; of each word how many there are up to it
 * replaces its stack.  0 or -ENOMEM. */
static int find_frames(struct tally_resolver *resolver, struct chains *chains,
		       const struct tally_resolved *sample, uint32_t from, uint32_t count)
{
	if (!tally_resolver_frame_room(resolver, chains->frame_count + count - from))
		return -ENOMEM;
	/* Several slots on their way at once: each is a miss of the caches of its own. */
	for (uint32_t at = from; at < count && !is_short(count); at++)
		if (is_frame(resolver->words[at], resolver->modes[at]))
			__builtin_prefetch(resolver_pair(resolver,
							 resolver_era(sample, resolver->modes[at]),
							 resolver->words[at]));
	for (uint32_t at = from; at < count; at++) {
		uint8_t mode = resolver->modes[at];
		uint64_t word = resolver->words[at];
		uint32_t frame;
		struct resolver_run run = {.frames = &frame, .count = 1};

		if (is_frame(word, mode)) {
			if (mode != MODE_UNWOUND)
				frame = find_frame(resolver, chains, sample, mode, word);
			else if (!resolver_run(resolver, sample, word, &frame, &run) ||
				 !tally_resolver_frame_room(resolver, chains->frame_count +
									  run.count + count - at))
				frame = 0;
			if (!frame)
				return -ENOMEM;
			for (uint32_t i = run.count; i-- > 0;)
				resolver->frames[chains->frame_count++] = run.frames[i];
		}
		resolver->nodes[at] = chains->frame_count;
	}
	return 0;
}

/* Walks all chains to their stacks; the last one's words have theirs then. */
static int walk(struct tally_resolver *resolver, struct chains *chains)
{
	if (find_nowhere(resolver, chains) ||
	    tally_stacks_walk_all(&resolver->tables->stacks, &resolver->numbers, resolver->frames,
				  resolver->path, chains->walks, chains->count))
		return -ENOMEM;
	for (uint32_t i = 0; i < chains->count; i++)
		*chains->rets[i] = chains->walks[i].caller;
	for (uint32_t at = chains->from; chains->count && at < resolver->word_count; at++)
		resolver->nodes[at] = resolver->nodes[at] > chains->first
					  ? resolver->path[resolver->nodes[at] - 1]
					  : chains->above;
	chains->count = chains->frame_count = 0;
	return 0;
}

/* Sends a sample's chain on its way. */
static int add_chain(struct tally_resolver *resolver, struct chains *chains,
		     const struct tally_resolved *sample, uint32_t *ret)
{
	uint32_t count, equal, from;
	int64_t taken;
	bool remembers;

	*ret = 0;
	/* A record is at most 64 KiB long, so the count is small. */
	if (!(sample->sample.present & PERF_SAMPLE_CALLCHAIN) || !sample->sample.callchain_nr)
		return 0;
	count = (uint32_t)sample->sample.callchain_nr;
	if (!chain_room(resolver, count))
		return -ENOMEM;
	equal = equal_words(resolver, sample, count);
	if (equal && chains->count) { /* where the last one leads is needed, or not worth waiting */
		if (is_short(count))
			equal = 0;
		else if (walk(resolver, chains))
			return -ENOMEM;
	}
	taken = take_words(resolver, sample, count, equal);
	if (taken < 0) { /* as in perf, nothing of it is worth showing */
		forget(resolver);
		return 0;
	}
	equal = (uint32_t)taken;
	resolver->chain_era = sample->era;
	resolver->chain_kernel_era = sample->kernel_era;
	resolver->word_count = count;
	if (resolver->hash_count > equal)
		resolver->hash_count = equal;
	while (equal && resolver->nodes[equal - 1] == NODE_UNKNOWN)
		equal--;
	from = equal;
	remembers = !is_short(count - equal) && prefix_room(resolver);
	if (remembers) {
		hash_words(resolver, count);
		from = find_prefix(resolver, equal, count);
	}
	chains->from = from;
	chains->first = chains->frame_count;
	chains->above = from ? resolver->nodes[from - 1] : 0;
	if (find_frames(resolver, chains, sample, from, count))
		return -ENOMEM;
	chains->rets[chains->count] = ret;
	chains->walks[chains->count++] = (struct stacks_walk){
	    .at = chains->first, .end = chains->frame_count, .caller = chains->above};
	if (!remembers)
		return 0;
	if (walk(resolver, chains))
		return -ENOMEM;
	keep_prefixes(resolver, from, count);
	return 0;
}

int tally_resolver_stacks(struct tally_resolver *resolver,
			  const struct tally_resolved *const *samples, uint32_t count,
			  uint32_t *ret)
{
	struct chains chains;
	int result = 0;

	chains.count = chains.frame_count = chains.nowhere_count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (samples[i]->sample.present & PERF_SAMPLE_CALLCHAIN)
			fetch_frames(resolver, samples[i]);
	for (uint32_t i = 0; i < count && !result; i++)
		result = add_chain(resolver, &chains, samples[i], &ret[i]);
	if (!result)
		result = walk(resolver, &chains);
	return result ? forget(resolver) : 0;
}

int tally_resolver_stack(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 uint32_t *ret)
{
	return tally_resolver_stacks(resolver, &sample, 1, ret);
}
