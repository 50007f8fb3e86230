/* What else a binary is asked for: its bytes, its build-id, the width of its addresses.  Thread
 * safe. */
#ifndef TALLY_IMAGE_CODE_H
#define TALLY_IMAGE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_image;

/* Copies the file's bytes from a place on, at most `size` of them.  Their count, which is less at
 * the file's end and 0 beyond it; -ENOENT: there is no file of this build here, an archive left
 * these bytes out, or the image is memory; -errno of reading.  Of the kernel and its modules, whose
 * places are addresses, the bytes are those of a vmlinux of the recorded build, or of /proc/kcore
 * while that kernel runs. */
int64_t tally_image_read(struct tally_image *image, uint64_t place, void *to, size_t size);

struct tally_elf;
/* The image's binary is open already: from now on bytes are read from that. */
void tally_image_keep_code(struct tally_image *image, const struct tally_elf *binary);

/* As recorded, else as the file at hand has it; size 0: unknown.  Not NULL; lives as long as the
 * image.  Loads its symbols. */
const uint8_t *tally_image_build_id(struct tally_image *image, uint8_t *ret_size);

/* Whether the binary is of a machine with addresses of 32 bits.  Loads its symbols. */
bool tally_image_is_32_bit(struct tally_image *image);

#endif
