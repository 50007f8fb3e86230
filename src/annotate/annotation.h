/* An annotation inside: sums by place, and the functions that these are in. */
#ifndef TALLY_ANNOTATE_ANNOTATION_H
#define TALLY_ANNOTATE_ANNOTATION_H

#include "annotate/place_sums.h"

struct tally_image;

struct annotated {
	uint32_t frame;
	struct tally_image *image; /* NULL: none that is read */
	uint64_t start, end;       /* places */
	size_t first, count;       /* of the sums */
	double share;
	uint64_t *samples, *periods; /* by event; of the annotation's */
};

struct tally_annotation {
	struct tally_session *session;
	struct place_sums sums;
	size_t event_count;
	bool named;                  /* functions were asked for, by name or binary */
	struct annotated *functions; /* the hottest first */
	size_t function_count;
	uint64_t *numbers; /* that the functions' samples and periods are in */
};

/* tally_annotation_new() of sums that are there, which are taken in any case. */
int tally_annotation_of_sums(struct tally_session *session,
			     const struct tally_annotation_options *options,
			     struct place_sums *sums, struct tally_annotation **ret,
			     struct tally_error *error);

/* The share of a hundred that so many samples or periods of an event are.  `function` NULL: of all
 * of the event. */
double tally_annotation_percent(const struct tally_annotation *annotation,
				const struct annotated *function, enum tally_percent_type type,
				size_t event, uint64_t samples, uint64_t period);

#endif
