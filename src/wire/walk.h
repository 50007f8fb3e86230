/* One walk over a record's fields, in order, that decodes, encodes, measures or swaps.
 *
 * The tables of rows.c are the only description of what stands in a record; each kind of field is
 * one function here, and every direction goes through it. */
#ifndef TALLY_WIRE_WALK_H
#define TALLY_WIRE_WALK_H

#include <string.h>
#include <tally/record.h>
#include "base/bytes.h"

enum wire_mode {
	WIRE_DECODE, /* bytes -> struct */
	WIRE_ENCODE, /* struct -> bytes */
	WIRE_SIZE,   /* struct -> length */
	WIRE_SWAP,   /* bytes in place, the struct filled with native values on the way */
};

enum wire_kind {
	WIRE_U8,
	WIRE_U16,
	WIRE_U32,
	WIRE_U64,
	WIRE_PAD,        /* size bytes of nothing */
	WIRE_BYTES,      /* size bytes kept in an array member */
	WIRE_TEXT,       /* size bytes of text; the member points to them, NUL-terminated */
	WIRE_STRING,     /* text to the end of the body, padded to 8 with NULs */
	WIRE_WORDS,      /* `count` elements of size bytes, all u64 words; the member points */
	WIRE_NAMED,      /* `count` elements of size bytes: a u64, then text */
	WIRE_TEXTS,      /* `count` elements of size bytes of text */
	WIRE_SIZED,      /* u64 size, bytes, padding to 8 */
	WIRE_REST,       /* all bytes to the end; count member gets their number */
	WIRE_READ,       /* values of a read, by read_format */
	WIRE_RAW,        /* u32 size and bytes, together a multiple of 8 */
	WIRE_BRANCHES,   /* nr, [hw_idx], entries, [counters] */
	WIRE_REGS,       /* abi, and a word for each bit of the mask when it is not none */
	WIRE_STACK,      /* size, bytes, and the size that is valid when there are bytes */
	WIRE_WEIGHT,     /* one word; of struct {u32, u16, u16} when WEIGHT_STRUCT */
	WIRE_AUX,        /* size and bytes */
	WIRE_MMAP2_ID,   /* device and inode, or a build-id */
	WIRE_BUILD_ID,   /* 20 bytes, and their number where misc says it is there */
	WIRE_POKE,       /* old_len and new_len bytes, padded to 8 */
	WIRE_ATTR,       /* an attr of its own size, then ids to the end */
	WIRE_IDS,        /* words to the end, their number not told */
	WIRE_GUESTS,     /* ID_INDEX's second part, when there is room for it */
	WIRE_CPU_MAP,    /* list, mask or range */
	WIRE_TIME_TAIL,  /* what TIME_CONV has since Linux 5.10 */
	WIRE_FMT1,       /* a u64 of AUXTRACE_ERROR since fmt 1 */
	WIRE_ERROR_TEXT, /* 64 bytes, before fmt 2 cut after the text */
	WIRE_UPDATE,     /* text, a double or CPUs, by the type of an EVENT_UPDATE; to the end */
	WIRE_COUNTERS,   /* size counters of u32, then u64 ones, to the end */
	WIRE_FMT2,       /* two u32 of AUXTRACE_ERROR since fmt 2 */
};

struct wire_row {
	uint64_t bit; /* PERF_SAMPLE_* that brings the field; 0: always there */
	const char *name;
	uint16_t kind, size, member, count; /* member, count: offsets in the struct */
};

static inline const void *wire_get_pointer(const uint8_t *at)
{
	const void *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

struct wire_walk {
	enum wire_mode mode;
	const struct tally_layout *layout;
	uint8_t *bytes; /* of the record; written by ENCODE and SWAP only */
	size_t at, end; /* next byte; where the body ends (before the trailer) */
	uint16_t misc;
	bool to_native; /* SWAP: the bytes are foreign now */
};

struct wire_rows {
	const struct wire_row *rows;
	size_t count;
};

/* The rows of a record type; those of unknown types are one WIRE_REST. */
struct wire_rows tally_wire_rows(uint32_t type);
/* MMAP2 as Linux 3.12 had it, and kernels that took it from there: without prot and flags. */
extern const struct wire_rows tally_wire_bare_mmap2_rows;
extern const struct wire_rows tally_wire_sample_rows;
extern const struct wire_rows tally_wire_trailer_rows;

/* Whether a build-id can stand where MMAP2 has one or a device and an inode, as misc says it does;
 * `left`: bytes of the body from there on. */
bool tally_wire_is_mmap2_id(const uint8_t *at, size_t left);

#define WIRE_TRAILER_BITS                                                                         \
	((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

/* Walks one field of `base`.  0, -EBADMSG (the bytes end within the field), -ENOSPC (no room to
 * encode), -EOVERFLOW, -EINVAL (a struct that cannot be encoded); then walk->at stays where the
 * field begins. */
int tally_wire_field(struct wire_walk *walk, const struct wire_row *row, void *base);

/* The same for the rows whose bit is in `bits` (or 0), up to the first that fails. */
int tally_wire_walk(struct wire_walk *walk, struct wire_rows rows, uint64_t bits, void *base);

#endif
