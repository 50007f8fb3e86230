#include "callchain/thread_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include "base/bytes.h"
#include "base/sorted.h"

#define THREADS_BITS 10
#define THREADS      (1U << THREADS_BITS)
/* Room for so many frames of all threads, 6 MiB: of deep stacks the last hundred or two. Threads
 * come and go for days, so without a limit every place of the table would have room for the
 * deepest stack that it ever had. */
#define ROOM_MOST (256U << 10)
/* A caller more than this makes a stack no more known than it was. */
#define FRAMES_MOST 16384
/* Of frames that both chains have, so many are compared, from the outermost inwards. A function
 * that calls itself has the same return address in each: what frames contain differs, but
 * for those that ran again since then. */
#define COMPARED_MOST  8
#define COMPARED_LEAST 2

struct known_stack {
	uint32_t pid, tid;
	struct tally_stack_frame *frames;
	uint32_t count, room;
	bool whole;
	bool used; /* since the last one was dropped */
};

struct tally_thread_stacks {
	struct known_stack known[THREADS];
	size_t room;   /* of all */
	uint32_t hand; /* the next to be dropped, if it was not used */
};

static uint64_t next_word(uint64_t hash, uint64_t word)
{
	return (hash << 7 | hash >> 57) + word;
}

/* Of all that a copy has: four parts at once, each in a step or two a word. */
static uint64_t hash_words(const uint8_t *bytes, uint64_t size)
{
	uint64_t parts[4] = {size}, hash;

	for (; size >= sizeof(parts); bytes += sizeof(parts), size -= sizeof(parts))
		for (size_t i = 0; i < 4; i++)
			parts[i] = next_word(parts[i], load_u64(bytes + 8 * i));
	for (; size >= 8; bytes += 8, size -= 8)
		parts[0] = next_word(parts[0], load_u64(bytes));
	hash = hash_mix(hash_pair(parts[0], parts[1]), hash_pair(parts[2], parts[3]));
	return hash ? hash : 1;
}

uint32_t tally_stack_frames_of(const struct tally_sample *sample, const struct tally_chain *chain,
			       struct tally_stack_frame *ret)
{
	uint64_t size = MIN(sample->user_stack_size, sample->user_stack_dyn_size);
	uint32_t count = 0, most = (uint32_t)(chain->count - chain->unwound);
	const uint64_t *stack = chain->stack;

	while (count < most && stack[count] && chain->frames[count] != TALLY_CHAIN_SPLICED) {
		uint64_t from = stack[count] - stack[0], until = 0;

		if (count + 1 < most && stack[count + 1] > stack[count])
			until = stack[count + 1] - stack[0];
		ret[count] = (struct tally_stack_frame){
		    .stack = stack[count],
		    .address = chain->words[chain->unwound + count],
		    .contents = from < until && until <= size
				    ? hash_words(sample->user_stack + from, until - from)
				    : 0};
		count++;
	}
	return count;
}

int tally_thread_stacks_new(struct tally_thread_stacks **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void tally_thread_stacks_free(struct tally_thread_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < THREADS; i++)
		free(stacks->known[i].frames);
	free(stacks);
}

void tally_thread_stacks_clear(struct tally_thread_stacks *stacks)
{
	for (size_t i = 0; i < THREADS; i++)
		stacks->known[i].count = 0;
}

/* The frame at a stack pointer, or the number of frames. Stack pointers ascend, but for a handler's
 * on a stack of its own. */
static uint32_t find(const struct known_stack *known, const struct tally_stack_frame *frame)
{
	uint32_t low =
	    SORTED_BOUND(middle, 0, known->count, known->frames[middle].stack < frame->stack);

	return low < known->count && known->frames[low].stack == frame->stack &&
		       known->frames[low].address == frame->address
		   ? low
		   : known->count;
}

/* Where the callers of the frames begin in what is known; the number of known frames: nowhere. */
static uint32_t find_callers(const struct known_stack *known,
			     const struct tally_stack_frames *frames)
{
	uint32_t last = frames->count - 1, at, equal = 0, same = 0, compared = 0;

	if (!frames->count || !known->count)
		return known->count;
	at = find(known, &frames->frames[last]);
	if (at == known->count)
		return known->count;
	for (uint32_t i = 0; i < COMPARED_MOST && i <= last && i <= at; i++) {
		const struct tally_stack_frame *ours = &frames->frames[last - i];
		const struct tally_stack_frame *theirs = &known->frames[at - i];

		if (ours->stack != theirs->stack || ours->address != theirs->address)
			break;
		equal++;
		compared += ours->contents && theirs->contents;
		same += ours->contents && ours->contents == theirs->contents;
	}
	return equal >= COMPARED_LEAST && same && same * 2 >= compared ? at + 1 : known->count;
}

/* Drops stacks of threads that had no sample for the longest time, until there is room for so many
 * more frames of one that stays. */
static void make_room(struct tally_thread_stacks *stacks, const struct known_stack *stays,
		      uint32_t more)
{
	while (stacks->room + more > ROOM_MOST) {
		struct known_stack *known = &stacks->known[stacks->hand++ % THREADS];
		bool used = known->used;

		known->used = false;
		if (used || known == stays)
			continue;
		free(known->frames);
		stacks->room -= known->room;
		*known = (struct known_stack){0};
	}
}

/* The frames, and behind them what is known from `from` on. */
static int set(struct tally_thread_stacks *stacks, struct known_stack *known,
	       const struct tally_stack_frames *frames, uint32_t from)
{
	uint32_t callers = MIN(known->count - from, FRAMES_MOST - MIN(frames->count, FRAMES_MOST));
	uint32_t own = MIN(frames->count, FRAMES_MOST);

	if (own + callers > known->room) {
		uint32_t room = MAX(MIN((own + callers) * 2, FRAMES_MOST), 64);
		void *more;

		make_room(stacks, known, room - known->room);
		more = reallocarray(known->frames, room, sizeof(*known->frames));
		if (!more)
			return -ENOMEM;
		known->frames = more;
		stacks->room += room - known->room;
		known->room = room;
	}
	memmove(known->frames + own, known->frames + from, callers * sizeof(*known->frames));
	memcpy(known->frames, frames->frames, own * sizeof(*known->frames));
	known->whole = callers ? known->whole : frames->whole;
	known->count = own + callers;
	return 0;
}

size_t tally_thread_stacks_room(const struct tally_thread_stacks *stacks)
{
	return stacks->room;
}

int64_t tally_thread_stacks_next(struct tally_thread_stacks *stacks, uint32_t pid, uint32_t tid,
				 const struct tally_stack_frames *frames,
				 const struct tally_stack_frame **ret, bool *ret_whole)
{
	struct known_stack *known = &stacks->known[hash_u64(tid) >> (64 - THREADS_BITS)];
	uint32_t from;
	int result;

	if (known->pid != pid || known->tid != tid) {
		known->count = 0;
		known->pid = pid;
		known->tid = tid;
	}
	known->used = true;
	from = frames->cut ? find_callers(known, frames) : known->count;
	result = set(stacks, known, frames, from);
	if (result)
		return result;
	*ret = known->frames + frames->count;
	*ret_whole = known->whole;
	return frames->count < known->count ? known->count - frames->count : 0;
}
