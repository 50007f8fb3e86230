/* Places in a binary by name, for probes: from a function to its file offset. */
#ifndef TALLY_ELF_PLACE_H
#define TALLY_ELF_PLACE_H

#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "elf/symbol_list.h"

/* Gives the file offsets of all functions with this name, as linked ("_Z3foov") or as shown
 * ("foo()", "foo"), ascending, in an array that is the caller's: several if files have static
 * functions of one name.  All symbols are searched: the file's own, those of its debug file,
 * compressed ones, and of a stripped Go program its table of functions.
 *
 * -ENOENT: there is no such function, with the nearest name; -ENOEXEC, -errno of the file;
 * -ENOTSUP: the function is chosen when the program starts (STT_GNU_IFUNC); -ENOMEM. */
int tally_image_find_function(const char *path, const char *name, uint64_t **ret, size_t *ret_count,
			      struct tally_error *error);

/* The file offset of an address of the program.  -ENOENT: it is in no segment. */
int tally_image_find_address(const char *path, uint64_t address, uint64_t *ret,
			     struct tally_error *error);

/* All symbols of the file, of its debug file, compressed ones and Go's, sorted by file offset; of
 * several at one offset only the best.  -errno of the file, -ENOEXEC, -ENOMEM. */
int tally_image_symbols(const char *path, struct tally_symbol_list *ret, struct tally_error *error);

#endif
