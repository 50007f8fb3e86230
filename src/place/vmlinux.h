/* The kernel's debug information: found, opened, and the symbols beside it. */
#ifndef TALLY_PLACE_VMLINUX_H
#define TALLY_PLACE_VMLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "dwarf/debug_info.h"

struct vmlinux_symbol {
	uint64_t address;
	const char *name; /* libelf's */
};

struct vmlinux {
	char *path;
	bool other_kernel; /* not the one that runs, by its build-id */
	struct debug_info info;
	struct vmlinux_symbol *symbols; /* functions, sorted by address */
	size_t count;
	uint64_t text; /* _text; 0: it has none */
};

/* The file itself, or, if it is NULL, that of the running kernel where packages put it, below
 * `debug_root` (NULL: "/usr/lib/debug") and in /boot and /lib/modules.  `ret` is the caller's to
 * free().  -ENOENT: there is none, with what to do; -errno. */
int tally_vmlinux_path(const char *file, const char *debug_root, char **ret, bool *ret_other_kernel,
		       struct tally_error *error);

/* -ENODATA: it has no debug information; as tally_vmlinux_path() and tally_debug_info_open(). */
int tally_vmlinux_open(const char *file, const char *debug_root, struct vmlinux *ret,
		       struct tally_error *error);
void tally_vmlinux_close(struct vmlinux *vmlinux);

/* The function that starts last at or before an address; NULL: none does. */
const struct vmlinux_symbol *tally_vmlinux_symbol_at(const struct vmlinux *vmlinux,
						     uint64_t address);

#endif
