/* What only images of dumps have: see load_dump.c. */
#ifndef TALLY_IMAGE_DUMP_IMAGE_H
#define TALLY_IMAGE_DUMP_IMAGE_H

#include "image/image.h"
#include "image/inlines.h"
#include "jit/jitdump.h"

/* The dump, which lives as long as the image.  Loads it; NULL: it cannot be read. */
const struct tally_jitdump *tally_image_dump(struct tally_image *image);

/* As tally_image_line(). */
int tally_image_dump_line(struct tally_image *image, uint64_t place, struct tally_line *ret);

#endif
