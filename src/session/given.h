/* Samples that were resolved before: a session whose rows come from where they are kept, such as
 * the tables of a fleet, and not from the records of its data. */
#ifndef TALLY_SESSION_GIVEN_H
#define TALLY_SESSION_GIVEN_H

#include <stddef.h>
#include <stdint.h>
#include <tally/session.h>

struct row_plan;

/* Rows with numbers of the session; each column has room for them, or is NULL. */
struct given_rows {
	uint32_t count;
	uint32_t *event, *cpu, *thread, *frame, *stack, *samples;
	uint64_t *time, *period, *weight;
	uint64_t *ip, *offset; /* all zero */
};

typedef int (*tally_given_put)(void *to, struct given_rows *rows);

struct tally_given {
	void *context;
	uint64_t columns; /* TALLY_COLUMN_* that it has */
	size_t pieces;
	/* Gives the rows of a piece, some at a time; by several threads.  0, -errno, or what `put`
	 * returned. */
	int (*read)(void *context, size_t piece, tally_given_put put, void *to);
	/* Puts into words why that failed. */
	int (*explain)(void *context, int result, struct tally_error *error);
};

/* From now on the session's samples are these; borrowed until it is freed.  Counts are those of all
 * rows, `samples` has one for each event. */
void tally_session_give(struct tally_session *session, const struct tally_given *given,
			const struct tally_session_counts *counts, const uint64_t *samples);
/* Gives the rows to the sinks.  0; -ENOTSUP, and other failures of reading, with words; -errno. */
int tally_given_run(struct tally_session *session, const struct row_plan *plan, bool in_order,
		    struct tally_error *error);

#endif
