/* Where a value is, in the kernel's words: "+8(-24(%bp))", "%di", "@+0x4010", "\5".
 *
 * Source: Documentation/trace/uprobetracer.rst and kprobetrace.rst, "FETCHARG". */
#ifndef TALLY_PLACE_FETCH_ARGS_H
#define TALLY_PLACE_FETCH_ARGS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

/* What definitions may contain, by the running kernel's README. */
struct trace_features {
	bool hexadecimal;   /* types x8 to x64 */
	bool return_offset; /* kretprobes take _text+N */
	bool counter;       /* (0xREFERENCE) behind a uprobe's place */
	bool user_memory;   /* +u8(...) */
	bool shared_names;  /* several places may have one event */
	bool constants;     /* \5 */
};

/* As many as the kernel may nest, and more. */
#define FETCH_STEPS_MOST 32

enum fetch_base { FETCH_REGISTER, FETCH_STATIC, FETCH_VALUE };

struct fetch {
	enum fetch_base base;
	const char *name; /* of the register; of a static one in the kernel its symbol, else NULL */
	int64_t value;    /* FETCH_VALUE; FETCH_STATIC: the address */
	/* The offset that is added before each read of memory, in that order.  The first read of a
	 * static one is part of its own word. */
	int64_t steps[FETCH_STEPS_MOST];
	unsigned count;
};

/* Adds one read of memory; false: too many. */
bool tally_fetch_follow(struct fetch *fetch, int64_t offset);

/* `shift` is added to static addresses, which become the kernel's for a probe in a program;
 * `user`: memory is that of the program, not of the kernel. */
void tally_fetch_format(const struct fetch *fetch, int64_t shift, bool user, struct tally_buf *to);

/* What is needed to find variables in a frame. */
struct fetch_frame {
	const Dwarf_Op *base; /* DW_AT_frame_base; NULL: unknown */
	size_t base_count;
	const Dwarf_Op *caller; /* DW_OP_call_frame_cfa; NULL: unknown */
	size_t caller_count;
	unsigned machine; /* e_machine */
};

/* Finds the location that an expression describes. 0; -ENOENT: it is empty (optimized out);
 * -ENOTSUP with *ret_why: the kernel cannot compute it. */
int tally_fetch_locate(const Dwarf_Op *ops, size_t count, const struct fetch_frame *frame,
		       struct fetch *ret, const char **ret_why);

/* The kernel's name of a register by DWARF's number; NULL: unknown. */
const char *tally_fetch_register(unsigned machine, uint64_t number);

#endif
