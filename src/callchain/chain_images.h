/* The images that chains are unwound through, each read and compiled once. */
#ifndef TALLY_CALLCHAIN_CHAIN_IMAGES_H
#define TALLY_CALLCHAIN_CHAIN_IMAGES_H

#include "image/frame_info.h"
#include "unwind/unwind.h"

struct tally_image;
struct tally_image_store;
struct tally_chain_images;

struct tally_chain_image {
	enum tally_unwind_arch arch; /* TALLY_UNWIND_NONE: it cannot be read */
	bool facts;                  /* it describes some frames */
	struct tally_frame_info info;
	struct tally_cfi *cfi;
};

/* All who unwind with images of one store share these.  0 or -ENOMEM. */
int tally_chain_images_new(struct tally_chain_images **ret);
void tally_chain_images_free(struct tally_chain_images *images);

/* Reads an image, or the part of it that a place is in, at the first call.  Thread
 * safe; NULL: out of memory. */
const struct tally_chain_image *tally_chain_images_get(struct tally_chain_images *images,
						       struct tally_image *image, uint64_t place);

/* Frees what is known of images that the store has forgotten (tally_image_store_forget()). Nobody
 * may use these meanwhile; makers of chains refer to it: tally_chain_maker_forget(). 0 or -ENOMEM,
 * and then all is as it was. */
int tally_chain_images_forget(struct tally_chain_images *images,
			      const struct tally_image_store *store);

#endif
