/* Samples joined with comm and space, and addresses turned into frame numbers.  One resolver a
 * thread; the tables behind them are shared (resolve_tables.h). */
#ifndef TALLY_RESOLVE_RESOLVE_H
#define TALLY_RESOLVE_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/abi.h>
#include <tally/record.h>
#include "base/bytes.h"

struct tally_resolve_tables;
struct tally_resolver;
struct tally_space;

/* A sample with its process. Borrowed during the visit. */
struct tally_resolved {
	uint32_t event;                  /* index in the data */
	struct tally_sample sample;      /* the fields asked for; present says which */
	uint8_t cpumode;                 /* PERF_RECORD_MISC_CPUMODE_MASK of the record */
	uint32_t comm;                   /* string number: tally_session_string() */
	uint32_t thread;                 /* number: tally_session_thread() */
	const struct tally_space *space; /* user space, NULL when unknown */
	uint32_t era;                    /* of the space at this time; 0: none */
	uint32_t kernel_era; /* of the kernel's space; what is memoised by era needs both */
	uint64_t offset;     /* of the record in the file */
	/* Words of the call chain from this one on were unwound: addresses all of them, user
	 * space's, of calls and not behind them.  0: none were. */
	uint32_t unwound;
	uint64_t more; /* samples that this one also stands for, alike but for their times: their
			* periods are in its own; 0 unless the source sums them early */
};

/* Marks are the last page of addresses.  Source: PERF_CONTEXT_MAX of perf_event.h, -4095. */
#define FIRST_MARK ((uint64_t)PERF_CONTEXT_MAX)

/* Whether a word of the chain is not an address but a mark for the mode of the following ones:
 * PERF_CONTEXT_*. */
static inline bool resolved_is_mark(const struct tally_resolved *sample, uint64_t word)
{
	return sample->sample.callchain[word] >= FIRST_MARK &&
	       !(sample->unwound && word >= sample->unwound);
}

/* A hash of a sample's chain and of `more`, by which chains that were met are found again: equal
 * words mean the same in equal mappings alone.  Two lanes, as one chain of multiplications would
 * wait for each product.  Never 0. */
static inline uint64_t resolved_chain_hash(const struct tally_resolved *sample, uint64_t more)
{
	const uint64_t *chain = sample->sample.callchain;
	uint64_t nr =
	    sample->sample.present & PERF_SAMPLE_CALLCHAIN ? sample->sample.callchain_nr : 0;
	uint64_t at = 0;
	uint64_t a = hash_u64((uint64_t)sample->kernel_era << 32 | sample->era);
	uint64_t b = hash_u64(more);

	for (; at + 2 <= nr; at += 2) {
		a = hash_mix(a, chain[at]);
		b = hash_mix(b, chain[at + 1] + at);
	}
	if (at < nr)
		a = hash_mix(a, chain[at]);
	a = hash_mix(a + nr, b);
	return a ? a : 1;
}

/* The mode behind such a mark; 0: one that perf does not know, or of a guest. */
static inline uint8_t resolved_mode_behind(uint64_t mark)
{
	switch (mark) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	default:
		return 0;
	}
}

/* The frame of an address as seen from a sample (its space, time and the given cpumode).  Memoised
 * for the thread.  0 only when out of memory. */
uint32_t tally_resolver_frame(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      uint8_t cpumode, uint64_t addr);

/* A place without a symbol in the image of that number. */
struct tally_image_place {
	uint64_t place;
	uint32_t image;
};
#define TALLY_FRAME_NAMELESS UINT32_MAX

/* The frame of an address, and of all others of that mode and era in [from, from + size). */
struct tally_address_range {
	uint64_t from, size;
	uint32_t frame; /* 0: out of memory; TALLY_FRAME_NAMELESS: that of `place` */
	uint32_t era;   /* the sample's, or of addresses of the kernel its kernel_era */
	uint8_t cpumode;
	struct tally_image_place place; /* to be asked for together with others */
	/* The place of an address in its image is the address less this, if `placed`. */
	uint64_t less;
	bool placed;
};

/* As tally_resolver_frame(), faster for addresses that are asked for in their order. */
void tally_resolver_range(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_address_range *ret);
/* The frames of such places.  0 or -ENOMEM. */
int tally_resolver_nameless(struct tally_resolver *resolver, const struct tally_image_place *places,
			    uint32_t count, uint32_t *ret);

/* The stack of the sample's whole call chain; 0: it has none.  PERF_CONTEXT_* marks are obeyed and
 * left out.  Return addresses are looked up unchanged.  Unwound frames are followed by the
 * functions that were inlined there, as frames of their own.  0 or -ENOMEM. */
int tally_resolver_stack(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 uint32_t *ret);

/* The same for several samples at once, at most STACKS_WALKS, whose misses of the caches overlap.
 */
int tally_resolver_stacks(struct tally_resolver *resolver,
			  const struct tally_resolved *const *samples, uint32_t count,
			  uint32_t *ret);

/* The same with the sample's branch stack before it (session option `branch_history`): where the
 * newest branch led, where it came from, those of the branch before it, ..., then the calls that
 * were not among them.  Frames of branches are those of tally_frames_branch().  0 or -ENOMEM. */
int tally_resolver_branch_stack(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint32_t *ret);

/* The frames of an address that was unwound, innermost first, the functions that were inlined there
 * among them.  Borrowed until the next call.  Their count; 0: out of memory. */
uint32_t tally_resolver_unwound(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint64_t addr,
				const uint32_t **ret);

/* A resolver for names only, in addition to that of a run: all places of an image without a symbol
 * are one frame.  NULL: out of memory. */
struct tally_resolver *tally_resolver_new(struct tally_resolve_tables *tables);
void tally_resolver_free(struct tally_resolver *resolver);

#endif
