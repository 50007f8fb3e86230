/* What the kernel was entered for, by the functions that a call chain has there. */
#ifndef TALLY_PAGE_PAGE_ENTRIES_H
#define TALLY_PAGE_PAGE_ENTRIES_H

/* The system call ("write"), "page faults" or "interrupts" whose function in the kernel has this
 * name; else "".  Borrowed: a part of the name, or constant. */
const char *tally_page_entry_of(const char *function);

#endif
