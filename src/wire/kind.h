/* The kinds of fields, and the steps that they are made of.
 *
 * A new kind is a struct wire_kind in one of kind_*.c and its line here.  The code that decodes,
 * encodes, swaps, prints or finds records does not name any kind. */
#ifndef TALLY_WIRE_KIND_H
#define TALLY_WIRE_KIND_H

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/show.h"
#include "wire/walk.h"

extern const struct wire_kind tally_wire_u8, tally_wire_u16, tally_wire_u32, tally_wire_u64;
extern const struct wire_kind tally_wire_pad;    /* row->size unused bytes */
extern const struct wire_kind tally_wire_bytes;  /* row->size bytes, kept in an array member */
extern const struct wire_kind tally_wire_text;   /* row->size bytes of text, NUL-terminated */
extern const struct wire_kind tally_wire_string; /* text to the end, NULs to a multiple of size */
extern const struct wire_kind tally_wire_words;  /* `count` elements of size bytes, all u64 */
extern const struct wire_kind tally_wire_ids;    /* u64 to the end; count gets their number */
extern const struct wire_kind tally_wire_sized;  /* u64 size, bytes, padding to 8 */
extern const struct wire_kind tally_wire_rest;   /* bytes to the end; count gets their number */

/* Of samples */
extern const struct wire_kind tally_wire_read;     /* values of a read, by read_format */
extern const struct wire_kind tally_wire_raw;      /* u32 size and bytes, to a multiple of 8 */
extern const struct wire_kind tally_wire_branches; /* nr, [hw_idx], entries, [counters] */
extern const struct wire_kind tally_wire_user_regs, tally_wire_intr_regs; /* abi, [words] */
extern const struct wire_kind tally_wire_stack;                           /* size, [bytes, valid] */
extern const struct wire_kind tally_wire_aux;                             /* size and bytes */

/* Of other records; each is the kind of one field */
extern const struct wire_kind tally_wire_mmap2_id;    /* device and inode, or a build-id */
extern const struct wire_kind tally_wire_build_id;    /* 20 bytes; their number if misc says so */
extern const struct wire_kind tally_wire_poke;        /* old_len and new_len bytes, padded to 8 */
extern const struct wire_kind tally_wire_attr;        /* an attr of its own size */
extern const struct wire_kind tally_wire_guests;      /* ID_INDEX's second part, if there is room */
extern const struct wire_kind tally_wire_threads;     /* `count` times a u64 and 16 bytes of text */
extern const struct wire_kind tally_wire_cpu_map;     /* list, mask or range */
extern const struct wire_kind tally_wire_time_tail;   /* what TIME_CONV has since Linux 5.10 */
extern const struct wire_kind tally_wire_error_time;  /* a u64 of AUXTRACE_ERROR since fmt 1 */
extern const struct wire_kind tally_wire_error_text;  /* 64 bytes; before fmt 2 only the text */
extern const struct wire_kind tally_wire_error_guest; /* two u32 of AUXTRACE_ERROR since fmt 2 */
extern const struct wire_kind tally_wire_update;      /* what an EVENT_UPDATE brings; to the end */
extern const struct wire_kind tally_wire_metadata;    /* `count` times a key and a value */
extern const struct wire_kind tally_wire_counters;    /* row->size u32, then u64, to the end */

/* --- steps --- */

static inline bool wire_reads(const struct wire_walk *walk)
{
	return walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP;
}

/* A struct that cannot be written, or bytes that cannot be read. */
static inline int wire_invalid(const struct wire_walk *walk)
{
	return wire_reads(walk) ? -EBADMSG : -EINVAL;
}

static inline void *wire_member(const struct wire_row *row, void *base)
{
	return (uint8_t *)base + row->member;
}

static inline uint64_t *wire_count(const struct wire_row *row, void *base)
{
	return (void *)((uint8_t *)base + row->count);
}

static inline const void *wire_pointer(const struct wire_row *row, const void *base)
{
	const void *pointer;

	memcpy(&pointer, (const uint8_t *)base + row->member, sizeof(pointer));
	return pointer;
}

static inline uint64_t wire_counted(const struct wire_row *row, const void *base)
{
	return load_u64((const uint8_t *)base + row->count);
}

static inline void wire_store(uint8_t *to, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*to = (uint8_t)value;
		break;
	case 2:
		store_u16(to, (uint16_t)value);
		break;
	case 4:
		store_u32(to, (uint32_t)value);
		break;
	default:
		store_u64(to, value);
	}
}

static inline uint64_t wire_swapped(uint64_t value, size_t size)
{
	switch (size) {
	case 1:
		return value;
	case 2:
		return __builtin_bswap16((uint16_t)value);
	case 4:
		return __builtin_bswap32((uint32_t)value);
	default:
		return __builtin_bswap64(value);
	}
}

/* Swaps all words of `width` bytes that are whole. */
static inline void wire_swap_words(uint8_t *at, size_t size, size_t width)
{
	for (; size >= width; at += width, size -= width)
		wire_store(at, width, wire_swapped(load_uint(at, width), width));
}

/* Checks that `size` more bytes exist, or fit. With WIRE_SIZE it only counts them. */
int tally_wire_need(const struct wire_walk *walk, uint64_t size);
/* A number of 1, 2, 4 or 8 bytes. */
int tally_wire_scalar(struct wire_walk *walk, size_t size, void *member);
/* Bytes without a byte order; *member points to them. */
int tally_wire_take(struct wire_walk *walk, uint64_t size, const uint8_t **member);
/* Zeros, which are not checked. */
int tally_wire_skip(struct wire_walk *walk, uint64_t size);
/* Bytes, and zeros to the record's next multiple of 8.  The kernel chooses sizes that need none;
 * the next field must be aligned in any file. */
int tally_wire_take_padded(struct wire_walk *walk, uint64_t size, const uint8_t **member);
/* `count` elements of `size` bytes, of which the first `words` u64 are in byte order. */
int tally_wire_elements(struct wire_walk *walk, uint64_t count, size_t size, size_t words,
			const uint8_t **member);
/* All bytes to the end. */
int tally_wire_take_rest(struct wire_walk *walk, const uint8_t **member, uint64_t *size);
/* Text in `size` bytes; and text to the end of the record, padded with NULs. */
int tally_wire_take_text(struct wire_walk *walk, size_t size, const char **member);
int tally_wire_take_string(struct wire_walk *walk, size_t alignment, const char **member);
/* For fields that are shown as text, and as bytes of the number in `count`. */
void tally_wire_show_text(const struct wire_show *show, const struct wire_row *row,
			  const void *base);
void tally_wire_show_rest(const struct wire_show *show, const struct wire_row *row,
			  const void *base);

#endif
