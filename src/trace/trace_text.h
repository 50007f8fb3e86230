/* Payloads of tracepoints as text, as perf script's field "trace" shows them, and their fields.
 *
 * The recording itself describes the payload of a tracepoint, in its tracing data
 * (feature 1 of a perf.data file, record 66 of a pipe): the kernel's `format` file of each event.
 * libtraceevent parses these; a format is then compiled once to a short program, which writes the
 * text of a sample in one go.  Formats are parsed when their event is first seen. */
#ifndef TALLY_TRACE_TRACE_TEXT_H
#define TALLY_TRACE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "base/buf.h"

struct tally_trace_text;

/* The kernel's symbols, for formats with %pS and the like.  `find` gives the name of the symbol
 * that contains `address` and stores its start, or NULL. */
struct tally_trace_symbols {
	const char *(*find)(void *context, uint64_t address, uint64_t *ret_start);
	void *context;
};

/* Reads tracing data.  The bytes are borrowed until tally_trace_text_free(); `symbols` is copied
 * and may be NULL.  Data that is cut is read up to the cut, see tally_trace_text_damage(). -ENOENT:
 * there is none; -EBADMSG: it is not tracing data, or nothing of it can be read; -ENOTSUP: built
 * without libtraceevent; -ENOMEM. */
int tally_trace_text_new(const void *tracing_data, size_t size, struct tally_trace_text **ret,
			 struct tally_error *error);
void tally_trace_text_free(struct tally_trace_text *text);

/* One line about the part of the tracing data that cannot be read, borrowed; NULL: there is
 * none. */
const char *tally_trace_text_damage(const struct tally_trace_text *text);

/* Appends the payload's text, exactly as perf 6.1 prints it, including bytes of recorded strings
 * that a terminal may act on.  `id` is the tracepoint's (attr.config); as in perf, the number at
 * the payload's start goes before it.  Fields that the payload is too short for read as zeros.
 * Returns 0; -ENOENT when the event is not in the tracing data, or its format cannot be read:
 * nothing is appended.  Any number of threads may call this at once.  `symbols` may be NULL:
 * functions are shown by their addresses. */
int tally_trace_text_add(struct tally_trace_text *text, struct tally_buf *to, uint64_t id,
			 const uint8_t *raw, uint32_t raw_size,
			 const struct tally_trace_symbols *symbols);

/* "sched:sched_switch", borrowed; NULL: not in the tracing data. */
const char *tally_trace_text_name(struct tally_trace_text *text, uint64_t id);

enum tally_trace_kind {
	TALLY_TRACE_UNSIGNED, /* .number */
	TALLY_TRACE_SIGNED,   /* .number, sign-extended */
	TALLY_TRACE_POINTER,  /* .number */
	TALLY_TRACE_STRING,   /* .bytes, up to its NUL, which is not counted */
	TALLY_TRACE_BYTES,    /* .bytes: an array, .element bytes each */
};

/* One field of a payload. */
struct tally_trace_field {
	const char *name; /* borrowed until tally_trace_text_free() */
	enum tally_trace_kind kind;
	bool common;          /* one of the common_* fields that every event starts with */
	bool is_signed;       /* of the field, or of its elements */
	uint64_t number;      /* in this machine's byte order */
	const uint8_t *bytes; /* within the payload, in the recording's byte order */
	uint32_t size;        /* of `bytes` */
	uint32_t element;     /* bytes an element */
};

/* Below 0 stops, and is what tally_trace_text_each_field() returns. */
typedef int (*tally_trace_visit)(void *context, const struct tally_trace_field *field);

/* Visits the fields of a payload in the format's order, the common ones first.  0, or -ENOENT. */
int tally_trace_text_each_field(struct tally_trace_text *text, uint64_t id, const uint8_t *raw,
				uint32_t raw_size, tally_trace_visit visit, void *context);

/* Where a field is. */
struct tally_trace_place {
	uint32_t offset, size;
	bool is_signed, is_string;
	bool is_dynamic;  /* the u32 here is the offset (low half) and the length (high half) of the
			   * bytes
			   */
	bool is_relative; /* ... and the offset counts from the end of that u32 */
};

/* -ENOENT: no such event; -ESRCH: it has no such field. */
int tally_trace_text_find_field(struct tally_trace_text *text, uint64_t id, const char *name,
				struct tally_trace_place *ret);

#endif
