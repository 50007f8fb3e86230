/* One function's instructions with their samples, lines and jumps. */
#ifndef TALLY_ANNOTATE_LISTING_H
#define TALLY_ANNOTATE_LISTING_H

#include "annotate/annotation.h"
#include "base/arena.h"
#include "code/disassembler.h"
#include "code/jump_lanes.h"

/* Longer functions are listed so far. */
#define LISTING_CODE_MOST ((uint64_t)1 << 20)

struct listing_row {
	uint64_t address, target;
	uint32_t offset; /* from the start of the function */
	uint32_t line;
	uint8_t size, kind; /* enum tally_insn_kind */
	bool has_target;
	struct jump_row jumps;
	const char *mnemonic, *operands;
	const char *file;     /* NULL: unknown */
	const char *function; /* NULL: the function itself */
	const uint64_t *samples, *periods;
};

struct tally_listing {
	const struct tally_annotation *annotation;
	const struct annotated *function;
	struct listing_row *rows;
	size_t count, room;
	unsigned lanes;
	uint8_t *bytes;
	size_t size;
	bool cut; /* the function is longer */
	struct tally_arena arena;
};

/* The listing of a function.  As tally_listing_new(). */
int tally_listing_make(const struct tally_annotation *annotation, const struct annotated *function,
		       bool intel, struct tally_listing **ret, struct tally_error *error);

#endif
