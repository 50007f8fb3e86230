/* Call frame information of one image, compiled to a sorted table: where a caller's registers are,
 * for each instruction.
 *
 * Sources: DWARF 5, 6.4; for .eh_frame the Linux Standard Base 5.0, 10.6; for x86-64 its psABI. The
 * input is hostile: nothing is read outside of its section, and an invalid part costs only the code
 * that it describes. */
#ifndef TALLY_UNWIND_CFI_H
#define TALLY_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers by DWARF's numbers. Higher ones (vectors, flags) are left out: no frame needs them. */
#define CFI_COLUMNS 33U

enum cfi_how {
	CFI_SAME,      /* as in this frame */
	CFI_UNDEFINED, /* lost; of the return address: there is no caller */
	CFI_AT_CFA,    /* in memory at CFA + value */
	CFI_CFA_PLUS,  /* is CFA + value */
	CFI_REGISTER,  /* is this frame's register `value`; of the CFA: that register + its value */
	CFI_AT_EXPRESSION, /* in memory, at the address of an expression */
	CFI_IS_EXPRESSION, /* the value of an expression */
};

/* Of one register; of an expression: `value` is its offset in the table's, `length` its bytes. */
struct cfi_rule {
	uint8_t column, how;
	uint32_t length;
	int64_t value;
};

/* All rules for some instructions; registers without a rule are unchanged. */
struct cfi_rules {
	struct cfi_rule cfa; /* how: CFI_REGISTER (column + value) or CFI_IS_EXPRESSION */
	uint32_t first;      /* of the table's rules, in ascending order of columns */
	uint8_t count;
	uint8_t return_column;
	bool signal; /* the caller was interrupted: its address is not a return address */
};

/* For instructions without rules. */
#define CFI_NONE    UINT32_MAX       /* no entry covers them */
#define CFI_DAMAGED (UINT32_MAX - 1) /* an entry covers them, and is invalid there */

struct cfi_row {
	uint32_t from; /* address less the table's base; valid up to the next row */
	uint32_t rules;
};

struct tally_cfi {
	uint64_t base;
	struct cfi_row *rows;
	size_t row_count;
	struct cfi_rules *sets;
	uint32_t set_count;
	struct cfi_rule *rules;
	uint32_t rule_count;
	uint8_t *expressions;
	size_t expression_size;
};

/* One section as in the file (little endian), and its address there. */
struct cfi_section {
	const uint8_t *bytes; /* NULL: the image has none */
	size_t size;
	uint64_t address;
};

/* Compiles both sections; where both describe code, .eh_frame is used. `word`: bytes of an address,
 * 4 or 8. The sections are not needed afterwards. A table without rows when there are no entries. 0
 * or -ENOMEM. */
int tally_cfi_compile(const struct cfi_section *eh_frame, const struct cfi_section *debug_frame,
		      unsigned word, struct tally_cfi *ret);
void tally_cfi_done(struct tally_cfi *cfi);

/* The number of the rules at an address of the image, CFI_NONE or CFI_DAMAGED. */
uint32_t tally_cfi_find(const struct tally_cfi *cfi, uint64_t address);

#endif
