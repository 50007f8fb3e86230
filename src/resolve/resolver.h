/* The caches of one thread: addresses, threads, and the last call chain. */
#ifndef TALLY_RESOLVE_RESOLVER_H
#define TALLY_RESOLVE_RESOLVER_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/table.h"
#include "resolve/locate.h"
#include "resolve/resolve.h"
#include "resolve/resolve_tables.h"
#include "resolve/unwinding.h"

/* Look-ups that are known go through a table of pairs of slots: two 16-byte slots, the newer first,
 * so that a pair is within a cache line, and an old entry is replaced instead of growing the table
 * without limit.  A table larger than the second-level cache costs more than the repeated look-ups:
 * measured from 2^12 to 2^19 pairs. */
struct resolver_slot {
	uint64_t addr;
	uint32_t era, frame;
};
/* The frame of a place in an image: processes that map one binary at different addresses share
 * it. */
struct resolver_place {
	uint64_t place;
	uint32_t image, frame;
};
#define RESOLVER_PLACES      (1U << RESOLVER_PLACE_BITS)
#define RESOLVER_PLACE_BITS  14
#define RESOLVER_PAIRS_LEAST (1U << 8)
#define RESOLVER_PAIRS_MOST  (1U << 14)

/* Eras of addresses that belong to no space. */
#define ERA_NO_SPACE     0U
#define ERA_GUEST_KERNEL (UINT32_MAX - 1)
#define ERA_GUEST_USER   (UINT32_MAX - 2)
#define ERA_HYPERVISOR   (UINT32_MAX - 3)

/* A mode of our own for the word behind PERF_CONTEXT_USER_DEFERRED: a cookie and no address. */
#define MODE_COOKIE 0x80
/* After an undefined mark: the kernel followed a stack where there is none. */
#define MODE_BROKEN 0x82
/* Of words that were unwound: none of them is a mark, though it may look like one. */
#define MODE_UNWOUND 0x81

#define RESOLVER_TASKS 1024U

/* The state of a thread at its last sample. */
struct resolver_task {
	uint64_t from, until; /* [from, until); both 0: nothing yet */
	const struct tally_space *space;
	uint32_t pid, tid, comm, era, thread;
};

/* The frames of unwound addresses with more than one frame: a list with the functions that were
 * inlined there. */
struct inlined_runs {
	struct tally_map
	    by_place;    /* image and place -> where its run starts, + 1; 0: it has none */
	uint32_t *words; /* of each run: the plain frame, the count, the frames innermost first */
	uint32_t count, room;
};
/* A slot's frame with this bit is a run. */
#define RESOLVER_RUN (1U << 31)
/* Unwound addresses are remembered apart from others. */
#define RESOLVER_ERA_UNWOUND (1U << 31)

/* Where the last address was that was asked for: all addresses of the extent lead to one
 * image, those of the gap in it to places without a symbol. */
struct resolver_range {
	uint64_t gap_from, gap_size;
	uint32_t era;
	uint8_t cpumode;
	bool has_extent;
	struct tally_extent extent;
};

struct tally_resolver {
	struct tally_resolve_tables *tables;
	struct tally_frame_source source;
	struct resolver_slot *slots;
	uint32_t pairs, misses; /* pairs is a power of two; misses since it was last doubled */
	struct resolver_place
	    *places; /* RESOLVER_PLACES, the newest in its place; NULL: none yet */
	struct resolver_task *tasks;
	uint32_t kernel_era;
	uint64_t kernel_from, kernel_until;
	struct source_id_cache ids;
	/* The last chain, outermost first (chain_stack.c): its words, the mode that each is read
	 * under, a hash of all up to it, and the stack that these make. */
	uint64_t *words, *hashes;
	uint8_t *modes;
	uint32_t *nodes;
	uint32_t word_room, word_count, hash_count;
	uint32_t chain_era, chain_kernel_era;
	uint32_t *frames, *path; /* of walks, and the stacks at them */
	struct stacks_numbers numbers;
	uint32_t frame_room;
	struct chain_prefix *prefixes; /* that were met lately */
	uint32_t prefix_room, prefix_misses;
	bool names_only; /* places of an image that have no name are one frame */
	struct inlined_runs runs;
	uint32_t single; /* of tally_resolver_unwound() */
	struct resolver_range last_range;
	struct insn_decoder *decoders[2]; /* of 32 and of 64 bits; NULL: not needed yet */
	struct unwinding *unwinding;      /* NULL: nothing was unwound yet */
	struct tally_map sources;         /* source_texts.c: place -> line and file */
	uint64_t damaged;                 /* samples that could not be decoded */
} __attribute__((aligned(TABLE_APART)));

