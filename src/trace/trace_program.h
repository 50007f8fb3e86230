/* How the text of a tracepoint's payload is made: a format, compiled.
 *
 * A program is a list of steps that append to a buffer.  What steps print comes from two kinds of
 * trees: numbers (struct trace_expr) and texts (struct trace_string).  They give the same text as
 * the kernel's tools/lib/traceevent/event-parse.c of Linux 6.1 for the same format, also in odd
 * cases, because perf prints that; only missing bytes of a payload are read as zeros. */
#ifndef TALLY_TRACE_TRACE_PROGRAM_H
#define TALLY_TRACE_TRACE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "base/arena.h"
#include "base/buf.h"
#include "trace/trace_text.h"

struct trace_format_text;

enum trace_field_flag {
	FIELD_ARRAY = 1,
	FIELD_POINTER = 2,
	FIELD_SIGNED = 4,
	FIELD_STRING = 8,
	FIELD_DYNAMIC = 16, /* a u32: the offset, and in its upper half the length */
	FIELD_LONG = 32,
	FIELD_RELATIVE = 64, /* the offset counts from the end of the u32 */
	FIELD_TEXT = 128,    /* of char: FIELD_STRING is of u8 as well */
};

struct trace_field {
	const char *name;
	uint32_t offset, size;
	uint32_t element; /* bytes of an element of an array */
	uint16_t flags;   /* enum trace_field_flag */
	bool common;
};

enum trace_expr_kind {
	EXPR_CONSTANT,       /* value */
	EXPR_LOAD,           /* the number of `size` bytes at `offset` */
	EXPR_MASK,           /* left & value */
	EXPR_ELEMENT,        /* the number of `size` bytes at `offset` + left * `size` */
	EXPR_DYNAMIC,        /* ... of `field`, at left bytes into it */
	EXPR_DYNAMIC_LENGTH, /* of `field` */
	EXPR_CHOOSE,         /* left ? right : other */
	EXPR_NOT,            /* of left, as the next */
	EXPR_INVERT,
	EXPR_NOT_EQUAL,
	EXPR_EQUAL,
	EXPR_OR,
	EXPR_BIT_OR,
	EXPR_AND,
	EXPR_BIT_AND,
	EXPR_LESS,
	EXPR_LESS_EQUAL,
	EXPR_SHIFT_LEFT,
	EXPR_GREATER,
	EXPR_GREATER_EQUAL,
	EXPR_SHIFT_RIGHT,
	EXPR_SUBTRACT,
	EXPR_ADD,
	EXPR_DIVIDE,
	EXPR_REMAINDER,
	EXPR_MULTIPLY,
};

struct trace_expr {
	enum trace_expr_kind kind;
	uint32_t offset, size;
	uint64_t value;
	const struct trace_field *field;
	const struct trace_expr *left, *right, *other;
};

/* A conversion of printf's. */
struct trace_spec {
	char conversion; /* d u x X o s */
	uint8_t bits;    /* 8, 16, 32, 64: what the number is cut to */
	bool plain;      /* neither width nor precision nor a flag */
	bool left, zeros, alternate, has_precision;
	bool star_is_precision;
	uint32_t width, precision;
	const struct trace_expr *star; /* the width or precision, when it is an argument */
};

/* A row of __print_flags() and __print_symbolic(). */
struct trace_name {
	int64_t value;
	const char *text;
	size_t length;
};

enum trace_string_kind {
	STRING_NOTHING,
	STRING_TEXT,    /* text */
	STRING_CHARS,   /* a field's bytes up to a NUL */
	STRING_ADDRESS, /* a field that points to a text of the kernel's */
	STRING_DYNAMIC, /* a dynamic field's bytes up to a NUL */
	STRING_FLAGS,   /* number, names, text between them */
	STRING_SYMBOL,  /* number, names */
	STRING_HEX,     /* `count` bytes of field, blanks between them */
	STRING_HEX_RUN, /* ... nothing between them */
	STRING_NUMBERS, /* `count` numbers of `number` bytes each */
	STRING_BITMASK,
	STRING_CPUS, /* a bit mask as a list */
	STRING_CHOOSE,
};

struct trace_string {
	enum trace_string_kind kind;
	const char *text;
	size_t length;
	const struct trace_field *field;
	const struct trace_expr *number, *count;
	const struct trace_name *names;
	size_t name_count;
	const uint16_t *by_value; /* of names: index + 1 of small values; NULL: search */
	size_t by_value_count;
	const struct trace_string *yes, *no; /* by number */
};

