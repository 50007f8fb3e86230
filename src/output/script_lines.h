/* Text of addresses: lines of call chains, "sym+0x1 (dso)" of samples, ends of branches.
 *
 * Text is made once for an address as one process sees it, kept, and copied after that.  Each
 * thread keeps its own, at most SCRIPT_STORE_MOST bytes and what one chain adds: when there is
 * more, all is forgotten and made again as it is met. */
#ifndef TALLY_OUTPUT_SCRIPT_LINES_H
#define TALLY_OUTPUT_SCRIPT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "session/ordered.h"

struct script;

#define SCRIPT_STORE_MOST ((size_t)24 << 20)

/* How an address is shown. */
enum script_shape {
	SCRIPT_SHAPE_CHAIN,   /* "\t%16x sym (dso)\n" */
	SCRIPT_SHAPE_UNWOUND, /* the same, of a frame that was unwound: a line for each function
			       * that was inlined there
			       */
	SCRIPT_SHAPE_SINGLE,  /* "%16x sym (dso)" */
	SCRIPT_SHAPE_ADDR,   /* " sym (dso)", of data addresses: perhaps not in the sample's cpumode
			      */
	SCRIPT_SHAPE_BRANCH, /* "0x%x(dso)" */
	SCRIPT_SHAPE_BRANCH_SYM, /* "sym+0x%x(dso)" */
	SCRIPT_SHAPE_BRANCH_OFF, /* "0x%x(dso)", the place in the file */
};

/* A shape with fields; its number is part of what text is found by. */
struct script_kind {
	uint64_t fields; /* those that say what stands with an address */
	enum script_shape shape;
	uint8_t unwound; /* of chains: the kind of their frames that were unwound */
};

#define SCRIPT_KINDS_MOST 64

/* Stands before its text in the store. */
struct script_line {
	uint32_t length;
	uint16_t unused;
	uint8_t unused_too;
	bool stops; /* the chain ends behind it */
};

/* What a line is found by: an address and the era in which it leads there, or a place in a file and
 * the file's image, under which all processes share it that map the file. */
struct script_key {
	uint64_t addr;
	uint32_t era;
	uint32_t bucket; /* the first of its slots; the kernel's lines have buckets of their own */
};
/* Set in the era of places.  Eras cost memory each, and are not so many. */
#define SCRIPT_ERA_IMAGE 0x80000000U

/* Four to a cache line. */
struct script_line_slot {
	uint64_t addr;
	uint32_t era;
	uint32_t at_kind; /* of the line in the store, in eighths, + 1; above SCRIPT_AT_BITS the
			   * kind; 0: free */
};
#define SCRIPT_BUCKET      4U
#define SCRIPT_BUCKET_BITS 16
#define SCRIPT_KERNEL_BITS 14
#define SCRIPT_SLOTS       (SCRIPT_BUCKET * ((1U << SCRIPT_BUCKET_BITS) + (1U << SCRIPT_KERNEL_BITS)))
#define SCRIPT_AT_BITS     25 /* 256 MB of store */

/* What a process has, as far as it was met.  Chains without frame pointers are full of addresses
 * where nothing is, each another one: their text is made each time. */
#define SCRIPT_EXTENTS     8U
#define SCRIPT_EXTENT_SETS 64U
struct script_extents {
	struct tally_extent extents[SCRIPT_EXTENTS];
	uint32_t era, count, last;
};

/* What was found out of the innermost words of chains before their turn. */
#define SCRIPT_AHEAD 8U /* chains */
#define SCRIPT_AHEAD_WORDS                                                    \
	8U /* more are found to be the last chain's, or overlap by themselves \
	    */
struct script_ahead {
	uint32_t era, kernel_era, kind;
	uint32_t count;                     /* words */
	uint32_t found[SCRIPT_AHEAD_WORDS]; /* as in struct script_lines */
	struct script_key keys[SCRIPT_AHEAD_WORDS];
};

struct script_lines {
	struct tally_buf store;
	struct script_line_slot *slots; /* SCRIPT_SLOTS: 4 MB and, for the kernel, 1 MB */
	uint32_t longest;               /* line, bytes */
	uint32_t next;                  /* the slot of a full bucket that makes way */
	/* The last chain, outermost first: words, the mode each was read under, how far its text is
	 * from the end of the chain's. */
	uint64_t *words;
	uint32_t *back, *found;
	struct script_key *keys;
	uint8_t *modes;
	uint32_t room, count;
	uint32_t era, kernel_era, kind;
	size_t chain_end; /* of its text in the buffer */
	bool chain_valid;
	const uint64_t *ahead_of[SCRIPT_AHEAD]; /* chains; NULL: none */
	struct script_ahead ahead[SCRIPT_AHEAD];
	uint32_t ahead_next;
	struct script_extents *extents; /* SCRIPT_EXTENT_SETS, by era */
	char nothing[32];               /* what stands behind such an address */
	uint32_t nothing_length, nothing_kind;
};

