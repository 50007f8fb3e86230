/* Text of addresses: lines of call chains, "sym+0x1 (dso)" of samples, ends of branches.
 *
 * Text is made once and copied after that: for a symbol of an image, whose lines differ in their
 * numbers only; else for an address as one process sees it.  Each thread keeps its own, at most
 * SCRIPT_STORE_MOST bytes and what one chain adds: beyond that, everything is dropped and made
 * again when it is needed. */
#ifndef TALLY_SCRIPT_SCRIPT_LINES_H
#define TALLY_SCRIPT_SCRIPT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "base/digits.h"
#include "resolve/locate.h"

struct script;
struct script_out;

#define SCRIPT_STORE_MOST ((size_t)8 << 20)

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
	/* Its lines are alike for a symbol but for the numbers of address and offset, and whether
	 * it matters which symbol that is. */
	bool by_symbol, symbols;
};

#define SCRIPT_KINDS_MOST 64

/* The header of a text in the store: the whole text of an address; or of a symbol the part between
 * the numbers of address and offset. */
struct script_line {
	uint64_t start; /* what the offset counts from */
	uint32_t head;  /* bytes of text */
	uint32_t tail;  /* where in the store the text behind the offset is, with... */
	uint32_t tail_length;
	bool offset; /* there is one */
	bool apart;  /* of a symbol: its addresses must have lines of their own */
	bool stops;  /* the chain ends behind it */
};

/* The key of an address's line: the address, and the era in which it has this meaning. */
struct script_key {
	uint64_t addr;
	uint32_t era;
	uint32_t bucket; /* the first of its slots */
};

/* Four to a cache line. */
struct script_line_slot {
	uint64_t addr;
	uint32_t era;
	uint32_t at_kind; /* of the line in the store, in eighths, + 1; above SCRIPT_AT_BITS the
			   * kind; 0: free */
};
#define SCRIPT_BUCKET      4U
#define SCRIPT_BUCKET_BITS 14
#define SCRIPT_SLOTS       (SCRIPT_BUCKET * (1U << SCRIPT_BUCKET_BITS))
#define SCRIPT_AT_BITS     25 /* 256 MB of store */

/* The lines of an image, by symbol. */
struct script_image {
	uint32_t *lines; /* by symbol + 1, the first where none is: in eighths of the store, + 1 */
	uint32_t count;
	uint32_t tail, tail_length; /* as its lines have it */
};

/* What a process or the kernel has, as far as it was met.  Chains without frame pointers are full
 * of addresses where nothing is, each another one. */
#define SCRIPT_EXTENTS     16U
#define SCRIPT_EXTENT_SETS 64U /* of processes; one more is the kernel's */
struct script_extents {
	uint64_t from[SCRIPT_EXTENTS]; /* ascending; behind `count` UINT64_MAX */
	struct script_extent {
		uint64_t until, less;
		uint32_t *lines;             /* as in struct script_image; NULL: by address */
		struct tally_image *symbols; /* NULL: there is nothing */
		uint32_t count, image;
	} rest[SCRIPT_EXTENTS + 1]; /* of from[i] is rest[i + 1] */
	uint32_t era, count, victim;
	bool made;
};

/* Text of addresses that stand alone, as tracepoints have the same again and again. */
#define SCRIPT_MEMO_BITS 6
#define SCRIPT_MEMO_TEXT 112U
struct script_memo {
	uint64_t addr;
	uint32_t era;
	uint16_t length; /* 0: nothing */
	uint16_t noted;  /* in which slot's batch last, + 1 */
	char text[SCRIPT_MEMO_TEXT];
};

/* What goes by symbols, of one kind. */
struct script_view {
	struct script_extents sets[SCRIPT_EXTENT_SETS + 1]; /* by era */
	struct script_image *images;                        /* by number; the first: of nothing */
	uint32_t image_count;
	struct script_memo memos[1U << SCRIPT_MEMO_BITS];
};

struct script_lines {
	uint16_t slot; /* of the batch under way, + 1: memos that were noted for it stay */
	struct tally_buf store;
	struct script_line_slot *slots;               /* SCRIPT_SLOTS; NULL: not needed so far */
	uint32_t longest;                             /* line with its numbers, bytes */
	uint32_t next;                                /* the slot of a full bucket that makes way */
	struct script_view *views[SCRIPT_KINDS_MOST]; /* NULL: not needed so far */
	/* The last long chain, outermost first: words, the mode each was read under, how far its
	 * text is from the end of the chain's. */
	uint64_t *words;
	uint32_t *back;
	uint8_t *modes;
	uint32_t room, count;
	uint32_t era, kernel_era, kind;
	size_t chain_end; /* of its text in the buffer */
	bool chain_valid;
};

void tally_script_lines_done(struct script_lines *lines);

/* Forgets all lines. */
void tally_script_lines_forget(struct script_lines *lines);
/* Does so when too much is kept.  To be called before a sample. */
static inline void script_lines_tidy(struct script_lines *lines)
{
	if (__builtin_expect(lines->store.size > SCRIPT_STORE_MOST, 0))
		tally_script_lines_forget(lines);
}

