/* The entries of .eh_frame and .debug_frame: what functions share (CIE), and each function (FDE).
 */
#ifndef TALLY_UNWIND_CFI_ENTRIES_H
#define TALLY_UNWIND_CFI_ENTRIES_H

#include "base/buf.h"
#include "base/map.h"
#include "unwind/cfi_window.h"

/* Instructions, as a range of bytes. */
struct cfi_span {
	uint32_t from, until;
};

struct cfi_common {
	struct cfi_span program; /* in the programs of all */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses in its functions; Source: DW_EH_PE_* of the LSB */
	uint8_t return_column;
	bool sized;  /* its functions have augmentation data, whose size stands before it */
	bool signal; /* 'S' */
	bool usable;
};

struct cfi_function {
	uint64_t start, end;     /* [start, end) */
	struct cfi_span program; /* in its entry */
	uint32_t common;
	uint32_t at; /* offset of the entry in its section */
	bool debug;  /* of .debug_frame */
};

struct cfi_entries {
	struct cfi_common *commons;
	uint32_t common_count, common_room;
	struct cfi_function *functions;
	size_t function_count, function_room;
	/* Offset in .eh_frame and .debug_frame -> number of the common part, + 1. */
	struct tally_map known_commons[2];
	struct tally_buf programs; /* of common parts */
};

/* Larger sections are not read, and entries are skipped. */
#define CFI_SECTION_MOST ((size_t)1 << 30)
#define CFI_ENTRY_MOST   ((size_t)1 << 20)

/* Appends all functions of a section. 0 or -ENOMEM; damaged entries are skipped. */
int tally_cfi_entries_read(struct cfi_entries *entries, const struct cfi_section *section,
			   bool debug, unsigned word);
/* The function whose entry is at an offset of the window's section, which was read before, and the
 * entry as a section, valid until the window's next use. 0; -ENOENT; -ENOMEM. */
int tally_cfi_entries_one(struct cfi_entries *entries, struct cfi_window *window, bool debug,
			  unsigned word, size_t at, struct cfi_function *ret,
			  struct cfi_section *ret_entry);
/* Sorts them by start and removes those that others cover: each start is there once, .eh_frame's
 * if that was read before .debug_frame. An end may be behind the next start. 0 or -ENOMEM. */
int tally_cfi_entries_sort(struct cfi_entries *entries);
void tally_cfi_entries_done(struct cfi_entries *entries);

struct cfi_bytes;
/* Decodes an address of the section; false: the encoding is not supported. */
bool tally_cfi_pointer(const struct cfi_section *section, struct cfi_bytes *bytes, uint8_t encoding,
		       unsigned word, uint64_t *ret);

#endif