int tally_script_lines_init(struct script_lines *lines);
void tally_script_lines_done(struct script_lines *lines);

/* The line of an address; offset in the store, valid until the next tally_script_lines_tidy().
 * 0 to a multiple of 8, or -ENOMEM. */
int64_t tally_script_line_make(struct script_lines *lines, const struct script *script,
			       struct tally_resolver *resolver, const struct tally_resolved *sample,
			       uint8_t mode, uint64_t addr, unsigned kind, struct script_key key);

static inline uint64_t script_line_hash(uint64_t addr, uint32_t era)
{
	return hash_u64(addr ^ (uint64_t)era << 36);
}

static inline struct script_key script_kernel_key(uint64_t addr, uint32_t era)
{
	uint64_t bucket = script_line_hash(addr, era) >> (64 - SCRIPT_KERNEL_BITS);

	return (struct script_key){addr, era,
				   (uint32_t)(bucket + (1U << SCRIPT_BUCKET_BITS)) * SCRIPT_BUCKET};
}

static inline struct script_key script_key(uint64_t addr, uint32_t era)
{
	uint64_t bucket = script_line_hash(addr, era) >> (64 - SCRIPT_BUCKET_BITS);

	return (struct script_key){addr, era, (uint32_t)bucket * SCRIPT_BUCKET};
}

/* Where the text of an address of this mode is kept.  Eras of the kernel and of processes have no
 * number in common. */
static inline struct script_key script_key_of(const struct tally_resolved *sample, uint8_t mode,
					      uint64_t addr)
{
	if (mode == PERF_RECORD_MISC_KERNEL)
		return script_kernel_key(addr, sample->kernel_era);
	return script_key(addr, mode == PERF_RECORD_MISC_USER ? sample->era : UINT32_MAX);
}

static inline const struct script_line *script_line_at(const struct script_lines *lines,
						       uint64_t at)
{
	return (const void *)(lines->store.data + at);
}

static inline int64_t script_line_of(uint32_t at_kind)
{
	return (int64_t)((at_kind & ((1U << SCRIPT_AT_BITS) - 1)) - 1) * 8;
}

/* The line as tally_script_line_make() gives it, or -1: it is not kept. */
static inline int64_t script_line_look(const struct script_lines *lines, struct script_key key,
				       unsigned kind)
{
	const struct script_line_slot *slot = &lines->slots[key.bucket];

	for (unsigned i = 0; i < SCRIPT_BUCKET; i++)
		if (slot[i].addr == key.addr && slot[i].era == key.era &&
		    slot[i].at_kind >> SCRIPT_AT_BITS == kind && slot[i].at_kind)
			return script_line_of(slot[i].at_kind);
	return -1;
}

/* Forgets all when too much is kept.  To be called before a sample. */
static inline void script_lines_tidy(struct script_lines *lines)
{
	if (__builtin_expect(lines->store.size > SCRIPT_STORE_MOST, 0)) {
		lines->store.size = 0;
		memset(lines->slots, 0, sizeof(*lines->slots) * SCRIPT_SLOTS);
		memset(lines->ahead_of, 0, sizeof(lines->ahead_of));
	}
}

/* Appends the text of an address.  0 or -ENOMEM. */
int tally_script_line_put(struct script_lines *lines, const struct script *script,
			  struct tally_buf *to, struct tally_resolver *resolver,
			  const struct tally_resolved *sample, uint8_t mode, uint64_t addr,
			  unsigned kind);
/* Appends the sample's call chain, a line a frame.  `same_buffer`: nothing was taken out of it
 * since the last call on these lines.  0 or -ENOMEM. */
int tally_script_chain_put(struct script_lines *lines, const struct script *script,
			   struct tally_buf *to, struct tally_resolver *resolver,
			   const struct tally_resolved *sample, unsigned kind);

/* Finds out what the innermost words of a chain will need that is put soon, and asks for it: for
 * the slots first, then (tally_script_chain_near()) for the text.  `era`: that of its sample most
 * likely; 0: not known. */
void tally_script_chain_ahead(struct script_lines *lines, const uint64_t *chain, uint64_t count,
			      uint32_t era, unsigned kind);
void tally_script_chain_near(struct script_lines *lines, const uint64_t *chain);

#endif
