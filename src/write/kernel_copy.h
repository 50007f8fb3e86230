/* The kernel's symbols and code, copied beside a recording that is a folder: kcore_dir/kallsyms,
 * modules and kcore, as perf record --kcore writes and perf reads them.
 *
 * Source: perf-record(1), --kcore; perf.data-directory-format.txt; what perf 6.1 reads; proc(5) for
 * the three files; the ELF format for kcore, a core file with a segment for each piece of memory.
 */
#ifndef TALLY_WRITE_KERNEL_COPY_H
#define TALLY_WRITE_KERNEL_COPY_H

#include <tally/error.h>

#define TALLY_KERNEL_COPY_FOLDER "kcore_dir"

/* Whether the kernel's code can be read; `root` is the folder that holds proc, "" for /.  0, or
 * -errno with words. */
int tally_kernel_copy_check(const char *root, struct tally_error *error);

/* Makes the folder and its files.  Of the memory the kernel's text and its modules are copied.
 * -EPERM: addresses are hidden from this user; -ENODATA: the kernel's text is not in kcore; -errno;
 * with words. */
int tally_kernel_copy_make(const char *root, const char *recording, struct tally_error *error);

#endif
