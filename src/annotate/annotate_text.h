/* Listings as text and as JSON. */
#ifndef TALLY_ANNOTATE_ANNOTATE_TEXT_H
#define TALLY_ANNOTATE_ANNOTATE_TEXT_H

#include "annotate/annotate_view.h"
#include "annotate/line_sums.h"
#include "annotate/source_lines.h"
#include "base/json.h"

/* What the parts of a text share. */
struct annotate_text {
	struct annotate_view view;
	const struct tally_listing *listing;
	const struct line_sums *lines;
	struct source_lines *sources;
	struct tally_buf *to;
};

/* All instructions of a function; and its lines, the hottest first. */
void tally_annotate_text_listing(const struct annotate_text *text);
void tally_annotate_text_hot(const struct annotate_text *text);
/* A function whose code cannot be read. */
void tally_annotate_text_missing(const struct annotate_view *view, const char *why,
				 struct tally_buf *to);

/* An object of a function.  `listing` and `lines` NULL: `why` its code cannot be read. */
void tally_annotate_json_function(const struct annotate_text *text, const char *why,
				  struct json *json);
/* The events, as a value. */
void tally_annotate_json_events(const struct tally_annotation *annotation, struct json *json);

#endif
