/* The images that chains of a session are unwound through, each read and compiled once. */
#ifndef TALLY_SESSION_UNWINDING_IMAGES_H
#define TALLY_SESSION_UNWINDING_IMAGES_H

#include "image/frame_info.h"
#include "unwind/unwind.h"

struct tally_image;
struct unwinding_images;

struct unwinding_image {
	enum tally_unwind_arch arch; /* TALLY_UNWIND_NONE: it cannot be read */
	bool facts;                  /* it describes some frames */
	struct tally_frame_info info;
	struct tally_cfi cfi;
};

/* An image's, for as long as the session; callable by any thread.  NULL: out of memory. */
const struct unwinding_image *tally_unwinding_image(struct unwinding_images *images,
						    struct tally_image *image);

#endif
