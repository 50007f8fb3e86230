/* Build-ids: the note that identifies the build of a binary. */
#ifndef TALLY_ELF_BUILD_ID_H
#define TALLY_ELF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_BUILD_ID_TEXT 41 /* 20 bytes in hex and the NUL */

/* Searches ELF notes (elf.h: namesz, descsz, type, then name and desc, each padded to 4 bytes) for
 * NT_GNU_BUILD_ID.  Returns whether it was found. */
bool tally_build_id_find(const void *notes, size_t size, bool swapped, uint8_t ret[20],
			 uint8_t *ret_size);

void tally_build_id_format(const uint8_t *id, uint8_t size, char ret[TALLY_BUILD_ID_TEXT]);

/* Whether two ids are equal; ids shorter than 20 bytes may be recorded in perf.data with zeros at
 * the end. */
bool tally_build_id_equal(const uint8_t *a, uint8_t a_size, const uint8_t *b, uint8_t b_size);

/* Build-id of a file (ELF note) or of the running kernel; size into *ret_size (at most 20).
 * 0, -ENOENT when it has none, -errno. */
int tally_image_read_build_id(const char *path, uint8_t ret[20], uint8_t *ret_size);
/* The same for an open file, by its segments only, which objects and kernel modules do not have. */
int tally_image_read_build_id_fd(int fd, uint8_t ret[20], uint8_t *ret_size);
int tally_image_kernel_build_id(const char *root, uint8_t ret[20], uint8_t *ret_size);

#endif
