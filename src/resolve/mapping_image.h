/* What a mapping is of: its file, and the build-id and the names that the recording has for that.
 */
#ifndef TALLY_RESOLVE_MAPPING_IMAGE_H
#define TALLY_RESOLVE_MAPPING_IMAGE_H

#include <stdatomic.h>
#include "resolve/frames.h"

/* Of the source's store; NULL: out of memory. */
struct tally_image *tally_mapping_image(const struct tally_frame_source *source,
					const struct tally_mapping *mapping, const char *filename);

/* recorded_symbols.c: the names that simpleperf and hiperf keep in a recording. */
struct tally_recorded_symbols {
	const struct tally_data *data;
	bool used;
	atomic_size_t added; /* to all images */
};

/* Whether they are used, and the kernel's are among them. */
bool tally_recorded_symbols_of_kernel(const struct tally_recorded_symbols *symbols);
/* add_recorded of struct tally_image_options, whose context is such a struct. */
int64_t tally_recorded_symbols_add(void *context, const struct tally_image_origin *image,
				   struct tally_symbol_list *list, bool *ret_some);

#endif
