/* What unwinding needs of an image: its call frame information as it is in the file, where its
 * places are in memory, and its bytes. */
#ifndef TALLY_IMAGE_FRAME_INFO_H
#define TALLY_IMAGE_FRAME_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elf/elf_file.h"

struct tally_image;

/* A section of the file. Large programs have megabytes, of which little is needed: what stands in
 * the binary as it is wanted is read from there. */
struct tally_frame_section {
	uint8_t *bytes; /* its own; NULL: they are read from `image` at `place` */
	size_t size;    /* 0: there is none */
	uint64_t address;
	struct tally_image *image;
	uint64_t place;
};

struct tally_frame_info {
	uint16_t machine; /* EM_*; EM_NONE: the image cannot be read */
	unsigned word;    /* bytes of an address: 4 or 8 */
	struct tally_frame_section eh_frame, debug_frame;
	struct tally_elf_load *loads;
	size_t load_count;
	struct tally_image *image;
	/* Code without call frame information keeps frame pointers: so the dumps of compilers and
	 * files with an empty table. */
	bool frame_pointers;
	uint8_t *data; /* of what is no file: its bytes; NULL: the file's are read */
	size_t data_size;
};

/* The part of an image that is described by itself: a function of a dump; 0: all of the image. */
uint32_t tally_image_part(struct tally_image *image, uint64_t place);

/* Reads all that the image, or one part of it, has; what is missing is left empty.  Of files of
 * another byte order nothing is. For tally_frame_info_done().  0 or -ENOMEM. */
int tally_image_frame_info(struct tally_image *image, uint32_t part, struct tally_frame_info *ret);
void tally_frame_info_done(struct tally_frame_info *info);

/* The address, as the sections have it, of a place (a file offset).  0 or -ENOENT. */
int tally_frame_info_address(const struct tally_frame_info *info, uint64_t place, uint64_t *ret);
/* Bytes of a section, by which it is read: `section` is a struct tally_frame_section. */
bool tally_frame_section_read(void *section, uint64_t at, void *ret, size_t size);
/* Bytes at a place.  0, or -ENODATA when not all are at hand. */
int tally_frame_info_read(const struct tally_frame_info *info, uint64_t place, void *ret,
			  size_t size);

#endif