int tally_resolver_init(struct tally_resolver *resolver, struct tally_resolve_tables *tables);
void tally_resolver_done(struct tally_resolver *resolver);

/* Comm, space and eras for the sample's pid, tid and time.  0 or -ENOMEM. */
int tally_resolver_task_miss(struct tally_resolver *resolver, struct resolver_task *task,
			     uint32_t pid, uint32_t tid, uint64_t time);
void tally_resolver_kernel_miss(struct tally_resolver *resolver, uint64_t time);

/* The frame of a place in the image of that number; 0: out of memory. */
uint32_t tally_resolver_place(struct tally_resolver *resolver, uint32_t image, uint64_t place);

/* The mapping that holds an address as seen from a sample, or NULL, and the level of struct
 * tally_frame; for a mode of resolver_cpumode(). */
const struct tally_mapping *tally_resolver_mapping(const struct tally_resolver *resolver,
						   const struct tally_resolved *sample,
						   uint8_t cpumode, uint64_t addr, char *ret_level);

/* Whether frames are those of their places. */
static inline bool resolver_keeps_places(const struct tally_resolver *resolver)
{
	return resolver->tables->places && !resolver->names_only;
}

/* The frame that stands for another one (0: out of memory) at a place. */
static inline uint32_t resolver_at_place(const struct tally_resolver *resolver, uint32_t frame,
					 uint64_t place)
{
	return frame && resolver_keeps_places(resolver)
		   ? tally_frames_at_place(&resolver->tables->frames, frame, place)
		   : frame;
}

/* chain_stack.c: room for so many frames of a walk; false: out of memory. */
bool tally_resolver_frame_room(struct tally_resolver *resolver, uint32_t count);
/* The mode of the words behind one of a call chain. */
uint8_t tally_resolver_mode_behind(uint64_t word, uint8_t mode);
/* Keeps what an address led to under an era. */
void tally_resolver_keep(struct tally_resolver *resolver, uint32_t era, uint64_t addr,
			 uint32_t frame);
/* inlined.c: looks up an address that was unwound, and keeps what it leads to: a frame, or a run's
 * place in `runs` with RESOLVER_RUN.  0: out of memory. */
uint32_t tally_resolver_run_miss(struct tally_resolver *resolver,
				 const struct tally_resolved *sample, uint32_t era, uint64_t addr);
void tally_resolver_runs_done(struct inlined_runs *runs);

