/* One walk over a record's fields, in order, that decodes, encodes, measures or swaps.
 *
 * The tables of field_rows.c are the only description of a record's fields.  Each kind of field is
 * one struct wire_kind (kind.h), which does all of them. */
#ifndef TALLY_WIRE_WALK_H
#define TALLY_WIRE_WALK_H

#include <tally/record.h>

enum wire_mode {
	WIRE_DECODE, /* bytes -> struct */
	WIRE_ENCODE, /* struct -> bytes */
	WIRE_SIZE,   /* struct -> length */
	WIRE_SWAP,   /* bytes in place; the struct gets the native values */
};

struct wire_walk;
struct wire_row;
struct wire_show;

/* A kind of field: all operations on it.  `base`: the struct that the record is decoded to. */
struct wire_kind {
	/* Goes over the field in the walk's direction. */
	int (*walk)(struct wire_walk *walk, const struct wire_row *row, void *base);
	/* Prints the decoded field by the functions of `show`; NULL: there is nothing to print. */
	void (*show)(const struct wire_show *show, const struct wire_row *row, const void *base);
	uint8_t least; /* the smallest number of bytes, without the row's size */
	bool row_size; /* add the row's size to that */
	bool fixed;    /* it never needs more, and accepts any bytes */
};

struct wire_row {
	uint64_t bit; /* PERF_SAMPLE_* that the field belongs to; 0: always there */
	const char *name;
	const struct wire_kind *kind;
	uint16_t size, member, count; /* member, count: offsets in the struct */
};

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

/* The rows of a record type; an unknown type has one: all its bytes. */
struct wire_rows tally_wire_rows(uint32_t type);
/* MMAP2 of Linux 3.12, and of kernels with patches from it: without prot and flags. */
extern const struct wire_rows tally_wire_bare_mmap2_rows;
extern const struct wire_rows tally_wire_sample_rows;
extern const struct wire_rows tally_wire_trailer_rows;

/* Whether the bytes can be the build-id that misc announces in MMAP2, in place of a device and an
 * inode; `left`: bytes of the body from there on. */
bool tally_wire_is_mmap2_id(const uint8_t *at, size_t left);

#define WIRE_TRAILER_BITS                                                                         \
	((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

/* Walks one field of `base`.  0, -EBADMSG (the bytes end within the field), -ENOSPC (no room to
 * encode), -EOVERFLOW, -EINVAL (a struct that cannot be encoded); then walk->at is the start of the
 * field. */
int tally_wire_field(struct wire_walk *walk, const struct wire_row *row, void *base);

/* The same for the rows whose bit is in `bits` (or 0), up to the first that fails. */
int tally_wire_walk(struct wire_walk *walk, struct wire_rows rows, uint64_t bits, void *base);

#endif