enum trace_step_kind {
	STEP_TEXT,     /* text */
	STEP_NUMBER,   /* number by spec */
	STEP_STRING,   /* string by spec */
	STEP_POINTER,  /* %p of number */
	STEP_FUNCTION, /* %ps, or with `flag` %pS, of number */
	STEP_MAC,      /* %pM of field; `reverse`, separator `mark` (0: none) */
	STEP_IP4,      /* %pI4 of field; `flag`: with leading zeros, `reverse` */
	STEP_IP6,      /* %pI6 of field; `flag`: without colons; `compressed` */
	STEP_ADDRESS,  /* %pIS of field, a sockaddr; all of the above, and `port` */
	STEP_UUID,     /* %pU of field; `flag`: upper case; `reverse`: as a GUID */
	STEP_BYTES,    /* %*ph of the dynamic field; length is number, separator `mark` */
};

/* Steps that are only a copy or a load: what is loaded ... */
enum trace_quick { QUICK_NOT, QUICK_TEXT, QUICK_U8, QUICK_U16, QUICK_U32, QUICK_U64 };

/* ... and what is shown of it. */
enum trace_quick_as {
	QUICK_AS_D32,
	QUICK_AS_D64,
	QUICK_AS_U32,
	QUICK_AS_U64,
	QUICK_AS_X32,
	QUICK_AS_X64,
};

enum {
	TRACE_TEXT_SPARE = 16, /* bytes that may be read after a step's text */
	TRACE_NUMBER_MOST = 24,
};

struct trace_step {
	enum trace_step_kind kind;
	enum trace_quick quick;
	enum trace_quick_as quick_as;
	bool flag, reverse, compressed, port;
	char mark;
	const char *text;
	size_t length;
	struct trace_spec spec;
	const struct trace_expr *number;
	const struct trace_string *string;
	const struct trace_field *field;
};

struct trace_program {
	const char *name; /* "system:event" */
	struct trace_field *fields;
	size_t field_count;
	struct trace_step *steps;
	size_t step_count, step_room;
	size_t quick_most; /* bytes that all quick steps together may write */
	uint32_t needs;    /* bytes that a payload must have for loads at fixed places */
	bool by_fields;    /* the print format cannot be compiled: fields are listed */
};

/* The input of a program. */
struct trace_payload {
	const uint8_t *bytes;
	uint32_t size; /* at least the program's needs */
	bool swap, big_endian;
	uint8_t long_size;
	const struct tally_trace_symbols *symbols;
	const struct trace_printk *printk;
};

/* Formats of trace_printk() and texts of the kernel by their address. */
struct trace_printk_row {
	uint64_t address;
	const char *text;
	size_t length;
};

struct trace_printk {
	struct trace_printk_row *rows; /* ascending */
	size_t count;
	char *copy;
};

int tally_trace_printk_init(struct trace_printk *printk, const char *text, size_t size);
void tally_trace_printk_done(struct trace_printk *printk);
const struct trace_printk_row *tally_trace_printk_find(const struct trace_printk *printk,
						       uint64_t address);

/* The maker of programs: a handle of libtraceevent's. */
struct trace_compiler;

/* -ENOTSUP: built without libtraceevent; -ENOMEM. */
int tally_trace_compiler_new(unsigned long_size, bool big_endian, struct trace_compiler **ret,
			     struct tally_error *error);
void tally_trace_compiler_free(struct trace_compiler *compiler);
/* The result is in `arena`.  -EBADMSG: it is not a format; -ENOMEM.  One thread at a time. */
int tally_trace_compile(struct trace_compiler *compiler, struct tally_arena *arena,
			const struct trace_format_text *format, struct trace_program **ret);

uint64_t tally_trace_load(const struct trace_payload *payload, uint32_t offset, uint32_t size);
uint64_t tally_trace_eval(const struct trace_payload *payload, const struct trace_expr *expr);
/* The bytes of a dynamic field, cut to what the payload has. */
const uint8_t *tally_trace_dynamic(const struct trace_payload *payload,
				   const struct trace_field *field, uint32_t *ret_size);
void tally_trace_run(const struct trace_program *program, const struct trace_payload *payload,
		     struct tally_buf *to);
void tally_trace_run_fields(const struct trace_program *program,
			    const struct trace_payload *payload, struct tally_buf *to);

void tally_trace_put_number(struct tally_buf *to, const struct trace_spec *spec,
			    const struct trace_payload *payload, uint64_t value);
void tally_trace_put_text(struct tally_buf *to, const struct trace_spec *spec,
			  const struct trace_payload *payload, const char *text, size_t length);
void tally_trace_put_string(struct tally_buf *to, const struct trace_spec *spec,
			    const struct trace_payload *payload, const struct trace_string *string);
/* STEP_POINTER to STEP_BYTES. */
void tally_trace_put_pointer(struct tally_buf *to, const struct trace_step *step,
			     const struct trace_payload *payload);

#endif
