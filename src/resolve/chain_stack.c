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
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_USER_DEFERRED:
		return MODE_COOKIE;
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	case (uint64_t)PERF_CONTEXT_GUEST: /* stands alone only before its two */
		return mode;
	default:
		return MODE_BROKEN;
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

/* The frames that the words from `from` on lead to; of each word how many there are up to it
 * replaces its stack.  Their count; -ENOMEM. */
static int64_t find_frames(struct tally_resolver *resolver, const struct tally_resolved *sample,
			   uint32_t from, uint32_t count)
{
	uint32_t found = 0;

	if (!tally_resolver_frame_room(resolver, count - from))
		return -ENOMEM;
	/* Several slots on their way at once: each is a miss of the caches of its own. */
	for (uint32_t at = from; at < count; at++)
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
				frame = resolver_frame(resolver, sample, mode, word);
			else if (!resolver_run(resolver, sample, word, &frame, &run) ||
				 !tally_resolver_frame_room(resolver,
							    found + run.count + count - at))
				frame = 0;
			if (!frame)
				return -ENOMEM;
			for (uint32_t i = run.count; i-- > 0;)
				resolver->frames[found++] = run.frames[i];
		}
		resolver->nodes[at] = found;
	}
	return found;
}

static int walk(struct tally_resolver *resolver, const struct tally_resolved *sample, uint32_t from,
		uint32_t count)
{
	uint32_t above = from ? resolver->nodes[from - 1] : 0;
	int64_t found = find_frames(resolver, sample, from, count);

	if (found < 0 || tally_stacks_walk(&resolver->tables->stacks, &resolver->numbers, above,
					   resolver->frames, (uint32_t)found, resolver->path))
		return -ENOMEM;
	for (uint32_t at = from; at < count; at++)
		resolver->nodes[at] =
		    resolver->nodes[at] ? resolver->path[resolver->nodes[at] - 1] : above;
	return 0;
}

int tally_resolver_stack(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 uint32_t *ret)
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
		return forget(resolver);
	taken = take_words(resolver, sample, count, equal_words(resolver, sample, count));
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
	remembers = count - equal >= 2 * STEP && prefix_room(resolver);
	if (remembers) {
		hash_words(resolver, count);
		from = find_prefix(resolver, equal, count);
	}
	if (walk(resolver, sample, from, count))
		return forget(resolver);
	if (remembers)
		keep_prefixes(resolver, from, count);
	*ret = resolver->nodes[count - 1];
	return 0;
}
