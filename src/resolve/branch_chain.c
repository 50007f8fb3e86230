/* The stack of a call chain with the branches that were taken last before it.
 *
 * Order, turns of loops and the calls that branches stand for are those of perf's
 * --branch-history (thread__resolve_callchain_sample() of its machine.c). */
#include <errno.h>
#include <string.h>
#include "resolve/resolver.h"

#define BRANCHES_MOST 127U /* perf leaves out larger ones */
#define HASH_BITS     7
#define HASH_SLOTS    127U
#define HASH_FACTOR   0x61c8864680b583ebULL /* source: GOLDEN_RATIO_64 of linux/hash.h */

/* Bits of struct perf_branch_entry's third word, perf_event.h. */
#define PREDICTED    (1U << 1)
#define ABORT        (1U << 3)
#define CYCLES_SHIFT 4
#define TYPE_SHIFT   20
#define TYPE_MASK    15
#define TYPE_EXTEND  15 /* PERF_BR_EXTEND_ABI: the type is in the next field */
#define NEW_SHIFT    26

/* A call whose return address is so far behind a branch is that branch. */
#define CALL_LONGEST 8

struct taken {
	const struct tally_branch *branch;
	uint8_t loops;
	uint32_t loop_cycles;
};

static uint16_t cycles_of(const struct tally_branch *branch)
{
	return (uint16_t)(branch->flags >> CYCLES_SHIFT);
}

static uint8_t type_of(const struct tally_branch *branch)
{
	uint8_t type = branch->flags >> TYPE_SHIFT & TYPE_MASK;

	return type == TYPE_EXTEND ? (uint8_t)(16 + (branch->flags >> NEW_SHIFT & TYPE_MASK))
				   : type;
}

/* Of branches that come from the same places one after another, the first turn stays.  As perf's,
 * it looks only at the first place of each hash. */
static uint32_t leave_out_loops(struct taken *taken, uint32_t count)
{
	uint8_t first[HASH_SLOTS + 1];

	memset(first, 0xff, sizeof(first));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t from = taken[i].branch->from;
		uint8_t *slot = &first[(from * HASH_FACTOR >> (64 - HASH_BITS)) % HASH_SLOTS];
		uint32_t turn = 0, start = *slot;

		if (start == 0xff) {
			*slot = (uint8_t)i;
			continue;
		}
		if (taken[start].branch->from != from)
			continue;
		while (start + turn < i && i + turn < count &&
		       taken[start + turn].branch->from == taken[i + turn].branch->from)
			turn++;
		if (start + turn < i && i + turn < count) /* another way */
			continue;
		if (i + turn < count) {
			struct taken *next = &taken[i + turn];

			next->loops++;
			next->loop_cycles = 0;
			for (uint32_t k = i; k < i + turn; k++)
				next->loop_cycles += cycles_of(taken[k].branch);
			memmove(&taken[i], next, (count - i - turn) * sizeof(*taken));
		}
		count -= turn;
	}
	return count;
}

/* How many words of the chain are calls that branches stand for, with the marks among them. */
static uint32_t calls_in(const struct tally_resolved *sample, const struct taken *taken,
			 uint32_t count)
{
	const struct tally_sample *from = &sample->sample;
	uint32_t calls = 0;

	if (!(from->present & PERF_SAMPLE_CALLCHAIN))
		return 0;
	for (uint32_t i = 0; i < count && calls < from->callchain_nr; i++) {
		uint64_t word = from->callchain[calls];

		calls +=
		    resolved_is_mark(sample, calls) ||
		    (taken[i].branch->from < word && taken[i].branch->from >= word - CALL_LONGEST);
	}
	return calls;
}

static struct tally_branch_end to_end(const struct tally_branch *branch)
{
	uint8_t type = branch->from ? type_of(branch) : 0;
	uint64_t from = branch->from, to = branch->to;

