/* Call frame information of one image as a table: where a caller's registers are, for each
 * instruction.
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

/* Of one register; of an expression: `value` is its offset from the start of its struct cfi_rules,
 * `length` its bytes. Values of more than 31 bits are invalid here. */
struct cfi_rule {
	uint8_t column, how;
	uint16_t length;
	int32_t value;
};

/* All rules for some instructions; registers without a rule are unchanged. Expressions are behind
 * the rules. */
struct cfi_rules {
	struct cfi_rule cfa; /* how: CFI_REGISTER (column + value) or CFI_IS_EXPRESSION */
	uint16_t size;       /* bytes, with what is behind */
	uint8_t count;
	uint8_t return_column;
	bool signal; /* the caller was interrupted: its address is not a return address */
	bool plain;  /* its rules are CFI_AT_CFA and CFI_UNDEFINED alone */
	struct cfi_rule rules[]; /* in ascending order of columns */
};

/* For instructions without rules: no entry covers them; one does, and is invalid there. */
extern const struct cfi_rules tally_cfi_none, tally_cfi_damaged;
/* For x86-64's outermost frame: it has no caller. */
extern const struct cfi_rules tally_cfi_outermost;

static inline bool tally_cfi_is_usable(const struct cfi_rules *rules)
{
	return rules && rules != &tally_cfi_none && rules != &tally_cfi_damaged;
}

/* One section as in the file (little endian), and its address there: all of its bytes, or how some
 * are read. */
struct cfi_section {
	const uint8_t *bytes; /* NULL: they are read */
	size_t size;          /* 0: the image has none */
	uint64_t address;
	/* Copies the bytes [at, at + size), which are in the section; false: not all can be read.
	 */
	bool (*read)(void *context, uint64_t at, void *to, size_t size);
	void *context;
};

struct tally_frame_section;
/* A section of an image, borrowed. */
struct cfi_section tally_cfi_section(struct tally_frame_section *section);

struct tally_cfi;

/* Finds the functions that both sections describe; where both do, .eh_frame is used. The rules of a
 * function are compiled when an address in it is first looked up, with those of its neighbours, so
 * the sections are borrowed, and read by one thread at a time, until tally_cfi_free(). `word`:
 * bytes of an address, 4 or 8. 0 or -ENOMEM. */
int tally_cfi_new(const struct cfi_section *eh_frame, const struct cfi_section *debug_frame,
		  unsigned word, struct tally_cfi **ret);
void tally_cfi_free(struct tally_cfi *cfi);

/* How many functions there are. */
size_t tally_cfi_function_count(const struct tally_cfi *cfi);
/* Bytes of memory for the tables so far, without the sections. */
size_t tally_cfi_memory(struct tally_cfi *cfi);

/* The rules at an address of the image, or one of the two above; equal ones are one. Thread safe;
 * valid up to tally_cfi_free(). */
const struct cfi_rules *tally_cfi_find(struct tally_cfi *cfi, uint64_t address);
/* The same; *ret_begins: the address before it may have others. */
const struct cfi_rules *tally_cfi_find_start(struct tally_cfi *cfi, uint64_t address,
					     bool *ret_begins);

/* Calls `row` for each address at which the rules change, in ascending order, until it returns
 * other than 0: compiles all. 0, what row() returned, or -ENOMEM. */
int tally_cfi_each(struct tally_cfi *cfi,
		   int (*row)(void *context, uint64_t from, const struct cfi_rules *rules),
		   void *context);

#endif