/* Unknown: the upper half of the addresses is the kernel's. */
static inline uint8_t resolver_cpumode(uint8_t cpumode, uint64_t addr)
{
	if (__builtin_expect(cpumode != PERF_RECORD_MISC_CPUMODE_UNKNOWN, 1))
		return cpumode;
	return addr >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static inline struct resolver_task *resolver_task(const struct tally_resolver *resolver,
						  uint32_t tid)
{
	return &resolver->tasks[(tid * 0x9e3779b1U) >> 22];
}

static inline void resolver_join_kernel(struct tally_resolver *resolver, uint64_t time)
{
	if (time < resolver->kernel_from || time >= resolver->kernel_until)
		tally_resolver_kernel_miss(resolver, time);
}

static inline int resolver_join(struct tally_resolver *resolver, struct tally_resolved *sample,
				uint64_t time)
{
	uint32_t pid = sample->sample.pid, tid = sample->sample.tid;
	struct resolver_task *task = resolver_task(resolver, tid);

	if (task->tid != tid || task->pid != pid || time < task->from || time >= task->until) {
		int result = tally_resolver_task_miss(resolver, task, pid, tid, time);

		if (result)
			return result;
	}
	resolver_join_kernel(resolver, time);
	sample->comm = task->comm;
	sample->space = task->space;
	sample->thread = task->thread;
	sample->era = task->era;
	sample->kernel_era = resolver->kernel_era;
	return 0;
}

static inline struct resolver_slot *resolver_pair(const struct tally_resolver *resolver,
						  uint32_t era, uint64_t addr)
{
	uint64_t hash = hash_u64(addr ^ (uint64_t)era << 44);

	return &resolver->slots[(hash & (resolver->pairs - 1)) * 2];
}

/* Looks up an address and keeps what it leads to under an era.  0: out of memory.  Where nothing is
 * known of the address but itself it may be TALLY_FRAME_NAMELESS, and the place in *ret_nowhere, to
 * be looked up with others and kept by the caller; unless that is NULL. */
uint32_t tally_resolver_miss(struct tally_resolver *resolver, const struct tally_resolved *sample,
			     uint8_t cpumode, uint32_t era, uint64_t addr,
			     struct tally_image_place *ret_nowhere);

/* The era under which addresses of a mode are remembered. */
static inline uint32_t resolver_era(const struct tally_resolved *sample, uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		return sample->kernel_era;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return ERA_GUEST_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return ERA_GUEST_USER;
	case PERF_RECORD_MISC_HYPERVISOR:
		return ERA_HYPERVISOR;
	case MODE_UNWOUND:
		return (sample->space ? sample->era : ERA_NO_SPACE) | RESOLVER_ERA_UNWOUND;
	default:
		return sample->space ? sample->era : ERA_NO_SPACE;
	}
}

static inline uint32_t resolver_kept(const struct tally_resolver *resolver, uint32_t era,
				     uint64_t addr)
{
	const struct resolver_slot *pair = resolver_pair(resolver, era, addr);

	if (pair[0].addr == addr && pair[0].era == era && pair[0].frame)
		return pair[0].frame;
	return pair[1].addr == addr && pair[1].era == era ? pair[1].frame : 0;
}

static inline uint32_t resolver_frame(struct tally_resolver *resolver,
				      const struct tally_resolved *sample, uint8_t cpumode,
				      uint64_t addr)
{
	uint32_t era, frame;

	cpumode = resolver_cpumode(cpumode, addr);
	era = resolver_era(sample, cpumode);
	frame = resolver_kept(resolver, era, addr);
	return frame ? frame : tally_resolver_miss(resolver, sample, cpumode, era, addr, NULL);
}

/* Frames that one word leads to, innermost first. */
struct resolver_run {
	const uint32_t *frames;
	uint32_t count;
};

/* Of an address that was unwound.  `room` is for a single frame.  False: out of memory. */
static inline bool resolver_run(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint64_t addr, uint32_t *room,
				struct resolver_run *ret)
{
	uint32_t era = resolver_era(sample, MODE_UNWOUND);
	uint32_t frame = resolver_kept(resolver, era, addr);
	const uint32_t *words;

	if (!frame)
		frame = tally_resolver_run_miss(resolver, sample, era, addr);
	*room = frame;
	*ret = (struct resolver_run){.frames = room, .count = 1};
	if (frame & RESOLVER_RUN) {
		words = &resolver->runs.words[frame & ~RESOLVER_RUN];
		*ret = (struct resolver_run){.frames = words + 2, .count = words[1]};
	}
	return frame;
}

#endif
