/* The symbols that a recording has itself, as simpleperf and hiperf write them. */
#ifndef TALLY_RESOLVE_RECORDED_SYMBOLS_H
#define TALLY_RESOLVE_RECORDED_SYMBOLS_H

#include <stdatomic.h>
#include <tally/data.h>
#include "image/image.h"

struct tally_recorded_symbols {
	const struct tally_data *data;
	bool used;
	atomic_size_t added; /* to all images */
};

/* Whether they are used, and the kernel's are among them. */
bool tally_recorded_symbols_of_kernel(const struct tally_recorded_symbols *symbols);
/* add_recorded of struct tally_image_options, whose context is such a struct. */
int64_t tally_recorded_symbols_add(void *context, const struct tally_image_origin *image,
				   struct tally_symbol_list *list);

#endif
