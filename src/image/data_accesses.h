/* What the instructions of an image access: the types of objects, by debug information. */
#ifndef TALLY_IMAGE_DATA_ACCESSES_H
#define TALLY_IMAGE_DATA_ACCESSES_H

#include "types/data_types.h"

struct tally_image;

/* The access of the instruction at a place.  *ret_types has the names of its type, and lives as
 * long as the image; NULL, and ACCESS_NO_DEBUG: nothing is known of the image.  Callable by several
 * threads; a function's answers are made at its first question.  0 or -ENOMEM. */
int tally_image_data_access(struct tally_image *image, uint64_t place, struct data_access *ret,
			    struct data_types **ret_types);

/* For store.c. */
void tally_image_forget_types(struct tally_image *image);

#endif
