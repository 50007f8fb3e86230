/* The running kernel's symbols on disk: /proc/kallsyms costs the kernel 30 ms to write and us as
 * much to read, and says the same until a module comes or goes.  The file is mapped and searched in
 * place. Layout: struct head of kernel_cache.c, then 8-aligned arrays as struct tally_symbol_table
 * has them, in this machine's byte order. */
#ifndef TALLY_IMAGE_KERNEL_CACHE_H
#define TALLY_IMAGE_KERNEL_CACHE_H

#include "kallsyms/kallsyms.h"
#include "kallsyms/kernel_key.h"

/* Whether a group of kallsyms changes without a trace in /proc/modules: BPF programs ("bpf") and
 * code that tracing makes ("__builtin__ftrace").  Such are never in the cache. */
bool tally_kernel_cache_omits(const char *module);

/* 0, or -errno when there is no file of this key that can be used: another user's, another layout,
 * damaged. */
int tally_kernel_cache_read(const char *folder, const struct tally_kernel_key *key,
			    struct tally_kallsyms *ret);

/* Whether a file of the cache is whole.  0, or -errno as above. */
int tally_kernel_cache_check(const char *folder, const char *name);

/* Writes the file, makes the folder, removes files of other keys.  0 or -errno. */
int tally_kernel_cache_write(const char *folder, const struct tally_kernel_key *key,
			     const struct tally_kallsyms *kallsyms);

#endif
