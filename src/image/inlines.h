/* Source lines and inlined functions of a place in an image, as binutils' addr2line -f -i prints
 * them, and perf, which runs that program.
 *
 * Debug information is looked for at the first question about an image, and one unit of it is read
 * at the first question about an address in it; an answer is kept and not made twice.  An image
 * without any costs that first look.  Functions without debug information are named by the symbol
 * table alone.  All may be called from several threads. */
#ifndef TALLY_IMAGE_INLINES_H
#define TALLY_IMAGE_INLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_image;
struct tally_lines; /* what is known of one image */

/* Strings live as long as the image, are untrusted, and never NULL. */
struct tally_line {
	const char *file; /* its whole path, as the compiler had it; "??" when unknown */
	uint32_t line;    /* 0: unknown */
	/* The address that debug information has for the place, as objdump shows it. */
	uint64_t address;
};

struct tally_inline {
	const char *name; /* demangled like the image's symbols; "??" when unknown; equal ones of an
			   * image are one pointer */
	const char *file; /* as in struct tally_line: of the innermost where the address is, of */
	uint32_t line;    /* others where they call the one before */
	bool inlined;     /* perf marks it: its name is not that of the symbol at the place */
};

/* The line of a place.  0, or -ENOENT when neither debug information nor a symbol table knows the
 * address (perf shows "??:0"): then only ret->address is set.  -ENOMEM. */
int tally_image_line(struct tally_image *image, uint64_t place, struct tally_line *ret);

/* The functions at a place, innermost first; the last is the one that was not inlined.  *ret lives
 * as long as the image.  *ret_count is 0, and the result 0, when nothing is known, or the image has
 * no symbol there: then the place is one plain frame.  -ENOMEM. */
int tally_image_inlines(struct tally_image *image, uint64_t place, const struct tally_inline **ret,
			size_t *ret_count);

/* For shown.c: a linker's name as an earlier run showed it, which lives as long as the image; NULL:
 * that is unknown, or no index of lines is open. */
const char *tally_lines_kept_name(struct tally_image *image, const char *name);
/* Keeps it for later runs. */
void tally_lines_keep_name(struct tally_image *image, const char *name, const char *shown);

struct line_index;
/* For data_accesses.c: the index of an image, which lives as long as that, and the address of a
 * place in it.  0; -ENOENT: there is none; -ENOMEM. */
int tally_lines_index(struct tally_image *image, uint64_t place, struct line_index **ret,
		      uint64_t *ret_address);

/* For store.c.  What is left out, in a line, or NULL; `lines` may be NULL. */
const char *tally_lines_left_out(const struct tally_lines *lines);
void tally_lines_free(struct tally_lines *lines);

#endif
