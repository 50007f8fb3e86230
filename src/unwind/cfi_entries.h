/* The entries of .eh_frame and .debug_frame: what is common to functions (CIE), and each function
 * (FDE). */
#ifndef TALLY_UNWIND_CFI_ENTRIES_H
#define TALLY_UNWIND_CFI_ENTRIES_H

#include "unwind/cfi.h"

/* Instructions, as a span of their section. */
struct cfi_span {
	size_t from, until;
};

struct cfi_common {
	struct cfi_span program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses in its functions; Source: DW_EH_PE_* of the LSB */
	uint8_t return_column;
	bool sized;  /* its functions have augmentation data, whose size stands before it */
	bool signal; /* 'S' */
	bool usable;
};

struct cfi_function {
	uint64_t start, end; /* [start, end) */
	struct cfi_span program;
	uint32_t common;
	bool debug; /* of .debug_frame */
};

struct cfi_entries {
	struct cfi_common *commons;
	uint32_t common_count, common_room;
	struct cfi_function *functions;
	size_t function_count, function_room;
};

/* Appends all functions of a section.  0 or -ENOMEM; damaged entries are passed over. */
int tally_cfi_entries_read(struct cfi_entries *entries, const struct cfi_section *section,
			   bool debug, unsigned word);
/* Sorts them by start and leaves out what others cover: each start is told of once, .eh_frame's
 * before .debug_frame's.  Ends may still lie behind the next start. */
void tally_cfi_entries_settle(struct cfi_entries *entries);
void tally_cfi_entries_done(struct cfi_entries *entries);

struct cfi_bytes;
/* An address of the section as an entry has it encoded; false: this encoding cannot be read. */
bool tally_cfi_pointer(const struct cfi_section *section, struct cfi_bytes *bytes, uint8_t encoding,
		       unsigned word, uint64_t *ret);

#endif
