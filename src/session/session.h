/* A session inside: where its samples come from, what they are resolved with, and what stands
 * between them and the sinks. */
#ifndef TALLY_SESSION_SESSION_H
#define TALLY_SESSION_SESSION_H

#include <tally/session.h>
#include "base/arena.h"
#include "resolve/resolve_tables.h"
#include "source/source.h"

struct tally_left_out;
struct tally_sample_filter;
struct tally_sample_test;

struct tally_session {
	struct tally_source source;
	struct tally_resolve_tables tables;
	struct tally_session_options options; /* its strings are the arena's */
	struct tally_arena arena;
	struct tally_left_out *left_out;          /* by event, of the last run; NULL: none was */
	uint32_t stack_most;                      /* frames of a stack; 0: all */
	const struct tally_sample_filter *filter; /* NULL: none */
	const struct tally_sample_test *test;     /* NULL: none */
	const struct tally_given *given;          /* NULL: samples are the records of the data */
};

/* Waits for the next window of a live source and makes it what the session holds.  What is
 * remembered by mappings, spaces or eras is not true any more.  As tally_source_window(). */
int tally_session_window(struct tally_session *session, uint64_t *ret_passed,
			 struct tally_error *error);

#endif
