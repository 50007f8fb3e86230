/* What a mapping is of: its file, and the build-id that the recording has for that. */
#ifndef TALLY_RESOLVE_MAPPING_IMAGE_H
#define TALLY_RESOLVE_MAPPING_IMAGE_H

#include "resolve/frames.h"

/* Of the source's store; NULL: out of memory. */
struct tally_image *tally_mapping_image(const struct tally_frame_source *source,
					const struct tally_mapping *mapping, const char *filename);

#endif
