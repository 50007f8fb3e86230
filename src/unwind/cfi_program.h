/* Runs the instructions of an entry: the rules as they change from address to address. */
#ifndef TALLY_UNWIND_CFI_PROGRAM_H
#define TALLY_UNWIND_CFI_PROGRAM_H

#include "unwind/cfi_entries.h"

/* Bytes of an expression: compilers write about ten. */
#define CFI_EXPRESSION_MOST 256U

/* As struct cfi_rule; the value of an expression is its offset in the section. */
struct cfi_state_rule {
	uint8_t column, how;
	uint16_t length;
	int64_t value;
};

/* The rules at one address. */
struct cfi_state {
	struct cfi_state_rule cfa; /* column, value; or an expression */
	uint64_t changed;          /* a bit for each column that is not CFI_SAME */
	struct cfi_state_rule rules[CFI_COLUMNS];
};

struct cfi_run {
	const struct cfi_section *section;
	const struct cfi_common *common;
	const struct cfi_state
	    *initial; /* what DW_CFA_restore goes back to; NULL: this is the common part */
	unsigned word;
	/* Called when the rules up to here are complete: they are valid for [from, until). Not 0
	 * stops. */
	int (*row)(void *context, uint64_t from, uint64_t until, const struct cfi_state *state);
	void *context;
};

/* Runs a program that starts at `start` with `state`, which has the last rules afterwards. 0;
 * -EINVAL: it is invalid, and *ret_from is the address from which on the rules are unknown; or what
 * row() returned. */
int tally_cfi_program_run(const struct cfi_run *run, struct cfi_span program, uint64_t start,
			  uint64_t end, struct cfi_state *state, uint64_t *ret_from);

#endif