	return (struct tally_branch_end){
	    .to = true,
	    .predicted = branch->flags & PREDICTED,
	    .abort = branch->flags & ABORT,
	    .type = type,
	    .forward = type && to > from,
	    .crosses =
		type ? (uint8_t)((from >> 12 != to >> 12) | (from >> 21 != to >> 21) << 1) : 0,
	};
}

/* The frames of a branch, innermost first, in front of `at`; false: out of memory. */
static bool put_branch(struct tally_resolver *resolver, const struct tally_resolved *sample,
		       const struct taken *taken, uint32_t *at)
{
	struct tally_frames *frames = &resolver->tables->frames;
	const struct tally_branch_end to = to_end(taken->branch);
	const struct tally_branch_end from = {.cycles = cycles_of(taken->branch),
					      .loops = taken->loops,
					      .loop_cycles = taken->loop_cycles};
	uint32_t frame =
	    resolver_frame(resolver, sample, PERF_RECORD_MISC_CPUMODE_UNKNOWN, taken->branch->to);

	if (!frame)
		return false;
	resolver->frames[--*at] = frame = tally_frames_branch(frames, frame, &to);
	if (!frame)
		return false;
	frame =
	    resolver_frame(resolver, sample, PERF_RECORD_MISC_CPUMODE_UNKNOWN, taken->branch->from);
	if (!frame)
		return false;
	resolver->frames[--*at] = frame = tally_frames_branch(frames, frame, &from);
	return frame;
}

/* The words of the chain behind the first `calls`; false: out of memory. */
static bool put_calls(struct tally_resolver *resolver, const struct tally_resolved *sample,
		      uint32_t calls, uint32_t *at)
{
	const struct tally_sample *from = &sample->sample;
	uint8_t mode = sample->cpumode;

	for (uint32_t i = 0; i < from->callchain_nr; i++) {
		uint64_t word = from->callchain[i];

		if (resolved_is_mark(sample, i)) {
			mode = tally_resolver_mode_behind(word, mode);
			continue;
		}
		if (i < calls || mode == MODE_BROKEN)
			continue;
		if (mode == MODE_COOKIE) {
			mode = PERF_RECORD_MISC_USER;
			continue;
		}
		resolver->frames[--*at] = resolver_frame(resolver, sample, mode, word);
		if (!resolver->frames[*at])
			return false;
	}
	return true;
}

int tally_resolver_branch_stack(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint32_t *ret)
{
	const struct tally_sample *from = &sample->sample;
	struct taken taken[BRANCHES_MOST];
	bool chained = from->present & PERF_SAMPLE_CALLCHAIN;
	uint32_t count = 0, calls, room, at;

	*ret = 0;
	if (from->present & PERF_SAMPLE_BRANCH_STACK && from->branch_nr <= BRANCHES_MOST &&
	    !(from->branch_flags_present & PERF_SAMPLE_BRANCH_CALL_STACK))
		count = (uint32_t)from->branch_nr;
	for (uint32_t i = 0; i < count; i++)
		taken[i] = (struct taken){.branch = &from->branches[i]};
	calls = calls_in(sample, taken, count);
	count = leave_out_loops(taken, count);
	room = 2 * count + (chained ? (uint32_t)from->callchain_nr : 0);
	if (!tally_resolver_frame_room(resolver, room))
		return -ENOMEM;
	/* Stacks are made from the outermost frame on: the array is filled from its end. */
	at = room;
	for (uint32_t i = 0; i < count; i++)
		if (!put_branch(resolver, sample, &taken[i], &at))
			return -ENOMEM;
	if (chained && !put_calls(resolver, sample, calls, &at))
		return -ENOMEM;
	if (at == room)
		return 0;
	if (tally_stacks_walk(&resolver->tables->stacks, &resolver->numbers, 0,
			      resolver->frames + at, room - at, resolver->path))
		return -ENOMEM;
	*ret = resolver->path[room - at - 1];
	return 0;
}
