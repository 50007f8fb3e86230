/* Which functions an annotation is about. */
#ifndef TALLY_ANNOTATE_WANTED_H
#define TALLY_ANNOTATE_WANTED_H

#include <tally/annotate.h>

/* Whether the options name the function, or none at all. */
bool tally_annotation_wants(const struct tally_annotation_options *options,
			    const struct tally_frame *frame);

#endif
