/* A section's bytes, a few kilobytes at a time: .eh_frame of a large program has megabytes, of
 * which unwinding needs what describes the functions that were sampled. */
#ifndef TALLY_UNWIND_CFI_WINDOW_H
#define TALLY_UNWIND_CFI_WINDOW_H

#include "unwind/cfi.h"

/* All zero but the section is valid and empty. */
struct cfi_window {
	const struct cfi_section *section;
	uint8_t *bytes; /* [from, from + size) of the section */
	size_t from, size, room;
};

void tally_cfi_window_done(struct cfi_window *window);
/* 0 or -errno, and then the window is empty. */
int tally_cfi_window_move(struct cfi_window *window, size_t at, size_t size);

/* The bytes [at, at + size), valid until the next call; NULL: the section has fewer, they cannot be
 * read, or there is no memory. */
static inline const uint8_t *cfi_window_at(struct cfi_window *window, size_t at, size_t size)
{
	const struct cfi_section *section = window->section;

	if (at > section->size || size > section->size - at)
		return NULL;
	if (section->bytes)
		return section->bytes + at;
	if ((at < window->from || at - window->from > window->size ||
	     size > window->size - (at - window->from)) &&
	    tally_cfi_window_move(window, at, size))
		return NULL;
	return window->bytes + (at - window->from);
}

#endif
