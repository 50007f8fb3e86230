/* Modules of the kernel are objects, which the kernel puts together as it likes: which address of
 * its debug information a place in its memory is. */
#ifndef TALLY_IMAGE_MODULE_LINES_H
#define TALLY_IMAGE_MODULE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include "elf/elf_file.h"

struct tally_image;

/* A section with code: where it is in memory, and its address in an object that was laid out. */
struct module_section {
	uint64_t start, size, address;
};

struct tally_module_places { /* all zero: none are known */
	struct module_section *list;
	size_t count;
};

/* Finds where the sections of a loaded module are, by functions that both its file and the kernel's
 * symbols name.  0, -ENOENT: there is no such file or none of them is known; -ENOMEM. */
int tally_module_places_read(const struct tally_image *image, struct tally_module_places *ret);
void tally_module_places_done(struct tally_module_places *places);
/* 0 or -ENOENT. */
int tally_module_address(const struct tally_module_places *places, uint64_t place, uint64_t *ret);

/* As tally_image_open_files() for a module, which may be known by its name only. */
int tally_image_open_module(const struct tally_image *image, struct tally_elf *ret_binary,
			    struct tally_elf *ret_debug);

#endif
