/* A difference inside: rows that were matched. */
#ifndef TALLY_DIFF_DIFF_STATE_H
#define TALLY_DIFF_DIFF_STATE_H

#include <tally/diff.h>
#include "annotate/place_sums.h"
#include "base/arena.h"
#include "report/report_field.h"

/* A row of one recording. */
struct diff_side {
	bool present;
	struct tally_profile_row row;
	/* Of a caller, samples that are of functions that were inlined into it, but not in the
	 * baseline; and how many these functions had there, which belong to it in a comparison. */
	uint64_t absorbed, moved;
	const char *name; /* of the symbol, if it is another one than the row's */
	enum tally_diff_status status;
	uint64_t inlined; /* samples of the function's code in callers */
	bool significant, more;
	double p, change;
	double dispersion; /* at least 1: tally_diff_disperse() */
};

struct diff_row {
	const char **texts;      /* by key, as for programs */
	struct diff_side *sides; /* by recording; [0]: the baseline */
	double order;
};

struct diff_event {
	const char *name;
	uint32_t *events; /* by recording: its number there; UINT32_MAX: it does not have it */
	struct diff_row *rows;
	size_t count, room;
};

/* What is read of a recording for all its events, when the first of them needs it. */
struct diff_reading {
	struct tally_profile *slices; /* rows by time: dispersion.c */
	struct place_sums places;
	bool has_places;
};

struct tally_diff {
	struct tally_profile *const *profiles;
	size_t recordings;
	struct tally_diff_options options;
	char *normalize;
	const char *const *keys;
	size_t key_count;
	struct diff_event *events;
	size_t event_count;
	struct tally_arena arena;
	struct diff_reading *readings; /* by recording */
};

/* The sessions are read and run again for it. */
static inline struct tally_session *diff_session(const struct tally_diff *diff, size_t recording)
{
	return (struct tally_session *)tally_profile_session(diff->profiles[recording]);
}

/* matched_rows.c: fills the rows of an event.  0 or -ENOMEM. */
int tally_diff_match(struct tally_diff *diff, struct diff_event *event);
/* renamed.c: joins rows of one recording alone whose functions have the same code.  0 or -ENOMEM.
 */
int tally_diff_find_renamed(struct tally_diff *diff, struct diff_event *event, size_t recording);
/* inlined_away.c: finds functions that only the baseline has in their callers.  0, -ENOMEM, or an
 * error of reading. */
int tally_diff_find_inlined(struct tally_diff *diff, struct diff_event *event, size_t recording,
			    struct tally_error *error);
/* dispersion.c: measures how much more than by chance the samples of each row vary.  0, -ENOMEM, or
 * an error of reading. */
int tally_diff_disperse(struct tally_diff *diff, struct diff_event *event,
			struct tally_error *error);
/* change.c: tests and computes the changes, and sorts the rows.  0, -EINVAL, -ENOMEM. */
int tally_diff_test(struct tally_diff *diff, struct diff_event *event, struct tally_error *error);
int tally_diff_sort(struct tally_diff *diff, struct diff_event *event);

/* What 100 % is in a recording; 0: it does not have the event. */
struct tally_profile_event tally_diff_facts(const struct tally_diff *diff,
					    const struct diff_event *event, size_t recording);

#endif
