/* Which functions are the program's own: who calls the C library to wait, or to copy, is what a
 * reader knows. */
#ifndef TALLY_PAGE_PAGE_PROGRAM_H
#define TALLY_PAGE_PAGE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include "page/page_tables.h"

/* Neither the kernel's nor of a library that belongs to the language, nor named as what blocks. */
enum page_program { PAGE_NOT_PROGRAM, PAGE_PROGRAM, PAGE_PROGRAM_NAMELESS };

/* Marks functions when all are made. */
void tally_page_program_mark(struct page_tables *tables);

/* Whether a function is of such a library. */
bool tally_page_is_library(const struct page_tables *tables, uint32_t function);

/* By node, whose callers come before it: the innermost function of this kind from the node to the
 * root, or PAGE_NONE.  For free(); NULL: out of memory. */
uint32_t *tally_page_program_callers(const struct page_tables *tables, enum page_program kind);

#endif