/* Where the text of an address is. */
struct script_found {
	const struct script_line *line; /* valid until the next one is found */
	uint64_t place;                 /* of a symbol's line: where in the image */
	bool by_symbol;                 /* the address is still to be put */
};

/* Finds the line of an address that was read under a mode, or makes it.  0 or -ENOMEM. */
int tally_script_line_find(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind,
			   struct script_found *ret);

/* The same as far as it goes without making anything; false: it is not known so. */
static inline bool script_line_look(const struct script_lines *lines,
				    const struct tally_resolved *sample, uint8_t mode,
				    uint64_t addr, unsigned kind, struct script_found *ret)
{
	const struct script_view *view = lines->views[kind];
	const struct script_extents *set;
	const struct script_extent *extent;
	uint32_t era, at = 0, line;

	if (__builtin_expect(!view, 0))
		return false;
	if (mode == PERF_RECORD_MISC_USER) {
		era = sample->era;
		set = &view->sets[era % SCRIPT_EXTENT_SETS];
	} else if (mode == PERF_RECORD_MISC_KERNEL) {
		era = sample->kernel_era;
		set = &view->sets[SCRIPT_EXTENT_SETS];
	} else {
		return false;
	}
	/* The index cannot be predicted, so there is no branch on it. */
	for (uint32_t i = 0; i < SCRIPT_EXTENTS; i++)
		at += addr >= set->from[i];
	extent = &set->rest[at];
	if (__builtin_expect(set->era != era || addr >= extent->until || !extent->lines, 0))
		return false;
	ret->place = addr - extent->less;
	ret->by_symbol = true;
	at = 0;
	if (extent->symbols) {
		int64_t symbol = tally_extent_symbol(extent->symbols, ret->place);

		at = (uint32_t)(symbol < 0 ? 0 : symbol + 1);
	}
	line = at < extent->count ? extent->lines[at] : 0;
	if (__builtin_expect(!line, 0))
		return false;
	ret->line = (const void *)(lines->store.data + ((uint64_t)line - 1) * 8);
	return !ret->line->apart;
}

/* Text is copied in pieces of this size: what is read and written beyond its end has room. */
#define SCRIPT_COPY_PIECE 64U

/* Copies at least `size` bytes; the room for a piece more is there on both sides. */
static inline uint8_t *script_copy_over(uint8_t *to, const uint8_t *from, size_t size)
{
	memcpy(to, from, SCRIPT_COPY_PIECE);
	for (size_t done = SCRIPT_COPY_PIECE; done < size; done += SCRIPT_COPY_PIECE)
		memcpy(to + done, from + done, SCRIPT_COPY_PIECE);
	return to + size;
}

/* Writes the text that was found, for a symbol after the address; returns the end.  There is room
 * for the longest line and a piece. */
static inline uint8_t *script_found_put(const struct script_lines *lines,
					const struct script_found *found, uint8_t *to)
{
	const struct script_line *line = found->line;
	uint8_t *digits = script_copy_over(to, (const uint8_t *)(line + 1), line->head);
	/* Whether there is an offset cannot be predicted, so there is no branch on it. */
	uint64_t offset = line->offset ? found->place - line->start : 0;

	to = (uint8_t *)put_hex((char *)digits, offset);
	to = line->offset ? to : digits;
	return script_copy_over(to, lines->store.data + line->tail, line->tail_length);
}

/* The text of an address that stands alone, as seen in an era of the mode's (kernel's or user's),
 * when it is known; its kind is of that shape. */
static inline struct script_memo *script_memo_look(const struct script_lines *lines, uint32_t era,
						   uint64_t addr, unsigned kind)
{
	struct script_view *view = lines->views[kind];
	struct script_memo *memo;

	if (__builtin_expect(!view, 0))
		return NULL;
	memo = &view->memos[hash_u64(addr) >> (64 - SCRIPT_MEMO_BITS)];
	return memo->addr == addr && memo->era == era && memo->length ? memo : NULL;
}

/* Puts it; returns the end.  There is room for all that a memo holds. */
static inline char *script_memo_put(const struct script_memo *memo, char *to)
{
	memcpy(to, memo->text, sizeof(memo->text) / 2);
	if (memo->length > sizeof(memo->text) / 2)
		memcpy(to, memo->text, sizeof(memo->text));
	return to + memo->length;
}

/* Appends the text of an address.  0 or -ENOMEM. */
int tally_script_line_put(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind);
/* Appends the sample's call chain, a line a frame.  0 or -ENOMEM. */
int tally_script_chain_put(const struct script_out *out, unsigned kind);

/* script_place.c: appends the whole text of an address; *ret_stops: chains end after it.  0 or
 * -ENOMEM. */
int tally_script_place_put(const struct script_out *out, uint8_t mode, uint64_t addr,
			   const struct script_kind *kind, bool *ret_stops);
/* The same of the symbol that an address is in, for a kind that goes by symbols, without numbers:
 * what stands before the offset, and fills the line; what stands behind, alike for all of the
 * image, in *tail. */
int tally_script_symbol_put(const struct script_out *out, struct tally_buf *tail, uint8_t mode,
			    uint64_t addr, const struct script_kind *kind,
			    struct script_line *line);

#endif
