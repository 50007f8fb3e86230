#include "fleet/parquet_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "base/table.h"
#include "fleet/fleet_base.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "resolve/stacks.h"
#include "session/numbers.h"

/* --- words --- */

static int words_init(struct parquet_words *words)
{
	words->parts = calloc(PARQUET_WORDS_PARTS, sizeof(*words->parts));
	return words->parts ? 0 : -ENOMEM;
}

static void words_done(struct parquet_words *words)
{
	for (uint32_t i = 0; words->parts && i < PARQUET_WORDS_PARTS; i++)
		free((void *)atomic_load_explicit(&words->parts[i], memory_order_relaxed));
	free(words->parts);
	words->parts = NULL;
}

/* NULL: its part was not made. */
static _Atomic uint64_t *made_word(const struct parquet_words *words, uint64_t number)
{
	uint64_t which = number >> PARQUET_WORDS_BITS;
	_Atomic uint64_t *part =
	    which < PARQUET_WORDS_PARTS
		? atomic_load_explicit(&words->parts[which], memory_order_acquire)
		: NULL;

	return part ? &part[number & ((1U << PARQUET_WORDS_BITS) - 1)] : NULL;
}

/* NULL: out of memory, or of numbers. */
static _Atomic uint64_t *word_at(const struct parquet_words *words, uint64_t number)
{
	uint64_t which = number >> PARQUET_WORDS_BITS;
	_Atomic uint64_t *none = NULL, *part, *word = made_word(words, number);

	if (word || which >= PARQUET_WORDS_PARTS)
		return word;
	part = calloc((size_t)1 << PARQUET_WORDS_BITS, sizeof(*part));
	if (!part)
		return NULL;
	if (!atomic_compare_exchange_strong_explicit(&words->parts[which], &none, part,
						     memory_order_acq_rel, memory_order_acquire))
		free((void *)part); /* another thread was first */
	return made_word(words, number);
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

int tally_parquet_ids_init(struct parquet_ids *ids, struct tally_session *session)
{
	*ids = (struct parquet_ids){.session = session,
				    .stacks = tally_session_stacks(session),
				    .frames = &tally_session_tables(session)->frames};
	return words_init(&ids->by_stack) || words_init(&ids->by_frame) ||
		       words_init(&ids->by_image)
		   ? -ENOMEM
		   : 0;
}

void tally_parquet_ids_done(struct parquet_ids *ids)
{
	words_done(&ids->by_stack);
	words_done(&ids->by_frame);
	words_done(&ids->by_image);
}

void tally_parquet_path_done(struct parquet_path *path)
{
	free(path->steps);
	*path = (struct parquet_path){0};
}

/* --- places --- */

#define NO_BASE UINT64_MAX
/* Frames of a stack that are fetched together. */
#define FRAMES_AHEAD 8U

/* What an image is known by: its build-id, else its name.  `known`: of its struct fleet_base. */
static uint64_t make_image_id(const struct parquet_ids *ids, uint32_t image, bool known)
{
	const struct tally_frame_image *of = tally_frames_image_at(ids->frames, image);
	/* Dumps of compiled code have the number of their process. */
	const char *name = !of->places_are_addresses && !known ? "[JIT]" : of->name;
	struct tally_image_facts facts;
	uint64_t id;

	if (tally_session_image_facts(ids->session, image, &facts) && facts.build_id_size)
		id = tally_hash_bytes(facts.build_id, facts.build_id_size);
	else /* "[JIT] tid 17" and the like are one name on all hosts */
		id = tally_hash_bytes(name, name[0] == '[' ? strcspn(name, " ") : strlen(name));
	return id ? id : 1;
}

/* The two words of an image; the second one was set if the first is not 0. */
static int image_id(const struct parquet_ids *ids, uint32_t image, uint64_t *ret,
		    struct fleet_base *ret_base)
{
	_Atomic uint64_t *word = word_at(&ids->by_image, image * 2ULL);
	_Atomic uint64_t *base = word_at(&ids->by_image, image * 2ULL + 1);

	if (!word || !base)
		return -ENOMEM;
	*ret = atomic_load_explicit(word, memory_order_acquire);
	if (*ret) {
		ret_base->known = get(base) != NO_BASE;
		ret_base->base = ret_base->known ? get(base) : 0;
		return 0;
	}
	*ret_base = tally_fleet_base(ids->session, image);
	*ret = make_image_id(ids, image, ret_base->known);
	set(base, ret_base->known ? ret_base->base : NO_BASE);
	atomic_store_explicit(word, *ret, memory_order_release);
	return 0;
}

/* The part of a place, by its innermost and its outermost function.  Of a binary it is where the
 * place is in its file, of the kernel how far it is from where the kernel was loaded, whether or
 * not their symbols are there: what calls is one byte before, also where a symbol starts behind it
 * (convert/code_places.c shows that symbol then).  Other places are addresses, which differ by host
 * and process; a symbol and the place within it do not. */
static int make_part(const struct parquet_ids *ids, uint32_t frame, uint32_t outer, bool call,
		     uint64_t *ret)
{
	struct tally_frame_place here;
	uint64_t start, end, where;
	struct fleet_base base;
	int result;

	tally_frames_placed(ids->frames, frame, &here);
	call = call && here.place;
	where = here.place - call;
	result = image_id(ids, here.image, ret, &base);
	if (result)
		return result;
	if (base.known) {
		where -= base.base;
	} else {
		const char *symbol = tally_frames_get(ids->frames, outer).symbol;

		if (symbol)
			*ret = hash_mix(*ret, tally_hash_bytes(symbol, strlen(symbol)));
		where = tally_frames_symbol(ids->frames, outer, &start, &end) ? where - start : 0;
	}
	*ret = hash_mix(*ret, where << 1 | call);
	return 0;
}

/* Words of a frame: what is known of it, and its parts where nothing is inlined. */
enum { FRAME_KNOWN = 1, FRAME_INLINED = 2, FRAME_PART = 4, FRAME_CALL_PART = 8, LEVEL_SHIFT = 8 };

/* 0: out of memory. */
static uint64_t frame_facts(const struct parquet_ids *ids, uint32_t frame)
{
	_Atomic uint64_t *word = word_at(&ids->by_frame, frame * 4ULL);
	uint64_t facts = word ? get(word) : 0;

	if (word && !facts) {
		const struct tally_frame known = tally_frames_get(ids->frames, frame);

		facts = FRAME_KNOWN | (known.inlined ? FRAME_INLINED : 0) |
			(uint64_t)(unsigned char)known.level << LEVEL_SHIFT;
		set(word, facts);
	}
	return facts;
}

/* Of a frame in which nothing is inlined. */
static int plain_part(const struct parquet_ids *ids, uint32_t frame, bool call, uint64_t *ret)
{
	_Atomic uint64_t *part = word_at(&ids->by_frame, frame * 4ULL + 1 + call);
	int result = 0;

	if (!part)
		return -ENOMEM;
	*ret = get(part);
	if (!*ret) {
		result = make_part(ids, frame, frame, call, ret);
		if (!result)
			set(part, *ret); /* one that is 0 is made again */
	}
	return result;
}

struct position {
	uint32_t stack; /* 0: the end */
	bool call;
};

/* One place outwards: from a frame and the stack that called it. */
static int step(const struct parquet_ids *ids, uint32_t frame, uint32_t caller, bool call,
		uint64_t *ret_part, struct position *ret_next)
{
	uint64_t facts = frame_facts(ids, frame), next_facts;
	uint32_t outer = frame;
	int result;

	if (!facts)
		return -ENOMEM;
	if (facts & FRAME_INLINED) {
		struct tally_frame_place here, there;

		tally_frames_placed(ids->frames, frame, &here);
		while (caller && frame_facts(ids, outer) & FRAME_INLINED) {
			tally_frames_placed(ids->frames, stacks_frame(ids->stacks, caller), &there);
			if (there.image != here.image || there.place != here.place)
				break;
			outer = stacks_frame(ids->stacks, caller);
			caller = stacks_caller(ids->stacks, caller);
		}
		result = make_part(ids, frame, outer, call, ret_part);
	} else {
		result = plain_part(ids, frame, call, ret_part);
	}
	*ret_next = (struct position){.stack = caller};
	if (result || !caller)
		return result;
	next_facts = frame_facts(ids, stacks_frame(ids->stacks, caller));
	/* What the kernel interrupted was not calling. */
	ret_next->call = facts >> LEVEL_SHIFT == next_facts >> LEVEL_SHIFT;
	return next_facts ? 0 : -ENOMEM;
}

/* --- stacks --- */

static void fetch_word(const struct parquet_words *words, uint64_t number)
{
	const _Atomic uint64_t *word = made_word(words, number);

	if (word)
		__builtin_prefetch((const void *)word);
}

/* Fetches what is known of the frames of a stack that is new, as far as its callers are, too. */
static void fetch_frames(const struct parquet_ids *ids, uint32_t stack)
{
	for (uint32_t i = 0; i < FRAMES_AHEAD && stack; i++) {
		const _Atomic uint64_t *called = made_word(&ids->by_stack, stack * 2ULL + 1);

		if (called && get(called))
			break;
		fetch_word(&ids->by_frame, stacks_frame(ids->stacks, stack) * 4ULL);
		stack = stacks_caller(ids->stacks, stack);
	}
}

/* The number of a stack from a position outwards: of the caller's and of its own place. */
static int outward(const struct parquet_ids *ids, struct parquet_path *path, struct position at,
		   uint64_t *ret)
{
	uint32_t depth = 0;
	uint64_t id = 0;

	while (at.stack) {
		_Atomic uint64_t *word = word_at(&ids->by_stack, at.stack * 2ULL + at.call);
		uint32_t room = array_room(path->room, depth + 1, 256);
		int result;

		if (!word)
			return -ENOMEM;
		id = get(word);
		if (id)
			break;
		if (room != path->room && !array_resize(&path->steps, room, sizeof(*path->steps)))
			return -ENOMEM;
		path->room = room;
		if (depth % FRAMES_AHEAD == 0)
			fetch_frames(ids, at.stack);
		path->steps[depth].id = word;
		result = step(ids, stacks_frame(ids->stacks, at.stack),
			      stacks_caller(ids->stacks, at.stack), at.call,
			      &path->steps[depth++].part, &at);
		if (result)
			return result;
	}
	while (depth--) {
		id = hash_mix(id, path->steps[depth].part);
		id = id ? id : 1;
		set(path->steps[depth].id, id);
	}
	*ret = id;
	return 0;
}

void tally_parquet_id_fetch(const struct parquet_ids *ids, uint32_t stack)
{
	fetch_word(&ids->by_stack, stack * 2ULL);
	stacks_fetch(ids->stacks, stack);
}

int tally_parquet_id(struct parquet_ids *ids, struct parquet_path *path, uint32_t stack,
		     uint32_t frame, uint64_t *ret)
{
	uint32_t innermost = stack ? stacks_frame(ids->stacks, stack) : 0, caller = stack;
	struct tally_frame_place chain = {0}, sampled = {0};
	struct position at = {.stack = stack};
	uint64_t part;
	int result;

	if (stack && innermost == frame)
		return outward(ids, path, at, ret);
	*ret = 0;
	if (!frame)
		return 0;
	/* As convert/stack_table.c has it: the sampled place is the innermost. */
	if (innermost) {
		tally_frames_placed(ids->frames, innermost, &chain);
		tally_frames_placed(ids->frames, frame, &sampled);
		if (chain.image == sampled.image && chain.place == sampled.place)
			return outward(ids, path, at, ret);
		if (chain.frame == sampled.frame)
			caller = stacks_caller(ids->stacks, stack);
	}
	result = step(ids, frame, caller, false, &part, &at);
	if (!result)
		result = outward(ids, path, at, ret);
	if (!result) {
		*ret = hash_mix(*ret, part);
		*ret = *ret ? *ret : 1;
	}
	return result;
}
