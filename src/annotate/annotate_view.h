/* Which events are side by side, and the cells of their numbers. */
#ifndef TALLY_ANNOTATE_ANNOTATE_VIEW_H
#define TALLY_ANNOTATE_ANNOTATE_VIEW_H

#include "annotate/listing.h"
#include "base/buf.h"

struct annotate_view {
	const struct tally_annotation *annotation;
	const struct tally_annotation_text *options;
	const struct annotated *function;
	const uint32_t *events; /* borrowed */
	size_t count;
};

/* The events that have samples, in the order in which they are shown: those of one view side by
 * side.  *ret is for free(); view number i ends before ends[i].  0 or -ENOMEM. */
struct annotate_views {
	uint32_t *events, *ends;
	size_t count; /* views */
};
int tally_annotate_views_make(const struct tally_annotation *annotation,
			      const struct tally_annotation_text *options,
			      struct annotate_views *ret);
void tally_annotate_views_done(struct annotate_views *views);

/* The columns of the cells below. */
size_t tally_annotate_view_width(const struct annotate_view *view);
/* A cell for each event: percents, numbers of samples or periods. */
void tally_annotate_view_cells(const struct annotate_view *view, const uint64_t *samples,
			       const uint64_t *periods, struct tally_buf *to);
/* The same width of blanks, or of a title. */
void tally_annotate_view_title(const struct annotate_view *view, const char *title,
			       struct tally_buf *to);
/* The largest percent of these in any event of the view. */
double tally_annotate_view_most(const struct annotate_view *view, const uint64_t *samples,
				const uint64_t *periods);
/* The function's samples in the events of the view. */
uint64_t tally_annotate_view_samples(const struct annotate_view *view);

#endif
